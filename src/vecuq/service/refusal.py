"""Refusals: every error that a client sees, as one status and one short body."""

from __future__ import annotations

import msgspec


class ErrorBody(msgspec.Struct):
    """What a client reads when a request is refused."""

    error: str  # one word for programs, such as "too_large"
    message: str  # one sentence for people: what was needed, what came, what to do
    request_id: str = ""


class Refusal(Exception):  # noqa: N818 - it is no fault of ours
    """A request that is not answered: status, one word, one sentence."""

    def __init__(self, status: int, error: str, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.error, self.message, self.retry_after = status, error, message, retry_after

    def body(self, request_id: str = "") -> bytes:
        """Return the body of the answer."""
        return msgspec.json.encode(ErrorBody(self.error, self.message, request_id))

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers that belong to the refusal alone."""
        return [] if self.retry_after is None else [(b"retry-after", str(self.retry_after).encode())]
