"""Detection: how well an uncertainty separates two kinds of rows.

All functions take ``uncertainty``, one number per row (higher = more uncertain, no NaN), and ``positive``, which rows
should be the more uncertain ones: errors, or out-of-distribution rows (booleans or 0 / 1). All are expectations over a
random order of rows with equal uncertainty, in closed form. All are NaN where there is nothing to judge: fewer than two
rows, rows of one kind only, or the same uncertainty on all rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from vecuq._check import Array, in_range
from vecuq.evaluation.inputs import Kernel, labels_of, measured, scores_of
from vecuq.evaluation.tally import Tally, divided, inner


def roc_auc(uncertainty: Any, positive: Any) -> float:
    """Area under the ROC curve: the probability that a positive row is more uncertain than a negative one.

    ``P(u_positive > u_negative) + P(u_positive = u_negative) / 2`` over all pairs of a positive and a negative row:
    the Mann-Whitney statistic, which is the area under the curve of Fawcett (2006), "An introduction to ROC analysis".

    Returns
    -------
    float
        In [0, 1], higher is better, 0.5 for chance; a tie counts one half. NaN when all rows are of one kind, or all
        have the same uncertainty: no curve exists.

    Examples
    --------
    >>> roc_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    return _detected(roc_auc_of, uncertainty, positive)


def average_precision(uncertainty: Any, positive: Any) -> float:
    """Mean, over the positive rows, of the share of positives among the rows at least as uncertain.

    ``AP = (1 / P) sum_k [row k is positive] * (positives among the k most uncertain rows) / k``; the area under the
    precision-recall curve without interpolation, as in Davis and Goadrich (2006), "The relationship between
    precision-recall and ROC curves".

    Returns
    -------
    float
        In (0, 1], higher is better, near the share of positives for chance. Ties are averaged: the expected value
        when rows of equal uncertainty come in random order (scikit-learn takes them all at once instead, which gives
        another number). NaN as for :func:`roc_auc`.

    Examples
    --------
    >>> round(average_precision([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]), 6)
    0.833333
    """
    return _detected(average_precision_of, uncertainty, positive)


def fpr_at_tpr(uncertainty: Any, positive: Any, tpr: float = 0.95) -> float:
    """Share of negative rows flagged when the most uncertain rows are flagged until ``tpr`` of the positives are.

    The false-positive rate at the first point of the ROC curve with a true-positive rate of at least ``tpr``; "FPR95"
    of Hendrycks et al. (2019), "Deep anomaly detection with outlier exposure".

    Parameters
    ----------
    tpr
        Share of the positives that must be found, in (0, 1].

    Returns
    -------
    float
        In [0, 1], lower is better, near ``tpr`` for chance. Ties are averaged: with p positives and q negatives of the
        same uncertainty, ``q r / (p + 1)`` negatives are expected before the r-th of these positives. NaN as for
        :func:`roc_auc`. Of fewer than 20 positives, 95 % are all of them: :func:`evaluate` then gives no number.

    Examples
    --------
    >>> fpr_at_tpr([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.5
    """
    return _detected(fpr_at(tpr), uncertainty, positive)


def fpr_at(tpr: float) -> Kernel:
    """Return the kernel of :func:`fpr_at_tpr` at one rate."""
    return partial(_fpr, tpr=in_range("tpr", tpr, 0.0, 1.0, ends="(]"))


def roc_auc_of(tally: Tally) -> Array:
    """ROC-AUC of each resample; NaN where it holds rows of one kind only."""
    negative_through = tally.rows_through - tally.target_through
    ordered = inner(tally.target, negative_through) - 0.5 * inner(tally.target, tally.rows - tally.target)
    return divided(ordered, tally.target_sum * (tally.n - tally.target_sum))


def average_precision_of(tally: Tally) -> Array:
    """Average precision of each resample; NaN where it holds no positive row.

    With b rows, t of them positive, above a group of w rows with s positives, row i of the group is positive with
    probability s / w, and has then an expected precision of ``(t + 1 + (i - 1) (s - 1) / (w - 1)) / (b + i)``.
    """
    positive_above = tally.target_sum - tally.target_through
    more = np.maximum(tally.target - 1.0, 0.0) / np.maximum(tally.rows - 1.0, 1.0)
    first = positive_above + 1.0 - more * (tally.n + 1.0 - tally.rows_through)
    return divided(inner(tally.rate, more * tally.rows + first * tally.steps_above), tally.target_sum)


def _fpr(tally: Tally, tpr: float) -> Array:
    """Return the false-positive rate of each resample; NaN where it holds rows of one kind only."""
    wanted = np.ceil(tpr * tally.target_sum - 1e-9)
    # All groups may stay unflagged through which no more positives lie than may be missed; the next is flagged in part.
    missed = (tally.target_through <= tally.target_sum - wanted).sum(axis=0)
    last = np.minimum(missed, len(tally.rows) - 1)[None]
    rows, positive, rows_through, positive_through = (
        np.take_along_axis(part, last, axis=0)[0]
        for part in (tally.rows, tally.target, tally.rows_through, tally.target_through)
    )
    negatives, negative_through = tally.n - tally.target_sum, rows_through - positive_through
    still = wanted - (tally.target_sum - positive_through)
    flagged = negatives - negative_through + still * (rows - positive) / (positive + 1.0)
    return np.where(tally.target_sum > 0, divided(flagged, negatives), np.nan)


def _detected(kernel: Kernel, uncertainty: Any, positive: Any) -> float:
    scores = scores_of(uncertainty)
    return measured(kernel, scores, labels_of(positive, len(scores), "positive"))
