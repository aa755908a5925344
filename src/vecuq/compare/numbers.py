"""Numbers in a text: ``1,234.5``, ``-3``, ``2e5``, ``1/2``."""

from __future__ import annotations

import math
import re

_SIGN = r"((?<![\w.])[-+\u2212])?"
_FRACTION = r"(?<![\d/])(\d+)/(\d+)(?![\d/])"
_DECIMAL = r"((?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?|\.\d+)"
_NUMBER = re.compile(f"{_SIGN}(?:{_FRACTION}|{_DECIMAL})")


def number_in(text: str, take: str = "last") -> float:
    """Return the first or the last number of a text; NaN where there is none.

    Examples
    --------
    >>> number_in("76 - 25 = 51 dollars"), number_in("half is 1/2 of it"), number_in("none")
    (51.0, 0.5, nan)
    """
    found = _NUMBER.findall(text)
    return _value(*found[0 if take == "first" else -1]) if found else math.nan


def last_number_text(text: str) -> str | None:
    """Return the last number of a text as it is written, or None.

    Examples
    --------
    >>> last_number_text("It costs $1,200.50.")
    '1,200.50'
    """
    found = [match[0] for match in _NUMBER.finditer(text)]
    return found[-1] if found else None


def _value(sign: str, above: str, below: str, decimal: str) -> float:
    size = float(decimal.replace(",", "")) if decimal else float(above) / (float(below) or math.nan)
    return (-size if sign in ("-", "\u2212") else size) if math.isfinite(size) else math.nan


def same_number(one: float, other: float, tolerance: float = 1e-6) -> bool:
    """Whether two numbers are equal, within ``tolerance`` relative to the larger; NaN equals nothing.

    Examples
    --------
    >>> same_number(0.5, 1 / 2), same_number(-3.0, 3.0)
    (True, False)
    """
    return abs(one - other) <= tolerance * max(abs(one), abs(other))
