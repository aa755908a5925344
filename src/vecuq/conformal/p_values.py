r"""Conformal p-values, and the threshold that says the same in terms of scores."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, one_of
from vecuq.conformal.counting import count_below
from vecuq.conformal.ties import around, just_below, last_equal
from vecuq.errors import SettingError

Seed: TypeAlias = int | np.random.Generator | None

TIES = ("conservative", "randomised")
# An alpha of 0.1 and a p-value of 5 / 50 must meet, although neither is a binary fraction.
SLACK = 1e-12


def conformal_p_values(scores: Array, calibration: Array, draws: Array | None = None) -> Array:
    """Return ``p = (1 + #{calibration > score} + ties) / (n + 1)`` for every score; NaN for NaN.

    Scores that differ by less than :func:`around` allows are ties.

    **Assumption.** The new row and the n calibration rows are exchangeable, and none of them fitted the score.

    **Promise.** P(p <= alpha) <= alpha for every alpha, over the draw of calibration rows and new row together. For
    one given calibration set the rate is random: Beta(k, n + 1 - k) with k = floor(alpha (n + 1)), if scores do not
    tie. With ``draws`` the p-values of the rows are exactly uniform on 1/(n + 1), ..., 1.

    **Theorem.** The rank of one of n + 1 exchangeable numbers is uniform: Vovk, Gammerman and Shafer, *Algorithmic
    Learning in a Random World* (2005), prop. 2.2.

    Parameters
    ----------
    scores
        Scores of new rows, (rows,).
    calibration
        Scores of held-back rows, increasing.
    draws
        One uniform draw per row, which says how many of its ties count; None counts them all against the row.

    Examples
    --------
    >>> conformal_p_values(np.array([0.5, 2.0, 9.0]), np.array([1.0, 2.0, 3.0]))
    array([1.  , 0.75, 0.25])
    """
    n = len(calibration)
    counted = n - count_below(calibration, just_below(scores))
    if draws is not None:
        above = n - np.searchsorted(calibration, around(scores)[1], side="right")
        counted = above + np.floor(draws * (counted - above + 1.0))
    return np.where(np.isnan(scores), np.nan, (1.0 + counted) / (n + 1.0))


def tie_draws(ties: str, n_rows: int, random_state: Seed) -> Array | None:
    """Return the draws that break ties at random, one per row in the order of the rows; None to count every tie.

    A whole number gives every call the same draws, and so does None; a Generator goes on where it stopped.
    """
    if one_of("ties", ties, TIES) == "conservative":
        return None
    if isinstance(random_state, np.random.Generator):
        return random_state.random(n_rows)
    return np.random.default_rng(seed_of(random_state)).random(n_rows)


def seed_of(random_state: Seed) -> int:
    """Return one seed for several calls that must share their draws; a Generator gives a new one every time."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if random_state is None:
        return 0
    if isinstance(random_state, bool | np.bool_) or not isinstance(random_state, int | np.integer) or random_state < 0:
        raise SettingError(
            f"random_state must be None, a whole number of at least 0 or a numpy Generator; got {random_state!r}."
        )
    return int(random_state)


def threshold_at(calibration: Array, alpha: float) -> float:
    """Return the number above which, and only there, a score has a p-value of at most ``alpha``.

    Infinite where the calibration rows are too few for so small a p-value. Assumption and promise are those of
    :func:`conformal_p_values`: an in-distribution row exceeds the threshold with probability at most ``alpha``.

    Examples
    --------
    >>> threshold_at(np.array([1.0, 2.0, 3.0]), alpha=0.1)
    inf
    """
    n = len(calibration)
    # How many held-back scores may be at least as large: counted by the very comparison that flags.
    most = int(flagged(np.arange(1.0, n + 2.0) / (n + 1.0), alpha).sum()) - 1
    if most < 0 or most >= n:
        return float("inf" if most < 0 else "-inf")
    return float(last_equal(calibration[n - 1 - most : n - most])[0])


def flagged(p_values: Array, alpha: float) -> NDArray[np.bool_]:
    """Return which rows have a p-value of at most ``alpha``, or none: nothing says that those are in-distribution.

    Assumption and promise are those of :func:`conformal_p_values`, for each row by itself.
    """
    return np.asarray(~(p_values > alpha * (1 + SLACK)))
