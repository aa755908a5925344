"""Where a score stands among the calibration scores of its column: by binary search, so nothing is quadratic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array


def sorted_columns(rows: Array) -> Array:
    """Return the calibration scores of every column in rising order, shape (columns, rows)."""
    return np.sort(rows.T, axis=1)


def below(ordered: Array, scores: Array) -> NDArray[np.intp]:
    """Return how many calibration scores of one column are smaller, from 0 to n."""
    return np.searchsorted(ordered, scores, side="left")


def middle_place(ordered: Array, scores: Array) -> NDArray[np.intp]:
    """Return the number below plus the number not above, from 0 to 2n: twice the rank, ties shared evenly."""
    return below(ordered, scores) + np.searchsorted(ordered, scores, side="right")
