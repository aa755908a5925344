"""Rows that are equal: how many, and whether they are copies of records or ties of scores with few values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array

Keys = NDArray[np.uint64]
# Fewer repeated rows do not show where they come from.
_FEWEST_REPEATED = 5


@dataclass(frozen=True)
class Repeats:
    """Equal rows of a table.

    Ties are honest where scores have few possible values: new rows tie with them as well, and p-values stay valid.
    Copies of records are not: new rows are not among them.
    """

    n_rows: int
    distinct: int
    design_effect: float  # the mean, over rows, of how often the row is there
    are_copies: bool  # of records; False if scores with few values explain them as well, or nothing repeats

    @property
    def share_repeated(self) -> float:
        """The share of rows beyond the first of their kind."""
        return 1.0 - self.distinct / self.n_rows


def find_repeats(values: Array, keys: Keys) -> Repeats:
    """Count equal rows, and judge where they come from."""
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    n, distinct = len(keys), len(counts)
    effect = float((counts.astype(float) ** 2).sum() / n)
    copies = distinct < n and (_too_even(counts) or _whole_rows_repeat(values[first[counts > 1]], counts[counts > 1]))
    return Repeats(n, distinct, effect, bool(copies))


def row_keys(values: Array) -> Keys:
    """Return one number per row, which equal rows share; other rows do but once in 10^19 pairs.

    Examples
    --------
    >>> keys = row_keys(np.array([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0]]))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    bits = np.ascontiguousarray(np.asarray(values, dtype=float) + 0.0).view(np.uint64)  # -0.0 is 0.0
    keys = np.zeros(len(bits), dtype=np.uint64)
    for column in bits.T:
        keys = _mixed(keys * np.uint64(0x9E3779B97F4A7C15) + column)
    return keys


def _mixed(words: Keys) -> Keys:
    """Let every bit depend on every other (the finaliser of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _too_even(counts: NDArray[np.intp]) -> bool:
    """Whether all rows come about equally often, more so than any draw of few values would have it."""
    from scipy.optimize import brentq
    from scipy.stats import chi2

    mean = float(counts.mean())
    if len(counts) < _FEWEST_REPEATED or mean < 2.0:
        return False
    # Equally likely values are the most even draw; only those that were drawn at all are seen.
    drawn = brentq(lambda rate: rate / -np.expm1(-rate) - mean, 1e-9, mean)
    spread = ((counts - mean) ** 2).sum() / (mean * (1.0 + drawn - mean))
    return bool(chi2.cdf(spread, len(counts) - 1) < 1e-6)


def _whole_rows_repeat(repeated: Array, counts: NDArray[np.intp]) -> bool:
    """Whether rows repeat in all columns at once, while no column by itself has few values.

    Where a score has few values, rows that differ share some of them, and a few combinations are far more frequent
    than others.
    """
    varying = repeated[:, np.ptp(repeated, axis=0) > 0] if len(repeated) else repeated
    if len(repeated) < _FEWEST_REPEATED or varying.shape[1] < 2:
        return False
    values = min(len(np.unique(column)) for column in varying.T)
    uneven = float(counts.std() / counts.mean())
    return values >= 0.9 * len(repeated) and uneven < (0.5 if len(repeated) < 50 else 1.0)
