"""Counts of one worker, which metrics are made of."""

from __future__ import annotations


class Counts:
    """Requests, rows and latencies of one worker."""

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""

    def rows(self, model: str, *, rows: int, missing: int, flagged: int | None, accepted: int | None) -> None:
        """Count scored rows."""
