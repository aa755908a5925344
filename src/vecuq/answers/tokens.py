"""Log-probabilities of tokens as other programs write them."""

from __future__ import annotations

from typing import Any

from vecuq._check import one_line
from vecuq.errors import TableError

__all__ = ["LEAST_LOGPROB", "end_of", "logprob"]

# What servers write for a token of next to no probability; minus infinity is read as this.
LEAST_LOGPROB = -9999.0


def logprob(value: Any) -> float:
    """Return a log-probability; anything but a number of at most 0 is an error.

    Examples
    --------
    >>> logprob(-0.5), logprob(float("-inf"))
    (-0.5, -9999.0)
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - NaN
        raise TableError(f"a log-prob must be a number; got {one_line(type(value).__name__)}.")
    if value > 1e-2:
        raise TableError("a log-prob must be at most 0; got a positive number.")
    return float(max(value, LEAST_LOGPROB))


def end_of(text: str, tokens: tuple[str, ...] | None, finish: str | None) -> int:
    """Return 1 if the last token ended the answer: it stopped by itself, and the tokens before spell its text."""
    stopped = finish in ("stop", "eos_token") and bool(tokens)
    return int(stopped and "".join((tokens or ())[:-1]).strip() == text.strip())
