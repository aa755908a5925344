"""The false-alarm rate of the one calibration set at hand: its law, and a rate that it keeps with a confidence."""

from __future__ import annotations

import math

import numpy as np

from vecuq._check import Array, in_range
from vecuq.conformal.p_values import SLACK
from vecuq.errors import SettingError


def rate_interval(alpha: float, n_held: int, level: float = 0.9) -> tuple[float, float]:
    """Return between which false-alarm rates a share ``level`` of all calibration sets lies, at threshold ``alpha``.

    **Assumption.** The n held-back rows are independent draws of one law, and so are new rows; scores do not tie.

    **Promise.** The rate at which one calibration set flags new in-distribution rows has the law Beta(k, n + 1 - k)
    with k = floor(alpha (n + 1)); the ends are its quantiles, as much left out on either side. Where scores tie, rates
    are lower. For groups of rows, n counts groups: the interval is then that of as many single rows, and rows that
    differ within their groups make the rate steadier.

    **Theorem.** The k-th largest of n independent uniform numbers: Vovk, *Conditional validity of inductive conformal
    predictors* (2012), proposition 2.

    Examples
    --------
    >>> low, high = rate_interval(0.05, 200)
    >>> round(low, 3), round(high, 3)
    (0.027, 0.077)
    """
    from scipy.special import betaincinv

    k = _marginal_count(alpha, n_held)
    if k in (0, n_held + 1):
        return float(k > 0), float(k > 0)
    left_out = (1.0 - level) / 2.0
    low, high = (float(betaincinv(k, n_held + 1 - k, share)) for share in (left_out, 1.0 - left_out))
    return low, high


def rate_with_confidence(alpha: float, confidence: float, n_held: int, *, groups: bool = False) -> float:
    """Return the rate k / (n + 1) at which to flag, so that this calibration set keeps ``alpha`` with confidence.

    k is the largest number with ``BetaCDF(alpha; k, n + 1 - k) >= confidence``, and at most ``alpha (n + 1)``, so that
    the promise on average holds as well.

    **Assumption.** The n held-back rows are independent draws of one law; none of them fitted the score. With
    ``groups``: the n groups are, and a new row is any row of a new group.

    **Promise.** With probability at least ``confidence`` over the draw of the calibration set, it is one that flags at
    most a share ``alpha`` of all new in-distribution rows, now and later.

    **Theorem.** The law of :func:`rate_interval`: Vovk (2012), proposition 2a. For groups, the mean of n independent
    numbers in [0, 1] by the smaller of two bounds: Hoeffding (1963) and Bentkus, *On Hoeffding's inequalities*
    (2004); together as in Bates, Angelopoulos, Lei, Malik and Jordan (2021).

    Examples
    --------
    >>> round(201 * rate_with_confidence(0.05, 0.9, 200))
    6
    >>> round(231 * rate_with_confidence(0.01, 0.9, 230))
    1
    """
    alpha = in_range("alpha", alpha, 0.0, 1.0, ends="()")
    confidence = in_range("confidence", confidence, 0.0, 1.0, ends="()")
    counts = np.arange(1.0, _marginal_count(alpha, n_held) + 1.0)
    risk = _risk_of_groups(counts, n_held, alpha) if groups else _risk(counts, n_held, alpha)
    kept = counts[risk <= (1.0 - confidence) * (1.0 + SLACK)]
    if not len(kept):
        raise SettingError(_too_few(alpha, confidence, n_held, "groups" if groups else "rows"))
    return float(kept[-1] / (n_held + 1))


def held_for_confidence(alpha: float, confidence: float) -> int:
    """Return how many held-back rows, or groups, a rate with a confidence needs at least.

    Examples
    --------
    >>> held_for_confidence(0.01, 0.9), held_for_confidence(0.05, 0.9)
    (230, 45)
    """
    for_confidence = math.ceil(math.log1p(-confidence) / math.log1p(-alpha) * (1.0 - SLACK))
    return max(for_confidence, math.ceil((1.0 / alpha - 1.0) * (1.0 - SLACK)))


def _marginal_count(alpha: float, n_held: int) -> int:
    """Return how many of n + 1 ranks may be flagged at rate alpha."""
    return min(math.floor(alpha * (n_held + 1) * (1.0 + SLACK)), n_held + 1)


def _risk(counts: Array, n_held: int, alpha: float) -> Array:
    """Return the probability of a calibration set that flags more than alpha, for thresholds at these ranks."""
    from scipy.special import betaincc

    return np.asarray(betaincc(counts, n_held + 1 - counts, alpha))


def _risk_of_groups(counts: Array, n_groups: int, alpha: float) -> Array:
    """Return a bound of that probability if each group has a share above the threshold instead of yes or no."""
    share = (counts - 1.0) / n_groups
    with np.errstate(divide="ignore", invalid="ignore"):
        some = np.where(share > 0, share * np.log(share / alpha), 0.0)
        divergence = some + (1.0 - share) * (np.log1p(-share) - math.log1p(-alpha))
    hoeffding = np.where(share < alpha, np.exp(-n_groups * divergence), 1.0)
    return np.minimum(hoeffding, math.e * _risk(counts, n_groups, alpha))


def _too_few(alpha: float, confidence: float, n_held: int, unit: str) -> str:
    needed = held_for_confidence(alpha, confidence)
    sure = -math.expm1(n_held * math.log1p(-alpha))
    allowed = f", which allow confidence={math.floor(1000 * sure) / 1000:g} at most" if sure < confidence else ""
    return (
        f"alpha={alpha:g} with confidence={confidence:g} needs at least {needed:,} held-back {unit}; this model has "
        f"{n_held:,}{allowed}. Give more calibration rows, or a larger alpha."
    )
