"""Rows that come together, such as sessions and documents: p-values and thresholds that count groups, not rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal.p_values import flagged
from vecuq.conformal.ties import around, last_equal


def group_weights(groups: NDArray[np.intp]) -> Array:
    """Return one divided by the size of its group for every row, so that every group weighs 1.

    Examples
    --------
    >>> group_weights(np.array([0, 1, 1, 1, 1]))
    array([1.  , 0.25, 0.25, 0.25, 0.25])
    """
    return np.asarray(1.0 / np.bincount(groups)[groups])


def group_means(values: Array, groups: NDArray[np.intp]) -> Array:
    """Return the mean over the rows of each group, (groups,); groups are numbered from 0 on.

    Examples
    --------
    >>> group_means(np.array([1.0, 0.0, 1.0]), np.array([0, 1, 1]))
    array([1. , 0.5])
    """
    return np.asarray(np.bincount(groups, weights=values) / np.bincount(groups))


def tail_weights(weights: Array) -> Array:
    """Return the weight of the rows from each place on, (rows + 1,); the last is 0.

    Examples
    --------
    >>> tail_weights(np.array([1.0, 0.5, 0.5]))
    array([2. , 1. , 0.5, 0. ])
    """
    return np.append(np.cumsum(weights[::-1])[::-1], 0.0)


def grouped_p_values(scores: Array, calibration: Array, tails: Array, draws: Array | None = None) -> Array:
    """Return ``p = (1 + sum over groups of the share of their rows with calibration >= score) / (K + 1)``.

    NaN for NaN. With K groups of one row each these are the p-values of :func:`conformal_p_values`.

    **Assumption.** The new row belongs to a group that has no calibration row. Its group and the K calibration groups
    are exchangeable, and so are the rows within each group; none of them fitted the score. Groups may differ in size.

    **Promise.** P(p <= alpha) <= alpha for every alpha, over the draw of calibration groups and new row together. A
    long group counts as much as a short one: the rate is that of a row drawn from a new group. With ``draws`` ties
    count in part, and the promise is the same.

    **Theorem.** Hierarchical conformal prediction: Lee, Barber and Willett, *Distribution-free inference with
    hierarchical data* (2023).

    Parameters
    ----------
    scores
        Scores of new rows, (rows,).
    calibration
        Scores of held-back rows, increasing.
    tails
        What :func:`tail_weights` gives for the weights of these rows.
    draws
        One uniform draw per row, the share of its ties that counts; None counts them all against the row.

    Examples
    --------
    >>> two_groups = tail_weights(group_weights(np.array([0, 0, 1])))
    >>> grouped_p_values(np.array([0.5, 1.5, 9.0]), np.array([1.0, 2.0, 3.0]), two_groups).round(3)
    array([1.   , 0.833, 0.333])
    """
    lower, higher = around(scores)
    counted = tails[np.searchsorted(calibration, lower, side="left")]
    if draws is not None:
        above = tails[np.searchsorted(calibration, higher, side="right")]
        counted = above + draws * (counted - above)
    return np.where(np.isnan(scores), np.nan, (1.0 + counted) / (_n_groups(tails) + 1.0))


def grouped_threshold(calibration: Array, tails: Array, alpha: float) -> float:
    """Return the number above which, and only there, a score has a p-value of at most ``alpha``.

    Infinite where the groups are too few for so small a p-value. Assumption and promise are those of
    :func:`grouped_p_values`.

    Examples
    --------
    >>> two_groups = tail_weights(group_weights(np.array([0, 0, 1])))
    >>> 2.0 <= grouped_threshold(np.array([1.0, 2.0, 3.0]), two_groups, alpha=0.7) < 2.0001
    True
    """
    # By the very comparison that flags: the p-value of a score that exceeds so many held-back scores.
    low_enough = flagged((1.0 + tails) / (_n_groups(tails) + 1.0), alpha)
    exceeded = int(np.argmax(low_enough)) if low_enough.any() else len(tails)
    if exceeded == 0 or exceeded == len(tails):
        return float("-inf" if exceeded == 0 else "inf")
    return float(last_equal(calibration[exceeded - 1 : exceeded])[0])


def _n_groups(tails: Array) -> int:
    """Return the number of groups, which is the weight of all rows."""
    return int(np.rint(tails[0]))
