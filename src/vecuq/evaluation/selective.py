"""Selective prediction: how good the predictions are that an uncertainty lets through.

All functions take ``uncertainty``, one number per row (higher = more uncertain, no NaN), and ``correct``, which
predictions are correct (booleans or 0 / 1). Rows are kept from the least uncertain on; coverage is the share kept. Rows
of equal uncertainty come in random order, and the accuracy of the k first is its expectation over that order, in closed
form. The numbers (not the curve) are NaN where there is nothing to judge: fewer than two rows, all predictions correct
or all wrong, or the same uncertainty on all rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vecuq._check import Array, in_range
from vecuq.evaluation.inputs import Kernel, labels_of, measured, scores_of
from vecuq.evaluation.tally import Order, Tally, divided


class RiskCoverage(NamedTuple):
    """A risk-coverage curve: the error rate of the least uncertain rows, by the share that is kept."""

    coverage: Array  # (rows,), k / n for k = 1 ... n
    risk: Array  # (rows,), in [0, 1], lower is better


def risk_coverage_curve(uncertainty: Any, correct: Any) -> RiskCoverage:
    """Error rate of the k least uncertain rows, for every k.

    El-Yaniv and Wiener (2010), "On the foundations of noise-free selective classification".

    Returns
    -------
    RiskCoverage
        ``coverage`` k / n and ``risk`` in [0, 1], lower is better, both of shape (rows,). Inside a group of equal
        uncertainty the risk is its mean over all orders of the group.

    Examples
    --------
    >>> curve = risk_coverage_curve([0.1, 0.2, 0.3, 0.4], [1, 1, 0, 1])
    >>> curve.coverage, curve.risk.round(3)
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.   , 0.   , 0.333, 0.25 ]))
    """
    scores = scores_of(uncertainty)
    right = labels_of(correct, len(scores), "correct")
    kept = np.arange(1, len(scores) + 1)
    return RiskCoverage(kept / max(len(kept), 1), 1.0 - kept_sums(scores, right) / kept)


def kept_sums(uncertainty: Array, target: Array) -> Array:
    """Return the expected sum of the target over the k least uncertain rows, k = 1 ... n, ties in random order."""
    order = Order.of(uncertainty)
    sizes = np.diff(np.append(order.starts, len(target)))
    means = order.grouped(target[:, None])[:, 0] / sizes
    return np.asarray(np.cumsum(np.repeat(means, sizes)))


def accuracy_coverage_area(uncertainty: Any, correct: Any) -> float:
    """Area under the accuracy-coverage curve.

    With a_k the accuracy of the k least uncertain rows, the trapezoid sum of a_1 ... a_n over the coverages
    1/n ... 1: ``(a_1 / 2 + a_2 + ... + a_(n-1) + a_n / 2) / n``. Used for Table "selective prediction" of the VecUQ-OT
    paper. There is no area left of 1/n, so it is short of that of many rows: exactly ``1 - AURC - (a_1 + a_n) / 2n``,
    where ``1 - AURC`` (see :func:`aurc`) is not short. Compare areas of equal numbers of rows only; an interval is that
    of the area at this number of rows.

    Returns
    -------
    float
        In [0, 1 - 1/n], higher is better, near the plain accuracy for chance. Ties are averaged: each a_k is the mean
        over all orders of the rows of equal uncertainty. NaN where there is nothing to judge.

    Examples
    --------
    >>> round(accuracy_coverage_area([0.1, 0.2, 0.3, 0.4], [1, 1, 0, 1]), 6)
    0.635417
    """
    return _selected(accuracy_coverage_area_of, uncertainty, correct)


def aurc(uncertainty: Any, correct: Any) -> float:
    """Area under the risk-coverage curve: the mean error rate of the k least uncertain rows over k = 1 ... n.

    ``AURC = (1 / n) sum_k (errors among the k least uncertain rows) / k``; Geifman, Uziel and El-Yaniv (2019),
    "Bias-reduced uncertainty estimation for deep neural classifiers".

    Returns
    -------
    float
        In [0, 1], lower is better, near the plain error rate for chance. Ties are averaged: the mean over all orders
        of the rows of equal uncertainty. NaN where there is nothing to judge.

    Examples
    --------
    >>> round(aurc([0.1, 0.2, 0.3, 0.4], [1, 1, 0, 1]), 6)
    0.145833
    """
    return _selected(aurc_of, uncertainty, correct)


def excess_aurc(uncertainty: Any, correct: Any) -> float:
    """AURC beyond that of the best order, in which all errors come last.

    ``E-AURC = AURC - AURC*``, with ``n AURC* = sum_(j = 1 ... e) j / (n - e + j)`` for e errors; Geifman, Uziel and
    El-Yaniv (2019). Unlike AURC it does not reward a model for being right more often.

    Returns
    -------
    float
        In [0, 1), lower is better, 0 for the best order. Ties are averaged: the mean over all orders of the rows of
        equal uncertainty. NaN where there is nothing to judge.

    Examples
    --------
    >>> round(excess_aurc([0.1, 0.2, 0.3, 0.4], [1, 1, 0, 1]), 6)
    0.083333
    """
    return _selected(excess_aurc_of, uncertainty, correct)


def coverage_at_error(uncertainty: Any, correct: Any, error: float = 0.01) -> float:
    """Largest share of the rows, least uncertain first, whose error rate is at most ``error``.

    ``max {k / n : (errors among the k least uncertain rows) / k <= error}``; the selection with guaranteed risk of
    Geifman and El-Yaniv (2017), "Selective classification for deep neural networks", without their confidence bound.
    Where few errors are allowed among the rows kept, the largest share that happens to fit is larger than the true one:
    below 10 of them :func:`evaluate` gives no interval. A share that is promised needs a gate, not this number.

    Parameters
    ----------
    error
        The error rate that is allowed, in [0, 1).

    Returns
    -------
    float
        In [0, 1], higher is better, 0 if no share is good enough. Ties are averaged before the largest share is
        looked for: the error rate of the k first is its mean over all orders of the rows of equal uncertainty, as in
        :func:`risk_coverage_curve`. NaN where there is nothing to judge.

    Examples
    --------
    >>> coverage_at_error([0.1, 0.2, 0.3, 0.4], [1, 1, 0, 1], error=0.01)
    0.5
    """
    return _selected(coverage_at(error), uncertainty, correct)


def coverage_at(error: float) -> Kernel:
    """Return the kernel of :func:`coverage_at_error` at one error rate."""
    return partial(_coverage, error=in_range("error", error, 0.0, 1.0))


def accuracy_coverage_area_of(tally: Tally) -> Array:
    """Area under the accuracy-coverage curve of each resample."""
    first = np.argmax(tally.rows > 0, axis=0)[None]
    ends = np.take_along_axis(tally.rate, first, axis=0)[0] + tally.target_sum / tally.n
    return np.asarray((tally.mean_sum - 0.5 * ends) / tally.n)


def aurc_of(tally: Tally) -> Array:
    """AURC of each resample."""
    return 1.0 - tally.mean_sum / tally.n


def excess_aurc_of(tally: Tally) -> Array:
    """Excess AURC of each resample, over the best order of the same resample."""
    best = tally.ideal or tally
    return np.maximum((best.mean_sum - tally.mean_sum) / tally.n, 0.0)


def _coverage(tally: Tally, error: float) -> Array:
    """Return the largest coverage of each resample.

    Inside a group the expected error rate moves one way only. So everything is kept through the last group at whose
    end the rate is low enough, and of the next group as many rows as use up the errors that are still allowed.
    """
    beyond = tally.rows_through * (1.0 - error) - tally.target_through  # errors through each group beyond the allowed
    fits = beyond <= 1e-9  # 0.29 * 100 is a little less than 29
    kept_groups = np.where(fits.any(axis=0), len(fits) - np.argmax(fits[::-1], axis=0), 0)
    group = np.minimum(kept_groups, len(fits) - 1)[None]
    rate, rows, through, over = (
        np.take_along_axis(part, group, axis=0)[0] for part in (tally.rate, tally.rows, tally.rows_through, beyond)
    )
    excess = 1.0 - rate - error  # errors beyond the allowed that each row of this group adds
    steps = np.floor(divided(rows * excess - over + 1e-9, excess))
    return np.asarray(np.where(kept_groups == len(fits), tally.n, through - rows + steps) / tally.n)


def _selected(kernel: Kernel, uncertainty: Any, correct: Any) -> float:
    scores = scores_of(uncertainty)
    return measured(kernel, scores, labels_of(correct, len(scores), "correct"))
