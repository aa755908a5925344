"""Values that JSON can hold and a page can show."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vecuq._draw import shortened

# Texts of users are shown up to here.
MOST_LETTERS = 300


def plain(value: Any) -> Any:
    """Return a number, a truth value, None or a text on one line.

    Examples
    --------
    >>> plain(np.float64("nan")), plain(["a", 1]), plain({"a": 1.5})
    (None, 'a, 1', 'a: 1.5')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    if isinstance(value, dict):
        value = "; ".join(f"{name}: {plain(inner)}" for name, inner in value.items())
    return value if value is None or isinstance(value, bool | int) else shortened(value, MOST_LETTERS)


def finite(value: float) -> float | None:
    """Return a number, or None where it is infinite or missing."""
    return float(value) if math.isfinite(value) else None


def count(value: float) -> str:
    """Return a whole number with its thousands apart; below ten an expected number keeps two digits.

    Examples
    --------
    >>> count(1234), count(35.8), count(0.123)
    ('1,234', '36', '0.12')
    """
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def rows_word(n: float) -> str:
    """Return a number of rows in words.

    Examples
    --------
    >>> rows_word(1), rows_word(1200)
    ('1 row', '1,200 rows')
    """
    return f"{count(n)} {'row' if n == 1 else 'rows'}"


def percent(share: float) -> str:
    """Return a share in per cent; what is not all or nothing does not look so.

    Examples
    --------
    >>> percent(0.103), percent(0.0004), percent(0.9999), percent(0.0)
    ('10 %', '0.04 %', '99.99 %', '0 %')
    """
    hundred = 100.0 * share
    for decimals in range(5):
        text = f"{hundred:.{decimals}f}"
        if share in (0.0, 1.0) or (float(text) not in (0.0, 100.0) and (hundred >= 10 or decimals)):
            break
    return f"{text} %"
