"""Risk-coverage and rejection curves from counts: exact at the ends of cells, straight lines between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.errors import SettingError
from vecuq.evaluation.curves import SelectiveCurves
from vecuq.evaluation.fixed_point import floating

if TYPE_CHECKING:
    from vecuq.evaluation.partial import PartialEvaluation


def counted_curves(partial: PartialEvaluation, points: int) -> tuple[SelectiveCurves, ...]:
    """Return the curve of every method for the quality and for the errors, as far as they were counted."""
    made = []
    if "generation" in partial.tasks:
        made.append(_rejection(partial, points))
    if "selective" in partial.tasks:
        made.append(_risk(partial, points))
    if not made:
        raise SettingError("Curves need labels: give the quality of each answer, or which predictions are wrong.")
    return tuple(made)


def _risk(partial: PartialEvaluation, points: int) -> SelectiveCurves:
    """Return the error rate of the rows kept, over the share that is kept."""
    values: dict[str, Array] = {}
    for method in partial.methods:
        right, wrong = partial.cells_of(method, "error").counts.astype(float).T
        kept = _places(float(right.sum() + wrong.sum()), points)
        values[method] = _kept(right + wrong, wrong, kept) / np.maximum(kept, 1.0)
    n, n_wrong = float(right.sum() + wrong.sum()), float(wrong.sum())
    best = np.maximum(kept - (n - n_wrong), 0.0) / np.maximum(kept, 1.0)
    return SelectiveCurves("selective", kept / max(n, 1.0), values, best, n_wrong / n if n else np.nan)


def _rejection(partial: PartialEvaluation, points: int) -> SelectiveCurves:
    """Return the mean quality of the answers kept, over the share that is rejected."""
    low, high = partial.quality_range
    quality = partial.cells_of("", "quality").counts[::-1]
    n = float(quality[:, 0].sum())
    kept = _places(n, points)[::-1]

    def mean(counts: NDArray[np.int64]) -> Array:
        sums = _kept(counts[:, 0].astype(float), floating(counts[:, 1:]), kept)
        return np.asarray(low + (high - low) * sums / np.maximum(kept, 1.0))

    values = {method: mean(partial.cells_of(method, "generation").counts) for method in partial.methods}
    best = mean(quality)
    return SelectiveCurves("generation", (n - kept) / max(n, 1.0), values, best, float(best[0]) if n else np.nan)


def _places(n: float, points: int) -> Array:
    """Return how many rows are kept at each point, from one row to all."""
    return np.unique(np.rint(np.linspace(min(1.0, n), n, points))) if n else np.empty(0)


def _kept(rows: Array, sums: Array, kept: Array) -> Array:
    """Return the sum over the first so many rows, those of a cell in random order."""
    ends, through = (np.concatenate([[0.0], np.cumsum(one)]) for one in (rows, sums))
    return np.asarray(np.interp(kept, ends, through), dtype=float)
