"""One line per request."""

from __future__ import annotations


class RequestLog:
    """Writes what was asked, and how it ended."""

    def request(
        self, *, request_id: str, method: str, route: str, status: int, seconds: float, rows: int, bytes_in: int
    ) -> None:
        """Write one line."""
