"""Short texts on one line: those of users, without letters that would change what stands beside them, and chances."""

from __future__ import annotations

from typing import Any

MOST_LETTERS = 60
# They are not printed themselves; emoji and some scripts are written with them.
JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"


def shortened(text: Any, most: int = MOST_LETTERS) -> str:
    """Return a text on one line, cut when long.

    Examples
    --------
    >>> shortened("a long text about rows", 10)
    'a long te…'
    """
    line = printable(str(text)[: 4 * most])
    return line if len(line) <= most else line[: most - 1] + "…"


def named(name: Any, most: int = MOST_LETTERS) -> str:
    """Return a name on one line; of a long one both ends are kept, for many differ in the last letters only.

    Examples
    --------
    >>> named("distance_to_the_nearest_centroid_of_layer_12", 24)
    'distance_to_the_…ayer_12'
    """
    line = printable(str(name))
    tail = (most - 1) // 3
    return line if len(line) <= most else f"{line[: most - 1 - tail]}…{line[-tail:]}"


def printable(text: str) -> str:
    """Return a text on one line, without what a page cannot hold or what would turn the letters after it around."""
    line = " ".join(text.split())
    return "".join(
        letter if letter.isprintable() or letter in JOINERS else "\N{REPLACEMENT CHARACTER}" for letter in line
    )


def probability_words(value: float, *, digits: int = 1) -> str:
    """Return a probability as people read it; below 1e-12 only that it is.

    Examples
    --------
    >>> probability_words(0.0123), probability_words(1e-40)
    ('0.01', 'below 1e-12')
    """
    return "below 1e-12" if value < 1e-12 else f"{value:.{digits}g}"
