r"""Which column did it: contributions that, with one constant, add up to the score.

With b the calibration medians and u the score, the game is :math:`v(S) = u(s_S, b_{-S})`: the columns in S at their own
values, the others at their medians. The Shapley values of this game add up to :math:`u(s) - u(b)`; a column without
influence gets 0, columns that play the same part share alike (docs/adr/0021).
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._run import spans
from vecuq.errors import SettingError
from vecuq.transport import MAX_COLUMNS

METHODS = ("auto", "shapley", "gradient")
Score = Callable[[Array], Array]
# 2 ** 12 scores per row are as many as anybody will wait for.
MOST_COLUMNS = 12
# Points that are scored at once; bounds the memory.
_AT_ONCE = 2**19
# Two Gauss-Legendre nodes on [0, 1], of equal weight.
_NODES = (0.5 - 0.5 / np.sqrt(3.0), 0.5 + 0.5 / np.sqrt(3.0))
_STEP = 1e-4


def contributions_of(score: Score, rows: Array, centre: Array, players: list[int], method: str) -> Array:
    """Return contributions, (rows, columns), of the columns that play; 0 in the others, which stay at the centre."""

    def score_of(points: Array) -> Array:
        moved = np.tile(centre, (len(points), 1))
        moved[:, players] = points
        return score(moved)

    exactly = method == "shapley" or (method == "auto" and len(players) <= MAX_COLUMNS)
    values_of = shapley_values if exactly else gradient_values
    out = np.zeros(rows.shape)
    out[:, players] = values_of(score_of, np.asarray(rows[:, players], dtype=float), centre[players])
    return out


def shapley_values(score: Score, rows: Array, centre: Array) -> Array:
    """Return exact Shapley values, (rows, columns), from 2 ** columns scores per row.

    Examples
    --------
    >>> shapley_values(lambda rows: rows[:, 0] + 10 * rows[:, 1] * rows[:, 2], np.ones((1, 3)), np.zeros(3))
    array([[1., 5., 5.]])
    """
    m = rows.shape[1]
    if m > MOST_COLUMNS:
        raise SettingError(
            f"Exact contributions of {m} columns take 2 ** {m} scores per row; {MOST_COLUMNS} columns are the limit. "
            f"Use method='gradient'."
        )
    members = (np.arange(2**m)[:, None] >> np.arange(m)) & 1 == 1
    out = np.empty(rows.shape)
    for span in spans(len(rows), max(1, _AT_ONCE // 2**m)):
        points = np.where(members[:, None, :], rows[span], centre)
        values = score(points.reshape(-1, m)).reshape(len(members), -1)
        for k in range(m):
            out[span, k] = _average_step(values, members, k)
    return out


def _average_step(values: Array, members: NDArray[np.bool_], k: int) -> Array:
    """Return what column k adds to the sets without it, weighted by how often each precedes it in a random order."""
    m, total = members.shape[1], np.zeros(values.shape[1])
    # Added one after the other: NumPy's own sums round differently for one row than for many.
    for before in np.flatnonzero(~members[:, k]):
        size = int(members[before].sum())
        total += (values[before + 2**k] - values[before]) * (factorial(size) * factorial(m - 1 - size) / factorial(m))
    return total


def gradient_values(score: Score, rows: Array, centre: Array) -> Array:
    """Return Aumann-Shapley values, (rows, columns): slopes along the straight way from the centre to the row.

    The slopes are differences at two points of the way, 2 * (columns + 1) scores per row; what they miss of the score
    is shared in proportion to their size, so that the sum is exact here too.
    """
    out = np.empty(rows.shape)
    for span in spans(len(rows), max(1, _AT_ONCE // (rows.shape[1] + 1))):
        out[span] = _made_whole(_slopes(score, rows[span], centre), score, rows[span], centre)
    return out


def _slopes(score: Score, rows: Array, centre: Array) -> Array:
    way, m = rows - centre, rows.shape[1]
    # No bump, then one column after the other a step further along its own way.
    bumps = np.concatenate([np.zeros((1, m)), _STEP * np.eye(m)])
    total = np.zeros(rows.shape)
    for node in _NODES:
        points = centre + (node + bumps[:, None, :]) * way
        values = score(points.reshape(-1, m)).reshape(m + 1, -1)
        total += 0.5 * ((values[1:] - values[0]) / _STEP).T
    return total


def _made_whole(slopes: Array, score: Score, rows: Array, centre: Array) -> Array:
    left = score(rows) - score(centre[None]) - _row_sums(slopes)
    share = np.abs(slopes)
    # Where no slope shows, whatever moved shares alike.
    share = np.where((_row_sums(share) > 0)[:, None], share, (rows != centre).astype(float))
    total = _row_sums(share)
    return np.asarray(slopes + share * (left / np.where(total > 0, total, 1.0))[:, None])


def _row_sums(values: Array) -> Array:
    total = np.zeros(len(values))
    for column in values.T:
        total += column
    return total
