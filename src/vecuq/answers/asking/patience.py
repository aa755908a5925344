"""How long to wait before a request is sent again: what the server asks for, else pauses that grow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from vecuq.errors import VecuqError

LONGEST_PAUSE = 60.0
# A pause is longer by up to this share, so that requests that were refused together do not come again together.
_JITTER = 0.25
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?", re.ASCII)
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)", re.ASCII)
_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


class LaterError(VecuqError):
    """The server may answer later.

    ``wait`` is how long it asks to wait, ``answered`` says that it did answer and that this request may be the reason,
    ``slow_down`` that it has too many requests.
    """

    def __init__(self, why: str, wait: float | None = None, *, answered: bool = False, slow_down: bool = False) -> None:
        super().__init__(why)
        self.wait, self.answered, self.slow_down = wait, answered, slow_down


def pause_before(attempt: int, wait: float | None, random: np.random.Generator) -> float:
    """Return the seconds before the next try; at least what the server asked for, and at most a minute.

    Examples
    --------
    >>> 4 <= pause_before(3, None, np.random.default_rng(0)) <= 5
    True
    """
    seconds = wait or 2.0 ** min(attempt - 1, 10)
    return min(LONGEST_PAUSE, seconds * (1 + _JITTER * random.random()))


def seconds_to_wait(headers: Mapping[str, str] | Any, *, now: datetime | None = None) -> float | None:
    """Return how long the headers of a refusal ask to wait, at most a minute; None if they do not say.

    Examples
    --------
    >>> seconds_to_wait({"retry-after-ms": "1500"}), seconds_to_wait({"Retry-After": "0.25"}), seconds_to_wait({})
    (1.5, 0.25, None)
    """
    said = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    found = _plain(said.get("retry-after-ms", ""), 1e-3)
    if found is None:
        found = _plain(said.get("retry-after", ""), 1.0)
    if found is None:
        found = _until(said.get("retry-after", ""), now or datetime.now(UTC))
    if found is None:
        found = _reset(said)
    return None if found is None else min(LONGEST_PAUSE, found)


def _plain(text: str, unit: float) -> float | None:
    return float(text) * unit if _NUMBER.fullmatch(text) else None


def _until(date: str, now: datetime) -> float | None:
    """Return the seconds until a date as HTTP writes it; none if it has passed."""
    try:
        then = parsedate_to_datetime(date)
        left = (then - now).total_seconds()
    except (TypeError, ValueError, OverflowError):  # no date, or one without its zone
        return None
    return left if left > 0 else None


def _reset(said: Mapping[str, str]) -> float | None:
    """Return when a limit that is used up is full again; if the server does not say which is, the nearest."""
    kinds = ("requests", "tokens")
    resets = {kind: _span(said.get(f"x-ratelimit-reset-{kind}", "")) for kind in kinds}
    known = {kind: seconds for kind, seconds in resets.items() if seconds is not None}
    used_up = [known[kind] for kind in known if said.get(f"x-ratelimit-remaining-{kind}") == "0"]
    return max(used_up) if used_up else min(known.values(), default=None)


def _span(text: str) -> float | None:
    """Return the seconds of a duration such as 6m0s or 20ms, or of a plain number."""
    parts = _SPAN.findall(text)
    if parts and "".join(map("".join, parts)) == text:
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    return _plain(text, 1.0)
