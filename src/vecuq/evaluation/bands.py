"""Intervals of a curve: where the error rate or the quality of the rows that are kept may lie, at each share kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range
from vecuq.conformal import error_rate_lower, error_rate_upper, group_codes
from vecuq.evaluation.bootstrap import MIN_GROUPS
from vecuq.evaluation.inputs import qualities_of, scores_of
from vecuq.evaluation.selective import kept_sums
from vecuq.evaluation.tally import Order

# At so many shares a band is computed; between them it is drawn straight.
N_SHARES = 60


class Band(NamedTuple):
    """The ends of an interval at each share of rows that is kept; NaN where there is none."""

    share: Array  # (points,), in (0, 1], increasing
    low: Array  # (points,)
    high: Array  # (points,)


def kept_band(uncertainty: Any, target: Any, *, level: float = 0.95, groups: Any = None) -> Band:
    """Interval of the mean target of the rows kept, least uncertain first, at each of many shares by itself.

    **Assumption.** The rows are independent draws of one law; with ``groups``, the groups are.

    **Promise.** Below an uncertainty that is fixed beforehand, the rows kept are independent draws too. Where the
    target is 0 or 1 and rows do not come in groups, the interval is that of Clopper and Pearson (1934), which holds the
    mean of all rows below that uncertainty with probability at least ``level``. Here the rows themselves say where a
    share ends, and one of those kept lies right there, so that it is about ``level``: in the worst case found, 94.65 %
    instead of 95 %. Otherwise it is Student's, with the variance between groups where there are any: that of many rows,
    approximate for few, and left out (NaN) where fewer than ten rows or groups are kept.

    Parameters
    ----------
    uncertainty
        One number per row, higher = more uncertain, no NaN.
    target
        What is averaged, one finite number per row: 1 where a prediction is wrong, or the quality of an answer.
    level
        Of each interval by itself, in (0, 1).
    groups
        Which rows come together, one name per row; None if the rows are independent.

    Examples
    --------
    >>> band = kept_band([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 0])
    >>> band.share, band.low.round(2), band.high.round(2)
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.  , 0.  , 0.01, 0.01]), array([0.98, 0.84, 0.91, 0.81]))
    """
    scores = scores_of(uncertainty)
    aim = qualities_of(target, len(scores))
    left_out = (1.0 - in_range("level", level, 0.0, 1.0, ends="()")) / 2.0
    kept = _counts(len(scores))
    share = kept / max(len(scores), 1)
    if groups is None and np.isin(aim, (0.0, 1.0)).all():
        found = np.clip(kept_sums(scores, aim)[kept - 1], 0.0, kept)
        return Band(share, *(bound(found, kept, left_out) for bound in (error_rate_lower, error_rate_upper)))
    codes = None if groups is None else group_codes(groups, len(scores))
    ends = [_students(mean, parts, left_out) for mean, parts in _kept(scores, aim, codes, kept)]
    low, high = np.array(ends).reshape(-1, 2).T
    return Band(share, low, high)


def _counts(n_rows: int) -> NDArray[np.intp]:
    """Return how many rows are kept at each point of a band: about evenly, the last of them all."""
    return np.unique(np.linspace(0, n_rows, min(n_rows, N_SHARES) + 1).round().astype(np.intp))[1:]


def _kept(scores: Array, aim: Array, codes: Any, counts: NDArray[np.intp]) -> Iterator[tuple[float, Array]]:
    """Yield for each count the mean that is kept, and what each row or group adds to it beyond that mean.

    Of rows of equal uncertainty an equal share is kept of each.
    """
    order = Order.of(scores)
    sizes = np.diff(np.append(order.starts, len(scores)))
    first, size = np.repeat(order.starts, sizes), np.repeat(sizes, sizes)
    ordered, groups = aim[order.rows], None if codes is None else codes[order.rows]
    for count in counts:
        weight = np.clip((count - first) / size, 0.0, 1.0)
        inside = weight > 0
        mean = float(weight @ ordered / count)
        beyond = (weight * (ordered - mean))[inside]
        yield mean, (beyond if groups is None else _sums(groups[inside], beyond)) / count


def _sums(codes: Any, values: Array) -> Array:
    """Return the sum over each group that is there."""
    _, place = np.unique(codes, return_inverse=True)
    return np.asarray(np.bincount(place, values), dtype=float)


def _students(mean: float, parts: Array, left_out: float) -> tuple[float, float]:
    """Return the interval of a mean whose independent parts are known; NaN where they are too few."""
    from scipy.special import stdtrit

    n = len(parts)
    if n < MIN_GROUPS:
        return np.nan, np.nan
    reach = float(stdtrit(n - 1, 1.0 - left_out) * np.sqrt(n / (n - 1) * (parts**2).sum()))
    return mean - reach, mean + reach
