"""Values as a page writes them: numbers short, names whole at both ends, nothing that a page cannot hold."""

from __future__ import annotations

import math
from typing import Any

MOST_LETTERS = 60
DASH = "\N{EN DASH}"
# They are not printed themselves; emoji and some scripts are written with them.
JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"


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


def shortened(text: Any, most: int = MOST_LETTERS) -> str:
    """Return a text on one line, cut when long."""
    line = printable(str(text)[: 4 * most])
    return line if len(line) <= most else line[: most - 1] + "…"


def named(name: Any, most: int = MOST_LETTERS) -> str:
    """Return a name on one line; of a long one both ends are kept, for many differ in the last letters only."""
    line = printable(str(name))
    tail = (most - 1) // 3
    return line if len(line) <= most else f"{line[: most - 1 - tail]}…{line[-tail:]}"


def printable(text: str) -> str:
    """Return a text on one line, without what a page cannot hold or what would turn the letters after it around."""
    line = " ".join(text.split())
    return "".join(
        letter if letter.isprintable() or letter in JOINERS else "\N{REPLACEMENT CHARACTER}" for letter in line
    )


def count(value: float) -> str:
    """Return a whole number with its thousands apart; below ten an expected number keeps two digits."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"
