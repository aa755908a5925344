"""An interval of the ROC-AUC that holds with few positive rows, where the bootstrap's is too narrow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range
from vecuq.conformal import group_codes
from vecuq.evaluation.inputs import defect, labels_of, scores_of
from vecuq.evaluation.tally import Order

Codes = NDArray[np.intp]
# Halvings of an interval of length 1 until its ends are neighbours in floating point.
_HALVINGS = 54


def roc_auc_interval(
    uncertainty: Any, positive: Any, *, level: float = 0.95, groups: Any = None
) -> tuple[float, float]:
    """Interval of the ROC-AUC: Newcombe's method 5, widened where DeLong's variance is larger.

    The ends are the two A with ``(AUC - A)^2 = z^2 c V(A)``, where with m positive and n negative rows and
    N = (m + n) / 2 - 1

    ``V(A) = A (1 - A) (1 + N (1 - A) / (2 - A) + N A / (1 + A)) / (m n)``.

    As in Wilson's interval of a share, the variance is that at the end A, not at the estimate, so the interval is not
    empty at an AUC of 1. Newcombe (2006), "Confidence intervals for an effect size measure based on the Mann-Whitney
    statistic. Part 2", has c = 1. V supposes two kinds of rows that spread alike; where the scores of the positives
    spread more, it is too small. So c is the variance of DeLong, DeLong and Clarke-Pearson (1988) divided by V(AUC),
    at least 1. With groups it is multiplied by what the variance grows when its terms are summed by group (Obuchowski
    1997), at least 1, and z is the quantile of Student's law with one degree less than there are groups of the rarer
    kind.

    Parameters
    ----------
    uncertainty, positive
        As for :func:`roc_auc`.
    level
        The share of test sets whose interval should hold the true value, in (0, 1).
    groups
        Which rows come together (a session, a document), one name per row; None if the rows are independent.

    Returns
    -------
    tuple of float
        Low and high, in [0, 1]; NaN where there is no ROC-AUC.

    Examples
    --------
    >>> low, high = roc_auc_interval([0.1, 0.4, 0.35, 0.8, 0.7, 0.2], [0, 0, 1, 1, 1, 0])
    >>> round(low, 3), round(high, 3)
    (0.391, 0.989)
    """
    scores = scores_of(uncertainty)
    target = labels_of(positive, len(scores), "positive")
    codes = None if groups is None else group_codes(groups, len(scores))
    if defect(scores, target) is not None:
        return float("nan"), float("nan")
    return auc_interval(scores, target, codes, in_range("level", level, 0.0, 1.0, ends="()"))


def auc_interval(scores: Array, target: Array, codes: Codes | None, level: float) -> tuple[float, float]:
    """Return :func:`roc_auc_interval` of checked rows of both kinds."""
    from scipy.special import ndtri, stdtrit

    area, terms = _influence(scores, target)
    sizes = float(target.sum()), float((1.0 - target).sum())
    by_row = _variance(terms, target, np.arange(len(target)))
    wider = max(1.0, _ratio(by_row, _newcombe_variance(area, *sizes)))
    if codes is None:
        return _ends(area, *sizes, float(ndtri(0.5 + level / 2) * np.sqrt(wider)))
    m, n = (float(n_different(codes[target == kind])) for kind in (1.0, 0.0))
    quantile = float(stdtrit(max(min(m, n) - 1.0, 1.0), 0.5 + level / 2))
    if by_row <= 0.0:  # an area of 0 or 1: a group counts as one row, for nothing shows how much more it says
        return _ends(area, m, n, quantile)
    wider *= max(1.0, _variance(terms, target, codes) / by_row)
    return _ends(area, *sizes, float(quantile * np.sqrt(wider)))


def n_different(codes: Codes) -> int:
    """Return how many groups there are among some rows; faster than ``np.unique`` for whole numbers."""
    return int(np.count_nonzero(np.bincount(codes)))


def _ratio(above: float, below: float) -> float:
    """Return ``above / below``, and 0 where ``below`` is 0."""
    return above / below if below > 0.0 else 0.0


def _influence(scores: Array, target: Array) -> tuple[float, Array]:
    """Return the area, and how much each row moves it: the terms of DeLong's variance."""
    order = Order.of(scores)
    place = np.empty(len(scores), dtype=np.intp)
    place[order.rows] = np.repeat(np.arange(len(order.starts)), np.diff(np.append(order.starts, len(scores))))
    positive, negative = np.bincount(place, target), np.bincount(place, 1.0 - target)
    below = (np.cumsum(negative) - 0.5 * negative) / negative.sum()
    above = 1.0 - (np.cumsum(positive) - 0.5 * positive) / positive.sum()
    area = float(positive @ below / positive.sum())
    moved = np.where(target == 1, (below[place] - area) / positive.sum(), (above[place] - area) / negative.sum())
    return area, moved


def _variance(terms: Array, target: Array, codes: Codes) -> float:
    """Return the variance of the area; rows of one group move it together."""
    scaled = terms.copy()
    for kind in (0.0, 1.0):
        n_groups = n_different(codes[target == kind])
        scaled[target == kind] *= np.sqrt(n_groups / max(n_groups - 1, 1))
    return float((np.bincount(codes, scaled) ** 2).sum())


def _newcombe_variance(area: float, m: float, n: float) -> float:
    """Return the variance of an area by Newcombe's method 5."""
    more = (m + n) / 2.0 - 1.0
    return area * (1.0 - area) * (1.0 + more * (1.0 - area) / (2.0 - area) + more * area / (1.0 + area)) / (m * n)


def _ends(area: float, m: float, n: float, width: float) -> tuple[float, float]:
    """Return the two values whose distance to the area is ``width`` of their own standard deviations."""

    def end(limit: float) -> float:
        near, far = area, limit
        for _ in range(_HALVINGS):
            middle = (near + far) / 2.0
            inside = (area - middle) ** 2 < width**2 * _newcombe_variance(middle, m, n)
            near, far = (middle, far) if inside else (near, middle)
        return near

    return end(0.0), end(1.0)
