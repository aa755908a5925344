"""Bounds on an error rate from labelled rows: exact for right or wrong, by betting for graded losses and for groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vecuq._check import Array

# Bets are placed at the stake that suits losses of the largest variance, and at larger ones for smaller variances.
_TIMES = (1.0, 2.0, 4.0)


def error_rate_p_values(errors: ArrayLike, n_rows: ArrayLike, allowed: float) -> Array:
    """Return P(Binomial(n_rows, allowed) <= errors): small where the error rate is below ``allowed``; 1 without rows.

    **Assumption.** The rows are independent draws with one error rate.

    **Promise.** If that rate is at least ``allowed``, then P(p <= delta) <= delta for every delta.

    **Theorem.** The binomial law falls in its rate (Clopper and Pearson 1934).

    Examples
    --------
    >>> error_rate_p_values([0, 0, 5], [0, 45, 200], allowed=0.05).round(3)
    array([1.   , 0.099, 0.062])
    """
    from scipy.special import betainc

    seen, rows = np.asarray(errors, dtype=float), np.asarray(n_rows, dtype=float)
    return np.where(seen >= rows, 1.0, betainc(np.maximum(rows - seen, 1.0), seen + 1.0, 1.0 - allowed))


def error_rate_upper(errors: ArrayLike, n_rows: ArrayLike, delta: float) -> Array:
    """Return the upper bound of Clopper and Pearson on an error rate: above the true one with probability 1 - delta.

    Assumption and theorem are those of :func:`error_rate_p_values`, of which this is the inverse; 1 without rows.

    Examples
    --------
    >>> error_rate_upper([0, 5], [45, 200], delta=0.1).round(4)
    array([0.0499, 0.0459])
    """
    from scipy.special import betaincinv

    seen, rows = np.asarray(errors, dtype=float), np.asarray(n_rows, dtype=float)
    spare = np.maximum(rows - seen, 1e-9)
    return np.where(seen >= rows, 1.0, betaincinv(seen + 1.0, spare, 1.0 - delta))


def error_rate_lower(errors: ArrayLike, n_rows: ArrayLike, delta: float) -> Array:
    """Return the lower bound of Clopper and Pearson on an error rate: below the true one with probability 1 - delta.

    Examples
    --------
    >>> error_rate_lower([0, 5], [45, 200], delta=0.1).round(4)
    array([0.    , 0.0122])
    """
    seen, rows = np.asarray(errors, dtype=float), np.asarray(n_rows, dtype=float)
    return np.asarray(1.0 - error_rate_upper(rows - seen, rows, delta))


def coverage_margin(n_rows: int, delta: float) -> float:
    """Return how far the share of n rows below a threshold may lie from its probability, for all thresholds at once.

    **Assumption.** The rows are independent draws.

    **Promise.** With probability 1 - delta no share is further away, so a threshold chosen afterwards is covered too.

    **Theorem.** Dvoretzky, Kiefer and Wolfowitz with the constant of Massart (1990).

    Examples
    --------
    >>> round(coverage_margin(500, delta=0.1), 4)
    0.0547
    """
    return float(np.sqrt(np.log(2.0 / delta) / (2.0 * max(n_rows, 1))))


def mean_loss_p_values(excess: Array, allowed: float, stakes: Array) -> Array:
    r"""Return for every column a p-value of "the mean excess loss is not negative": small where losses are low.

    A fortune of 1 is bet on losses below ``allowed``: each unit multiplies it by :math:`1 - \lambda x`, with x its
    excess loss, and the p-value is one over the fortune, mixed over one, two and four times the stake :math:`\lambda`.
    Nothing depends on the order of the units.

    **Assumption.** The units (rows, or groups of rows) are independent draws, with excess in [-allowed, 1 - allowed].
    The stakes do not depend on them.

    **Promise.** If the mean excess is not negative, then P(p <= delta) <= delta for every delta.

    **Theorem.** A product of independent factors with mean at most 1 has mean at most 1: Markov's inequality; the bets
    are those of Waudby-Smith and Ramdas, *Estimating means of bounded random variables by betting*, JRSS B (2024).

    Parameters
    ----------
    excess
        Loss minus ``allowed`` of every unit at every threshold, (units, thresholds); 0 where it is not accepted.
    allowed
        The mean loss that is allowed.
    stakes
        How much is bet at every threshold, (thresholds,); :func:`stakes_for` says how much pays.

    Examples
    --------
    >>> mean_loss_p_values(np.full((60, 1), 0.02 - 0.1), 0.1, stakes_for(60, np.ones(1), 0.1, 0.1)).round(4)
    array([0.0091])
    """
    most = 0.95 / max(1.0 - allowed, 1e-12)
    log_fortunes = np.stack([np.log1p(-np.minimum(times * stakes, most) * excess).sum(axis=0) for times in _TIMES])
    log_mean = np.logaddexp.reduce(log_fortunes, axis=0) - np.log(len(_TIMES))
    return np.asarray(np.exp(-np.maximum(log_mean, 0.0)))


def stakes_for(n_units: int, coverage: Array, allowed: float, delta: float) -> Array:
    """Return the stakes that find a low mean loss soonest, if losses vary as much as they can; (thresholds,).

    They follow from the number of units, the share that each threshold is expected to accept, and the target alone.
    """
    variance = np.maximum(n_units * coverage, 1.0) * max(allowed * (1.0 - allowed), 1e-12)
    return np.asarray(np.sqrt(2.0 * np.log(1.0 / delta) / variance))


def mean_loss_upper(losses: Array, delta: float, *, shares: Array | None = None, coverage: float = 1.0) -> float:
    """Return an upper bound on the mean of losses in [0, 1]: above the true mean with probability 1 - delta.

    Assumption and theorem are those of :func:`mean_loss_p_values`, of which this is the inverse. With ``shares``, only
    a share of each unit counts, ``losses`` is what is lost there, and the bound is on mean loss / mean share: for
    groups, the mean loss of accepted rows over a random row of a random group. ``coverage`` is the share expected.

    Examples
    --------
    >>> round(mean_loss_upper(np.full(200, 0.1), delta=0.1), 3)
    0.113
    """
    counted = np.ones(len(losses)) if shares is None else shares
    low, high = float(losses.sum() / counted.sum()) if counted.any() else 1.0, 1.0
    for _ in range(40):  # p-values fall as more is allowed
        middle = 0.5 * (low + high)
        stakes = stakes_for(len(losses), np.array([coverage]), middle, delta)
        refuted = mean_loss_p_values((losses - middle * counted)[:, None], middle, stakes)[0] <= delta
        low, high = (low, middle) if refuted else (middle, high)
    return high
