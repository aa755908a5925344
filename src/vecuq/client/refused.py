"""ServiceError: whatever kept a service from answering, as one exception."""

from __future__ import annotations

import msgspec

from vecuq._check import one_line
from vecuq.errors import VecuqError
from vecuq.service import ErrorBody


class ServiceError(VecuqError):
    """The service refused a request, or could not be reached.

    Attributes
    ----------
    status
        The HTTP status, such as 422; None where there was no answer at all.
    error
        One word for programs: that of the service, such as ``too_large``; ``unreachable`` or ``timeout`` where no
        answer came; ``not_vecuq`` where something else than a scoring service answered.
    message
        One sentence for people.
    request_id
        Names the request in the logs of the service; empty where there is none.
    """

    def __init__(self, status: int | None, error: str, message: str, *, request_id: str = "") -> None:
        named = f" (request {request_id})" if request_id else ""
        super().__init__(f"{message}{named}")
        self.status, self.error, self.message, self.request_id = status, error, message, request_id

    def __reduce__(self) -> tuple[object, ...]:
        # An exception with several arguments needs this to travel between processes.
        return _made, (self.status, self.error, self.message, self.request_id)


def _made(status: int | None, error: str, message: str, request_id: str) -> ServiceError:
    return ServiceError(status, error, message, request_id=request_id)


def refusal_in(status: int, body: bytes, *, request_id: str = "") -> ServiceError:
    """Return the error that the body of an answer states; a body of a proxy or of another server states none.

    Examples
    --------
    >>> refusal_in(413, b'{"error": "too_large", "message": "At most 9 rows.", "request_id": "r1"}').error
    'too_large'
    >>> str(refusal_in(502, b"<html>Bad gateway"))
    'The answer, with status 502, is not of a scoring service: <html>Bad gateway'
    """
    try:
        said = msgspec.json.decode(body, type=ErrorBody)
    except msgspec.MsgspecError:
        return not_ours(status, body, request_id=request_id)
    return ServiceError(status, said.error, said.message, request_id=said.request_id or request_id)


def not_ours(status: int, body: bytes, *, request_id: str = "") -> ServiceError:
    """Return the error of an answer that no scoring service would give."""
    shown = one_line(body[:400].decode("utf-8", "replace"), most=80) or "it is empty"
    message = f"The answer, with status {status}, is not of a scoring service: {shown}"
    return ServiceError(status, "not_vecuq", message, request_id=request_id)
