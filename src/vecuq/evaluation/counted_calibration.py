"""Calibration from cells of a probability: the same bins of equal numbers of rows, up to the cells that a bin cuts."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array
from vecuq.conformal import error_rate_lower, error_rate_upper
from vecuq.evaluation.calibration import BINS, Calibration, Reliability

# Draws of normal sums over bins: how large the error is where there is none.
_DRAWS = 1_000


def counted_calibration(
    right: Array, wrong: Array, given: Array, squares: float, *, level: float, seed: int
) -> tuple[Calibration, float]:
    """Return calibration error, Brier score and reliability curve, and how far the calibration error may be off.

    A cell that reaches over the end of a bin is counted in one of the two. Each of its rows in the wrong bin changes
    two sums by at most 1, so the error by at most 2 / n.

    Parameters
    ----------
    right, wrong
        Rows of each kind by cell, lowest probability first.
    given
        The sum of the probability in each cell.
    squares
        The sum of squared distances between probability and label.
    level, seed
        Of the intervals, and of the draws behind the error by chance.
    """
    rows = right + wrong
    n = float(rows.sum())
    ends = np.cumsum(rows)
    bins = np.unique(np.floor(BINS * (ends - 0.5 * rows) / n), return_inverse=True)[1]
    counts, said, was = (np.bincount(bins, one) for one in (rows, given, wrong))
    delta, share = (1.0 - level) / 2.0, float(wrong.sum()) / n
    low, high = (bound(was, counts, delta) for bound in (error_rate_lower, error_rate_upper))
    mean = given / rows
    spread = np.sqrt(np.bincount(bins, rows * mean * (1.0 - mean)))
    drawn = np.abs(np.random.default_rng(seed).normal(size=(_DRAWS, len(spread))) * spread).sum(axis=1) / n
    found = Calibration(
        n=int(n),
        ece=float(np.abs(said - was).sum() / n),
        ece_by_chance=float(np.quantile(drawn, level)),
        brier=squares / n,
        brier_of_constant=share * (1.0 - share),
        curve=Reliability(counts.astype(np.intp), said / counts, was / counts, low, high),
    )
    return found, _cut(rows, ends, n)


def _cut(rows: Array, ends: Array, n: float) -> float:
    """Return what the cells that reach over the end of a bin may change."""
    places = np.arange(1, BINS) * n / BINS
    first = np.searchsorted(ends, places)  # a middle at the very end belongs to the next bin
    touched = np.unique(np.minimum(np.concatenate([first, first + (ends[first] == places)]), len(rows) - 1))
    return float(2.0 * rows[touched].sum() / n)
