r"""Weights from a few labels, never far from equal ones without good reason. Arrays only.

With z the standardised columns, :math:`w_0` the weights that are equal for columns of one range, and y = +1 where the
answer was wrong, -1 elsewhere, a logistic model is drawn towards equal weights of any size s:

.. math:: \min_{w \ge 0,\, s \ge 0,\, b}\; \sum_i \log(1 + e^{-y_i (w \cdot z_i + b)}) + \lambda |w - s w_0|^2 / 2 .

With G twice the log-likelihood that w gains over the best equal weights, and m columns, the result lies a share
:math:`G / (G + 2 (m - 1))` of the way from equal weights to w: by chance alone G is at most about m - 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array

# The penalty, lambda, on standardised columns; measured in benchmarks/label_weights.py.
PENALTY = 10.0


class LabelFit(NamedTuple):
    """Weights for columns that are brought to one range, how much likelihood they gained, and how far they went."""

    weights: Array  # (columns,), at least 0; all 0 if no column is higher where answers are wrong
    gain: float
    trust: float


def weights_from_labels(scores: Array, wrong: NDArray[np.bool_], *, penalty: float = PENALTY) -> LabelFit:
    """Return the weights that labels suggest for score columns, drawn towards equal weights.

    A column that does not vary over these rows gets the weight of all without labels.

    Parameters
    ----------
    scores
        Complete rows, (rows, columns), higher = more uncertain; at least one column varies.
    wrong
        Which answers were wrong: some, not all.
    penalty
        How strongly weights are drawn towards equal ones.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.random((400, 3))
    >>> wrong = rng.random(400) < rows[:, 0] ** 2
    >>> fitted = weights_from_labels(rows, wrong)
    >>> bool(fitted.weights[0] > 3 * fitted.weights[1:].max())
    True
    """
    low, high = scores.min(axis=0), scores.max(axis=0)
    varying = high > low
    unit = (scores[:, varying] - low[varying]) / (high - low)[varying]
    spread = unit.std(axis=0)
    size = float(np.sqrt(np.mean(spread**2)))
    z, sign, equal = (unit - unit.mean(axis=0)) / spread, np.where(wrong, 1.0, -1.0), spread / size
    slope, equal_loss = _fitted((z @ equal)[:, None], sign, 0.0, np.ones(1))
    found, loss = _fitted(z, sign, penalty, equal)
    gain = max(0.0, 2.0 * (equal_loss - loss))
    trust = gain / (gain + 2.0 * (len(found) - 1)) if gain else 0.0
    weights = np.full(len(low), slope[0] / size)
    weights[varying] += trust * (found / spread - weights[varying])
    return LabelFit(weights, gain, trust)


def _fitted(z: Array, sign: Array, penalty: float, equal: Array) -> tuple[Array, float]:
    """Return weights of at least 0, drawn towards a multiple of equal ones, and their logistic loss."""
    from scipy.optimize import minimize
    from scipy.special import expit

    m = len(equal)

    def objective(at: Array) -> tuple[float, Array]:
        away, margin = at[:m] - at[m] * equal, sign * (z @ at[:m] + at[m + 1])
        slopes = -sign * expit(-margin)
        loss = np.logaddexp(0.0, -margin).sum() + 0.5 * penalty * (away @ away)
        return float(loss), np.array([*(slopes @ z + penalty * away), -penalty * (away @ equal), slopes.sum()])

    start = np.array([*(0.1 * equal), 0.1, 0.0])
    bounds = [(0.0, None)] * (m + 1) + [(None, None)]
    solved = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=_CLOSELY)
    weights = np.asarray(solved.x[:m])
    return weights, float(np.logaddexp(0.0, -sign * (z @ weights + solved.x[m + 1])).sum())


_CLOSELY = {"maxiter": 1000, "ftol": 1e-13, "gtol": 1e-8}
