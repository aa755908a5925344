"""Rows that nearly repeat each other, wherever they stand in the table: found by the distances to neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.doctor.repeats import Keys
from vecuq.doctor.statistics import ranks

# Groups of up to so many rows are seen.
_MOST_NEIGHBOURS = 32
# Fewer groups than this are modes of one law as well.
_FEWEST_GROUPS = 20
# Neighbours are sought of so many rows, among so many.
_MOST_CHOSEN, _MOST_AMONG = 2_000, 200_000
# A column with fewer different values makes steps of its own.
_FEWEST_VALUES = 0.9
# Independent rows of nineteen laws and 41 tables of real scores stayed below 1.5.
_CLEAR_STEP = 2.0
# What a row must show to count as one of a group of the usual size: one in twenty independent rows does.
_STEP_OF_ROW = 3.0
# What it must show to count as one of a group of any size: one in a hundred does.
_CLEAR_ROW = float(np.log(_MOST_NEIGHBOURS / 0.01))


@dataclass(frozen=True)
class NearCopies:
    """Groups of rows that are much closer to each other than to all others."""

    group: int  # the usual number of rows in a group
    share: float  # of the rows that belong to one
    design_effect: float  # the mean, over rows, of the size of the row's group


def find_near_copies(values: Array, keys: Keys, seed: int = 0) -> NearCopies | None:
    """Return the groups, or None if the distances are those of independent rows; equal rows count once.

    In d dimensions, ``j d log(r_{j+1} / r_j)`` of the distances ``r_j`` to the j-th neighbour is exponential with
    mean 1 for every j, whatever the density. If rows come in groups of c, it is large at ``j = c - 1``.
    """
    points = _places(values[np.unique(keys[:_MOST_AMONG], return_index=True)[1]])
    n = len(points)
    most = min(_MOST_NEIGHBOURS, n // _FEWEST_GROUPS)
    if points.shape[1] < 2 or most < 3:
        return None
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(seed)
    chosen = rng.choice(n, min(n, _MOST_CHOSEN), replace=False)
    distances = cKDTree(points).query(points[chosen], k=most + 2)[0][:, 1:]
    steps = np.arange(1, most + 1) * np.diff(np.log(np.maximum(distances, 1e-300)), axis=1)
    usual = float(np.median(steps.mean(axis=0)))
    # A few rows far out must not speak for all.
    profile = np.minimum(steps, _CLEAR_ROW * usual).mean(axis=0)
    if not usual > 0 or profile.max() < _CLEAR_STEP * usual:
        return None
    sizes = _sizes(steps / usual, int(profile.argmax()))
    if not (sizes > 1).any():
        return None
    return NearCopies(int(np.median(sizes[sizes > 1])), float((sizes > 1).mean()), float(sizes.mean()))


def _sizes(steps: Array, peak: int) -> NDArray[np.intp]:
    """Return the size of each row's group: the usual one where the row has a step there, its own if it is clearer."""
    alone = np.where(steps.max(axis=1) > _CLEAR_ROW, steps.argmax(axis=1) + 2, 1)
    return np.where(steps[:, peak] > _STEP_OF_ROW, peak + 2, alone)


def _places(rows: Array) -> Array:
    """Return the rows by the ranks of their values, in columns that hold many different ones."""
    many = [k for k, column in enumerate(rows.T) if len(np.unique(column)) >= _FEWEST_VALUES * len(rows)]
    return ranks(rows[:, many]) / max(1, len(rows)) if many else rows[:, :0]
