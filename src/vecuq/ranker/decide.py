"""From scores to decisions: conformal p-values, flags at a false-alarm rate, selections at a false-discovery rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, one_of
from vecuq.errors import SettingError

if TYPE_CHECKING:
    Seed: TypeAlias = int | np.random.Generator | None

__all__ = [
    "SELECTIONS",
    "TIES",
    "after",
    "around",
    "conformal_p_values",
    "deliverable",
    "flagged",
    "largest_selected",
    "last_equal",
    "luck_of",
    "seed_of",
    "selected",
    "threshold_at",
]

TIES = ("conservative", "randomised")
SELECTIONS = ("bh", "by", "none")
# An alpha of 0.1 and a p-value of 5 / 50 must meet, although neither is a binary fraction.
_SLACK = 1e-12
# Other processors add in another order, which changes the last digits of a score. Equal rows must stay equal there.
_HAIR = 1e-9


def around(scores: Array) -> tuple[Array, Array]:
    """Return every score a hair lower and a hair higher, (rows,) each: what lies between counts as equal to it.

    A hair is 1e-9 of the size of the score.

    Examples
    --------
    >>> lower, higher = around(np.array([0.0, 2.0]))
    >>> lower < 2 - 1e-10, higher > 2 + 1e-10
    (array([ True,  True]), array([False,  True]))
    """
    sign = np.sign(scores)
    with np.errstate(over="ignore"):
        return scores * (1.0 - _HAIR * sign), scores * (1.0 + _HAIR * sign)


def last_equal(scores: Array) -> Array:
    """Return the largest number that counts as equal to each score: those above it, and no others, exceed it.

    Examples
    --------
    >>> top = last_equal(np.array([2.0]))
    >>> around(top)[0] <= 2.0, around(np.nextafter(top, np.inf))[0] <= 2.0
    (array([ True]), array([False]))
    """
    last = np.asarray(around(scores)[1], dtype=float)
    # A hair of the one is not quite a hair of the other: at most a few steps either way.
    while (far := around(last)[0] > scores).any():
        last = np.where(far, np.nextafter(last, -np.inf), last)
    while (near := (last < np.inf) & (around(after(last))[0] <= scores)).any():
        last = np.where(near, after(last), last)
    return last


def after(numbers: Array) -> Array:
    """Return the next larger number of each; infinity after the largest."""
    with np.errstate(over="ignore"):
        return np.nextafter(numbers, np.inf)


def conformal_p_values(scores: Array, calibration: Array, luck: Array | None = None) -> Array:
    """Return ``p = (1 + #{calibration > score} + ties) / (n + 1)`` for every score; NaN for NaN.

    Scores that differ by less than :func:`around` allows are ties.

    Parameters
    ----------
    scores
        Scores of new rows, (rows,).
    calibration
        Scores of held-back rows, increasing.
    luck
        One number in [0, 1) per row, which says how many of its ties count; None counts them all against the row.

    Examples
    --------
    >>> conformal_p_values(np.array([0.5, 2.0, 9.0]), np.array([1.0, 2.0, 3.0]))
    array([1.  , 0.75, 0.25])
    """
    n = len(calibration)
    lower, higher = around(scores)
    counted = n - np.searchsorted(calibration, lower, side="left")
    if luck is not None:
        above = n - np.searchsorted(calibration, higher, side="right")
        counted = above + np.floor(luck * (counted - above + 1.0))
    return np.where(np.isnan(scores), np.nan, (1.0 + counted) / (n + 1.0))


def luck_of(ties: str, n_rows: int, random_state: Seed) -> Array | None:
    """Return the draws that break ties at random, one per row in the order of the rows; None to count every tie.

    A whole number gives every call the same draws, and so does None; a Generator goes on where it stopped.
    """
    if one_of("ties", ties, TIES) == "conservative":
        return None
    if isinstance(random_state, np.random.Generator):
        return random_state.random(n_rows)
    return np.random.default_rng(seed_of(random_state)).random(n_rows)


def seed_of(random_state: Seed) -> int:
    """Return one seed for several calls that must share their luck; a Generator gives a new one every time."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if random_state is None:
        return 0
    if isinstance(random_state, bool | np.bool_) or not isinstance(random_state, int | np.integer) or random_state < 0:
        raise SettingError(
            f"random_state must be None, a whole number of at least 0 or a numpy Generator; got {random_state!r}."
        )
    return int(random_state)


def deliverable(alpha: object, n_held: int, *, method: str = "none", n_rows: int = 1) -> float:
    """Return ``alpha`` if some p-value can be that small; otherwise say which alpha can be had from so many rows."""
    asked = in_range("alpha", alpha, 0.0, 1.0, ends="()")
    price = _price(method, n_rows)
    if asked * (n_held + 1) >= price * (1 - 1e-9):
        return asked
    least = price / (n_held + 1)
    of_batch = f" with method='by' over {n_rows:,} rows" if method == "by" else ""
    allowed = f"allow alpha={least:.4g} or more." if least < 1 else "allow none. Use method='bh'."
    raise SettingError(
        f"alpha={asked:g}{of_batch} needs at least {int(np.ceil(price / asked - 1 - 1e-9)):,} held-back rows; "
        f"this ranker has {n_held:,}, which {allowed}"
    )


def threshold_at(calibration: Array, alpha: float) -> float:
    """Return the number above which, and only there, a score has a p-value of at most ``alpha``.

    Infinite where no score has so small a p-value, for want of rows.

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
    """Return which rows are flagged; one without a p-value is, for nothing says that it is in-distribution."""
    return np.asarray(~(p_values > alpha * (1 + _SLACK)))


def selected(p_values: Array, alpha: float, method: str = "bh") -> NDArray[np.bool_]:
    """Return which rows of a batch are selected, by the step-up rule; one without a p-value is no test and is not.

    Examples
    --------
    >>> selected(np.array([0.01, 0.04, 0.03, 0.9]), alpha=0.1)
    array([ True,  True,  True, False])
    """
    values, counts = np.unique(p_values[~np.isnan(p_values)], return_counts=True)
    return np.asarray(p_values <= largest_selected(values, counts, alpha, method))


def largest_selected(values: Array, counts: NDArray[np.intp], alpha: float, method: str = "bh") -> float:
    """Return the largest p-value that the step-up rule selects, 0 if none; equal p-values share one fate.

    Parameters
    ----------
    values
        The different p-values of a batch, increasing.
    counts
        How many rows have each of them.
    alpha
        Wanted false-discovery rate; with ``method="none"``, false-alarm rate.
    method
        ``"bh"``, ``"by"`` or ``"none"``; see :meth:`vecuq.Ranker.select`.

    Examples
    --------
    >>> largest_selected(np.array([0.01, 0.04, 0.9]), np.array([1, 2, 1]), alpha=0.1)
    0.04
    """
    one_of("method", method, SELECTIONS)
    through = np.cumsum(counts)
    n_rows = int(through[-1]) if len(through) else 0
    steps = np.ones(len(through)) if method == "none" else through / max(n_rows, 1)
    passed = np.flatnonzero(values <= alpha / _price(method, n_rows) * steps * (1 + _SLACK))
    return float(values[passed[-1]]) if len(passed) else 0.0


def _price(method: str, n_rows: int) -> float:
    """Return by how much a method divides alpha: Benjamini and Yekutieli's harmonic sum, or 1."""
    return float((1.0 / np.arange(1, n_rows + 1)).sum()) if method == "by" and n_rows else 1.0
