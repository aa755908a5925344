"""Values as a page writes them: numbers short, nothing as a dash."""

from __future__ import annotations

import math
from typing import Any

from vecuq._draw import shortened

DASH = "\N{EN DASH}"


def is_numeric(value: object) -> bool:
    """Return whether a cell is a number, and so belongs to the right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """Return a cell as text: numbers short, nothing as a dash, text cut when long."""
    if value is None or value == "":
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e")
    return shortened(str(value))


def digits(value: float | None, significant: int = 3) -> str:
    """Return a measured number with so many significant digits, trailing zeros kept so that a column lines up."""
    if value is None or not math.isfinite(value):
        return DASH
    if isinstance(value, int) and abs(value) < 1e6:
        return f"{value:,}"
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:#.{significant}g}".rstrip(".")


def as_given(value: Any) -> str:
    """Return an id, text or label as text; a whole number keeps its digits together."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else shown(value)


def fixed(value: Any, decimals: int = 3) -> str:
    """Return a cell as text, fractions with so many decimals."""
    return f"{value:.{decimals}f}" if isinstance(value, float) else shown(value)


def count(value: float) -> str:
    """Return a whole number with its thousands apart; below ten an expected number keeps two digits."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"
