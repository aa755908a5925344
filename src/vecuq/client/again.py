"""When a request is sent again, and when not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from vecuq.client.calls import Call, Reply

_FIRST_PAUSE = 0.1  # seconds; doubles
# Statuses of a service that is busy or restarts. With Retry-After it has not begun to work on the request.
_LATER = (429, 503)


@dataclass(frozen=True)
class Lost:
    """No answer came; ``sent`` says that the request may have arrived all the same."""

    error: str  # unreachable or timeout
    message: str
    sent: bool


def pause_before(call: Call[Any], came: Reply | Lost, attempt: int) -> float | None:
    """Return how long to wait before the next attempt; None if there is none.

    A refusal with Retry-After is tried again. A request whose answer was lost is tried again only if it may arrive
    twice.
    """
    growing = _FIRST_PAUSE * 2**attempt
    if isinstance(came, Lost):
        again = came.error != "timeout" and (not came.sent or call.repeatable)
        return growing if again else None
    if came.status in call.statuses or came.status not in _LATER:
        return None
    asked = seconds_of(came.headers.get("retry-after", ""))
    return None if asked is None else max(asked, growing)


def seconds_of(text: str) -> float | None:
    """Return the seconds that a service asks to wait; None for a date or anything else.

    Examples
    --------
    >>> seconds_of("2"), seconds_of("Wed, 21 Oct 2026 07:28:00 GMT"), seconds_of("-1")
    (2.0, None, None)
    """
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
