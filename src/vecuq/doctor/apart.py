"""A group of rows that stands apart above all others, in a table whose tails may be heavy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array

# A group is sought among this share of the rows, the highest.
_HIGHEST = 0.25
# So often, at most, a tail of independent rows shows a gap that counts as one.
_CHANCE = 0.001
# Rows behind a gap are this many times as far out as those before it, at least.
_FURTHER = 1.3


def find_apart(values: Array) -> NDArray[np.intp]:
    """Return the rows that stand apart above all others, the highest first; none if there is no such group."""
    heights = _heights(values)
    return np.empty(0, dtype=np.intp) if heights is None else _above_gap(heights)


def _heights(values: Array) -> Array | None:
    """Return how high each row lies above the medians, on a scale of magnitudes; None if values are few.

    The height of a value is measured in upper half-spreads of its column. Logarithms keep one column with a heavy
    tail from hiding the others.
    """
    middle, upper = np.quantile(values, [0.5, 0.75], axis=0)
    usable = upper > middle
    if not usable.any():
        return None
    with np.errstate(over="ignore"):
        above = (values[:, usable] - middle[usable]) / (upper - middle)[usable]
    heights = np.log1p(np.clip(above, 0.0, 1e300)).mean(axis=1)
    return np.asarray(heights) if len(np.unique(heights)) > len(heights) / 2 else None


def _above_gap(heights: Array) -> NDArray[np.intp]:
    """Return the rows above the clearest gap among the highest, if chance does not explain it; else none.

    From the top, ``j (z_j - z_{j+1})`` is exponential with one mean for every j if the z have an exponential tail
    (Renyi): heights on a scale of magnitudes have such a tail or a lighter one, however heavy those of the columns
    are. In a lighter tail steps are as long as those beside them, so a gap must exceed these as well.
    """
    order = np.argsort(heights)[::-1]
    ordered = heights[order]
    half, most = len(heights) // 2, int(_HIGHEST * len(heights))
    gaps = -np.diff(ordered[: half + 1])
    steps = np.arange(1, half + 1) * gaps
    place = int(steps[:most].argmax())
    usual = (steps.sum() - steps[place]) / (half - 1) / (place + 1)
    beside = max(float(gaps[:place].mean()) if place else 0.0, float(gaps[place + 1 : 2 * place + 10].mean()))
    if gaps[place] < max(np.log(_FURTHER), np.log(most / _CHANCE) * max(usual, beside)):
        return np.empty(0, dtype=np.intp)
    return np.asarray(order[: place + 1])
