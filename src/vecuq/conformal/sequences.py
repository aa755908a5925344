r"""Labels that come one by one: bounds that may be looked at after every label, and evidence that a promise is broken.

The error rate may change on the way. With :math:`m_i` the probability, given the past, that label :math:`i` says
"wrong", :math:`S_t` the number of wrong ones and :math:`\bar m_t` the mean of :math:`m_1, \dots, m_t` (the *running
error rate*), every :math:`\lambda` gives a martingale that starts at 1,

.. math:: \exp\Bigl(\lambda S_t - \sum_{i \le t} \log(1 + m_i (e^\lambda - 1))\Bigr)
          \ge \exp\bigl(\lambda S_t - t \log(1 + \bar m_t (e^\lambda - 1))\bigr),

because the logarithm is concave (Jensen). A mixture of fixed :math:`\lambda` is a martingale too, so by Ville's
inequality the right-hand side, averaged over them, ever reaches :math:`1 / \delta` with probability at most
:math:`\delta`. What :math:`\bar m_t` is not refuted by it lies between the bounds below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vecuq._check import Array

# Changes of log odds, from what thousands of labels show to what a few do; each has the same share of the mixture.
_LAMBDAS = np.geomspace(0.03, 5.0, 10)
# A bisection in [0, 1] to 1e-12; its upper end is the bound.
_HALVINGS = 40
# How far above the allowed error rate the true one may be, as a share of what is above it.
_EXCESSES = 0.5 ** np.arange(5, 0, -1)
# A quarter of the stake is on a promise that never held. The rest is on falls at later steps: a half of it within the
# first 3,000, and never used up.
_AT_ONCE, _SCALE, _TAIL = 0.25, 1_000.0, 0.5


def running_error_upper(wrong: ArrayLike, n_labels: ArrayLike, delta: float) -> Array:
    r"""Return the upper bound on the running error rate after ``n_labels`` labels, ``wrong`` of them wrong.

    **Assumption.** Labels are those of rows drawn at random, in the order of the draw. Their error rate may change,
    and may depend on the past.

    **Promise.** The bound lies below the running error rate after *any* number of labels with probability at most
    ``delta``, however often it is looked at. It speaks of all labels so far, not of the last ones.

    **Theorem.** Ville's inequality (1939) and Jensen's, as above: Howard, Ramdas, McAuliffe and Sekhon,
    *Time-uniform, nonparametric, nonasymptotic confidence sequences*, Annals of Statistics (2021); Waudby-Smith and
    Ramdas, *Estimating means of bounded random variables by betting*, JRSS B (2024).

    Parameters
    ----------
    wrong
        How many labels said "wrong" so far; a number, or several.
    n_labels
        How many labels there were, as many numbers.
    delta
        One minus the confidence.

    Examples
    --------
    >>> running_error_upper([0, 0, 4, 40], [0, 60, 200, 2_000], delta=0.1).round(4)
    array([1.    , 0.0577, 0.0598, 0.03  ])
    """
    seen, count = (np.asarray(given, dtype=float) for given in (wrong, n_labels))
    falls = np.expm1(-_LAMBDAS)
    low, high = np.zeros(np.broadcast(seen, count).shape), np.ones(np.broadcast(seen, count).shape)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        log_bets = -_LAMBDAS * seen[..., None] - count[..., None] * np.log1p(middle[..., None] * falls)
        possible = np.logaddexp.reduce(log_bets, axis=-1) - np.log(len(_LAMBDAS)) < -np.log(delta)
        low, high = np.where(possible, middle, low), np.where(possible, high, middle)
    return np.asarray(high)


def running_error_lower(wrong: ArrayLike, n_labels: ArrayLike, delta: float) -> Array:
    """Return the lower bound on the running error rate: :func:`running_error_upper` with right and wrong exchanged.

    Assumption and theorem are the same; the bound ever lies above the running error rate with probability at most
    ``delta``. Both bounds together may fail with probability ``2 * delta``.

    Examples
    --------
    >>> running_error_lower([0, 20, 400], [60, 200, 4_000], delta=0.1).round(4)
    array([0.    , 0.0505, 0.0871])
    """
    seen, count = (np.asarray(given, dtype=float) for given in (wrong, n_labels))
    return np.asarray(1.0 - running_error_upper(count - seen, count, delta))


@dataclass(frozen=True)
class Doubt:
    """How the bets against a promise stand, in logarithms: enough to go on, to the last bit.

    Each bet is on one error rate above the allowed one, and starts anew at every step, as in
    :class:`vecuq.conformal.Fortune`.
    """

    steps: int
    run: Array  # (..., bets), the sum of log gains
    staked: Array  # (..., bets), what was staked, discounted by the gains before

    @staticmethod
    def new(*shape: int) -> Doubt:
        """Return the state before any label, of one stream or of an array of streams that go on together."""
        size = (*shape, len(_EXCESSES))
        return Doubt(0, np.zeros(size), np.full(size, -np.inf))

    @property
    def log_evidence(self) -> Array:
        """The logarithm of the evidence against the promise; 0 before any label."""
        return _log_total(self.run + self.staked, np.asarray(float(self.steps)))


def doubted(doubt: Doubt, wrong: ArrayLike, allowed: float) -> tuple[Doubt, Array]:
    """Go on through labels, and return the state after them and the log evidence after each, (labels, ...).

    **Assumption.** As for :func:`running_error_upper`.

    **Promise.** While every label is wrong with probability at most ``allowed``, given those before it, the evidence
    ever reaches 1 / delta with probability at most ``delta``. A label that is counted as right although nobody knows
    it makes the evidence smaller, never larger.

    **Theorem.** The evidence is a nonnegative supermartingale that starts at 1: Ville's inequality (1939). It is a
    mixture over the step at which the promise broke, so that a fall after a long good history is found.

    Parameters
    ----------
    doubt
        How the bets stand.
    wrong
        Whether each label says "wrong", (labels,), or (labels, ...) for streams that go on together.
    allowed
        The error rate that is promised.

    Examples
    --------
    >>> labels = np.arange(240) >= 200  # wrong from the 200th on
    >>> after, log_evidence = doubted(Doubt.new(), labels, allowed=0.05)
    >>> int((log_evidence >= np.log(10)).argmax()) - 199  # so many wrong ones show it, with delta 0.1
    5
    """
    bad = np.asarray(wrong, dtype=bool)[..., None]
    rates = allowed + (1.0 - allowed) * _EXCESSES
    gains = np.where(bad, np.log(rates / allowed), np.log((1.0 - rates) / (1.0 - allowed)))
    run = np.cumsum(np.concatenate([doubt.run[None], gains]), axis=0)
    steps = doubt.steps + np.arange(1.0, len(bad) + 1.0).reshape(-1, *[1] * (bad.ndim - 2))
    stakes = _log_stakes(steps)[..., None] - run[:-1]
    staked = np.logaddexp.accumulate(np.concatenate([doubt.staked[None], stakes]), axis=0)
    after = Doubt(doubt.steps + len(bad), run[-1], staked[-1])
    return after, _log_total(run[1:] + staked[1:], steps)


def _log_reserve(steps: Array) -> Array:
    """Return the logarithm of what is not staked yet after so many steps."""
    later = np.log(1.0 - _AT_ONCE) - _TAIL * np.log1p(steps / _SCALE)
    return np.where(steps > 0, later, 0.0)


def _log_stakes(steps: Array) -> Array:
    """Return the logarithm of what is staked at each step, counting from 1: what the reserve loses."""
    before, after = _log_reserve(steps - 1.0), _log_reserve(steps)
    return np.asarray(before + np.log(-np.expm1(after - before)))


def _log_total(by_bet: Array, steps: Array) -> Array:
    staked = np.logaddexp.reduce(by_bet, axis=-1) - np.log(by_bet.shape[-1])
    return np.asarray(np.logaddexp(staked, _log_reserve(steps)))
