"""When a call is sent again, and when not: one conversation, driven by whoever sends and waits."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from vecuq.client.calls import Call, Reply
from vecuq.client.refused import ServiceError

T = TypeVar("T")
_FIRST_PAUSE = 0.1  # seconds; doubles
# Statuses of a service that is busy or restarts. With Retry-After it has not begun to work on the request.
_LATER = (429, 503)


@dataclass(frozen=True)
class Wait:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Lost:
    """No answer came; ``sent`` says that the request may have arrived all the same."""

    error: str  # unreachable or timeout
    message: str
    sent: bool


def talk(call: Call[T], *, retries: int, patience: float) -> Generator[Call[T] | Wait, Reply | Lost | None, T]:
    """Yield what is to be sent and how long to wait, take what came, and return the answer.

    A refusal with Retry-After is tried again, unless it asks for more than ``patience`` seconds. A request whose
    answer was lost is tried again only if it may arrive twice.
    """
    for attempt in range(retries + 1):
        came = yield call
        pause = _pause(call, came, attempt)
        if pause is None or attempt == retries or pause > patience:
            return _answer(call, came)
        yield Wait(pause)
    raise AssertionError("the last attempt returns or raises")  # pragma: no cover


def _answer(call: Call[T], came: Reply | Lost | None) -> T:
    if isinstance(came, Reply):
        return call.answer(came)
    lost = came or Lost("unreachable", "No answer came.", sent=True)
    raise ServiceError(None, lost.error, lost.message)


def _pause(call: Call[Any], came: Reply | Lost | None, attempt: int) -> float | None:
    """Return how long to wait before the next attempt; None if there is none."""
    growing = _FIRST_PAUSE * 2**attempt
    if isinstance(came, Lost):
        again = came.error != "timeout" and (not came.sent or call.repeatable)
        return growing if again else None
    if came is None or came.status in call.statuses or came.status not in _LATER:
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
