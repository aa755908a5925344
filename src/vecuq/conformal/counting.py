"""How many of some sorted numbers lie below each of many others: a table instead of a search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array

# For fewer numbers a search is faster than making the table.
_FEWEST = 4_096
# With more sorted numbers in one box of the table, the steps within it take longer than a search.
_MOST_IN_A_BOX = 32


def count_below(ordered: Array, numbers: Array) -> NDArray[np.intp]:
    """Return what ``np.searchsorted(ordered, numbers)`` does, for many numbers in a third of the time; any for NaN.

    The range of the sorted numbers is cut into equal boxes. Those in an earlier box are smaller, so they are counted
    beforehand, and the few in the same box are compared one after the other.

    Examples
    --------
    >>> count_below(np.array([1.0, 2.0, 3.0]), np.array([0.5, 2.0, 9.0]))
    array([0, 1, 3])
    """
    boxes = _boxes(ordered) if len(numbers) >= max(_FEWEST, len(ordered)) else None
    if boxes is None:
        return np.searchsorted(ordered, numbers)
    low, scale, last, before = boxes
    found = before[_box_of(numbers, low, scale, last)]
    padded = np.append(ordered, np.inf)
    rows = np.flatnonzero(padded[found] < numbers)
    while len(rows):
        found[rows] += 1
        rows = rows[padded[found[rows]] < numbers[rows]]
    return found


def _boxes(ordered: Array) -> tuple[float, float, int, NDArray[np.intp]] | None:
    """Return where the boxes begin, how many there are per unit, the last one, and how many numbers lie before each.

    None where boxes would be crowded: many numbers are equal, or lie close together beside a few far away.
    """
    if len(ordered) < 2:
        return None
    low, last = float(ordered[0]), 4 * len(ordered)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = float(last / (ordered[-1] - ordered[0]))
    if not 0.0 < scale < np.inf:
        return None
    counts = np.bincount(_box_of(ordered, low, scale, last), minlength=last + 1)
    if counts.max() > _MOST_IN_A_BOX:
        return None
    return low, scale, last, np.cumsum(counts) - counts


def _box_of(numbers: Array, low: float, scale: float, last: int) -> NDArray[np.intp]:
    """Return the box of every number, from 0 to the last; never smaller for a larger number."""
    with np.errstate(over="ignore"):
        places = (numbers - low) * scale
    np.fmax(places, 0.0, out=places)
    return np.fmin(places, last, out=places).astype(np.intp)
