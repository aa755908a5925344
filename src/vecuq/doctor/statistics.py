"""What the checks and the report compute alike: rank correlations, the plain sum, the chance of as many flags."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vecuq._check import Array
from vecuq.ranker import Ranker


def ranks(values: Array) -> Array:
    """Return the rank of every value in its column, ties sharing their mean."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=0), dtype=float)


def rank_correlations(values: Array) -> Array:
    """Return Spearman's correlation of every pair of columns, NaN where one is constant.

    Examples
    --------
    >>> rank_correlations(np.array([[1.0, 0.0], [2.0, 5.0], [9.0, 6.0]])).round(6)
    array([[1., 1.],
           [1., 1.]])
    """
    placed = ranks(values)
    centred = placed - placed.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    sizes = np.outer(size, size)
    related = (centred.T @ centred) / np.where(sizes > 0, sizes, np.nan)
    return np.asarray(np.clip(related, -1.0, 1.0))


def rank_correlation(a: Array, b: Array) -> float:
    """Return Spearman's rank correlation; NaN if one of the two is constant."""
    return float(rank_correlations(np.column_stack([a, b]))[0, 1])


def plain_sum(ranker: Ranker, rows: Array) -> Array:
    """Return the sum of the columns, each brought to 0-1 over the rows of the map, whatever the ranker's scaling."""
    linear = replace(ranker.scaler, knots=ranker.scaler.knots[:0])
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = linear.transform(rows[:, ranker.active])
        return np.asarray(((scaled - ranker.low) / (ranker.high - ranker.low)).sum(axis=1))


def chance_of_as_many(above: int, n_new: int, beyond: int, n_held: int) -> float:
    """Return the probability of as many rows above a threshold, or more, if new and held-back rows are exchangeable.

    The share above the (beyond + 1)-th largest of n held-back scores is Beta(beyond + 1, n - beyond), so the number
    above is beta-binomial.
    """
    from scipy.stats import betabinom

    return float(betabinom.sf(above - 1, n_new, beyond + 1, n_held - beyond))
