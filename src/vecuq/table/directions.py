"""Which columns fall as the others rise: rank correlations, and the side on which each column stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from vecuq._check import Array, finite_rows

# A rank correlation nearer to 0 may well be that of two uncertainties of different kinds; between a column and no more
# than one other, or two sides of equal size, even more so.
MARGIN, EVEN_MARGIN = 0.3, 0.5
# Chance of one wrong suspicion among independent columns, at most about this.
_CHANCE = 1e-4
_FEWEST_ROWS = 20


@dataclass(frozen=True)
class Directions:
    """On which side columns stand, by their number, with the rank correlation to the mean rank of the larger side."""

    against: dict[int, float] = field(default_factory=dict)
    along: dict[int, float] = field(default_factory=dict)
    is_even: bool = False  # nothing says which of the two sides is the reversed one


def against_the_others(rows: Array, *, trusted: Sequence[bool]) -> Directions:
    """Find the columns that fall as the majority of the ``trusted`` ones rises.

    The leading eigenvector of the rank correlations splits the columns in two sides; columns that hardly correlate
    with the others have no vote. Of two equal sides, that of the first column counts as the majority.
    """
    complete = np.asarray(rows[finite_rows(rows)], dtype=float)
    if len(complete) < _FEWEST_ROWS:
        return Directions()
    varying = [int(k) for k in np.flatnonzero(complete.min(axis=0) < complete.max(axis=0))]
    if len(varying) < 2:
        return Directions()
    placed = _standard_ranks(complete[:, varying])
    least = max(MARGIN, _beyond_chance(len(complete), len(varying)))
    sides, votes = _sides(placed, least), np.array([float(trusted[k]) for k in varying])
    majority = float(sides @ votes)
    sides = sides if majority >= 0 else -sides
    leading = np.maximum(sides * votes, 0.0)
    leading = leading if leading.any() else np.maximum(sides, 0.0)
    rho = {k: _related(placed, j, leading) for j, k in enumerate(varying)}
    margin = least if majority else max(least, EVEN_MARGIN)
    return Directions(
        against={k: rho[k] for j, k in enumerate(varying) if sides[j] < 0 and rho[k] < -margin},
        along={k: rho[k] for j, k in enumerate(varying) if sides[j] > 0},
        is_even=majority == 0,
    )


def _standard_ranks(values: Array) -> Array:
    """Return ranks, ties sharing their mean, with mean 0 and length 1 in every column."""
    ranks = np.column_stack([_ranks(column) for column in values.T])
    centred = ranks - ranks.mean(axis=0)
    return np.asarray(centred / np.linalg.norm(centred, axis=0))


def _ranks(column: Array) -> Array:
    _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1))[place.ravel()])


def _sides(placed: Array, least: float) -> Array:
    """Return 1 or -1 for the side of each column, 0 where it correlates with the others by less than ``least``."""
    leading = np.sign(np.linalg.eigh(placed.T @ placed)[1][:, -1])
    related = np.array([_related(placed, k, leading) for k in range(placed.shape[1])])
    sides = np.where(np.abs(related) > least, np.sign(related), 0.0)
    # The sign of an eigenvector means nothing: the first column with a side is on side 1.
    return np.asarray(sides * (sides[np.argmax(sides != 0)] or 1.0))


def _related(placed: Array, column: int, weights: Array) -> float:
    """Return the rank correlation of a column with the weighted mean rank of the others."""
    others = weights.copy()
    others[column] = 0.0
    mean = placed @ others
    if mean.min() == mean.max():
        return 0.0
    return float(np.clip(placed[:, column] @ _standard_ranks(mean[:, None])[:, 0], -1.0, 1.0))


def _beyond_chance(n_rows: int, n_columns: int) -> float:
    """Return the rank correlation that independent columns do not reach, whichever sides they are put on."""
    from scipy.special import ndtri

    # Of 2^(m - 1) ways to choose sides, the one that agrees best was taken, and then each column is looked at.
    return float(-ndtri(_CHANCE / (n_columns * 2.0 ** (n_columns - 1))) / np.sqrt(n_rows - 1))
