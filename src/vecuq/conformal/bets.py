r"""Bets against uniform p-values: how the evidence for drift grows, and why it rarely grows by chance.

A bet is a density :math:`f` on (0, 1): a stake turns into stake times :math:`f(p_t)` at every step, so on uniform
p-values a fortune is 1 in expectation. The densities are those of p-values whose normal score
:math:`z = \Phi^{-1}(1 - p)` is shifted by :math:`\delta` or stretched by :math:`\sigma`. Nobody knows when drift
begins, so every bet starts at every step :math:`\tau`, with the share :math:`\tau^{-1/2} - (\tau + 1)^{-1/2}` of the
stake. The sum is a martingale, and by Ville's inequality it ever reaches :math:`1 / \alpha` with probability at most
:math:`\alpha`; to have waited for :math:`t` steps costs it a factor of about :math:`t^{3/2}`, not of :math:`e^t`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array

DIRECTIONS = ("both", "up")


@dataclass(frozen=True)
class Bet:
    """One way in which p-values may stop being uniform, by its normal scores: moved, or spread out."""

    says: str
    shift: float = 0.0
    spread: float = 1.0

    def log_density(self, normal_scores: Array) -> Array:
        """Return the logarithm of what a stake of 1 turns into."""
        z, sigma = normal_scores, self.spread
        return np.asarray(0.5 * z**2 - 0.5 * ((z - self.shift) / sigma) ** 2 - np.log(sigma))


_UP = tuple(Bet("higher", shift=size) for size in (0.25, 0.5, 1.0, 2.0))
_DOWN = tuple(Bet("lower", shift=-size) for size in (0.25, 0.5, 1.0, 2.0))
_SPREAD = (Bet("more spread out", spread=2.0), Bet("less spread out", spread=0.5))


def bets_on(direction: str) -> tuple[Bet, ...]:
    """Return the bets on scores that grow (``"up"``), or that change in any way (``"both"``)."""
    return _UP if direction == "up" else (*_UP, *_DOWN, *_SPREAD)


@dataclass(frozen=True)
class Fortune:
    r"""How the bets on one stream stand, in logarithms: enough to go on, to the last bit.

    With :math:`L` the sum of log densities, the value of what has been staked so far is
    :math:`e^{L_t} \sum_\tau \pi_\tau e^{-L_{\tau - 1}}`: the second factor is kept in ``staked``.
    """

    steps: int
    run: Array  # (bets,), L
    staked: Array  # (bets,)
    lowest: Array  # (bets,), the least L before any step: the best moment to have started
    started: NDArray[np.int64]  # (bets,), the row of that step

    @staticmethod
    def new(n_bets: int) -> Fortune:
        """Return the state before any step."""
        zero = np.zeros(n_bets)
        return Fortune(0, zero, np.full(n_bets, -np.inf), np.full(n_bets, np.inf), np.zeros(n_bets, dtype=np.int64))


@dataclass(frozen=True)
class Played:
    """What some steps came to: the log fortune after each of them, by bet and in all, and where each bet began."""

    after: Fortune
    log_total: Array  # (steps,)
    log_by_bet: Array  # (steps, bets)
    started: NDArray[np.int64]  # (steps, bets)


def play(fortune: Fortune, p: Array, rows: NDArray[np.int64], bets: tuple[Bet, ...]) -> Played:
    """Go on from ``fortune`` through p-values that are uniform unless something drifts; ``rows`` numbers them.

    **Assumption.** Without drift the p-values are independent and uniform, as :func:`vecuq.conformal.uniform_ranks`
    makes them.

    **Promise.** Without drift the total fortune ever reaches 1 / alpha with probability at most alpha.

    **Theorem.** The fortune is a nonnegative martingale that starts at 1: Ville's inequality (1939).
    """
    gains = _log_gains(p, bets)
    run = np.cumsum(np.concatenate([fortune.run[None], gains]), axis=0)
    before, after = run[:-1], run[1:]
    steps = fortune.steps + np.arange(1, len(p) + 1)
    stakes = np.log(1.0 / np.sqrt(steps) - 1.0 / np.sqrt(steps + 1.0))[:, None] - before
    staked = np.logaddexp.accumulate(np.concatenate([fortune.staked[None], stakes]), axis=0)
    lowest = np.minimum.accumulate(np.concatenate([fortune.lowest[None], before]), axis=0)
    by_bet = after + staked[1:] - np.log(len(bets))
    in_reserve = -0.5 * np.log(steps + 1.0)
    total = np.logaddexp.reduce(np.concatenate([in_reserve[:, None], by_bet], axis=1), axis=1)
    started = _rows_of_lowest(fortune.started, lowest, rows)
    end = Fortune(fortune.steps + len(p), run[-1], staked[-1], lowest[-1], started[-1])
    return Played(end, total, by_bet, started[1:])


def _log_gains(p: Array, bets: tuple[Bet, ...]) -> Array:
    from scipy.special import ndtri

    # A draw of exactly 0 or 1 must not make a fortune infinite.
    normal_scores = -ndtri(np.clip(p, 2.0**-60, 1.0 - 2.0**-53))
    return np.stack([bet.log_density(normal_scores) for bet in bets], axis=1)


def _rows_of_lowest(first: NDArray[np.int64], lowest: Array, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, before the steps and after each, the row at which each bet would best have started."""
    fell = np.where(lowest[1:] < lowest[:-1], rows[:, None], np.int64(-1))
    return np.asarray(np.maximum.accumulate(np.concatenate([first[None], fell]), axis=0))
