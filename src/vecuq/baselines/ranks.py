"""Ranks within each column, by binary search: averaged, or at their highest."""
# ruff: noqa: N801 - a combiner is called by its name in the catalogue: mean_rank().fit(...)

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.baselines.combiner import Combiner, Scorer


@dataclass(frozen=True, eq=False)
class RankCombination:
    """A row's ranks among the calibration rows, added or at their highest, brought to [0, 1]."""

    ordered: Array  # (columns, calibration rows)
    combine: np.ufunc
    most: int

    def __call__(self, rows: Array) -> Array:
        """Combine whole numbers and divide once: exact whatever the order of the columns."""
        total = np.zeros(len(rows), dtype=np.int64)
        for k, ordered in enumerate(self.ordered):
            self.combine(total, middle_place(ordered, rows[:, k]), out=total)
        return total / self.most


class mean_rank(Combiner):
    """Mean over columns of the rank among the calibration scores; in [0, 1].

    ``(1/m) sum over k of (#{c_k < s_k} + #{c_k = s_k} / 2) / n``: ties are averaged. Rows above all calibration rows in
    every column tie at 1.

    References
    ----------
    Borda, Mémoire sur les élections au scrutin (1781).

    Examples
    --------
    >>> from vecuq import baselines
    >>> calibration = [[0.0, 10.0], [1.0, 20.0], [2.0, 30.0], [3.0, 40.0]]
    >>> baselines.mean_rank().fit(calibration).uncertainty([[2.0, 99.0]])
    array([0.8125])
    """

    def _learn(self, rows: Array) -> Scorer:
        return RankCombination(sorted_columns(rows), np.add, 2 * rows.size)


class max_rank(Combiner):
    """Highest rank over the columns, among the calibration scores; in [0, 1].

    ``max over k of (#{c_k < s_k} + #{c_k = s_k} / 2) / n``: ties are averaged. Rows above all calibration rows in any
    column tie at 1.

    References
    ----------
    Fagin, Combining Fuzzy Information from Multiple Systems (1996): the standard fuzzy disjunction.

    Examples
    --------
    >>> from vecuq import baselines
    >>> calibration = [[0.0, 10.0], [1.0, 20.0], [2.0, 30.0], [3.0, 40.0]]
    >>> baselines.max_rank().fit(calibration).uncertainty([[2.0, 15.0]])
    array([0.625])
    """

    def _learn(self, rows: Array) -> Scorer:
        return RankCombination(sorted_columns(rows), np.maximum, 2 * len(rows))


def sorted_columns(rows: Array) -> Array:
    """Return the calibration scores of every column in rising order, shape (columns, rows)."""
    return np.sort(rows.T, axis=1)


def below(ordered: Array, scores: Array) -> NDArray[np.intp]:
    """Return how many calibration scores of one column are smaller, from 0 to n."""
    return np.searchsorted(ordered, scores, side="left")


def middle_place(ordered: Array, scores: Array) -> NDArray[np.intp]:
    """Return the number below plus the number not above, from 0 to 2n: twice the rank, ties shared evenly."""
    return below(ordered, scores) + np.searchsorted(ordered, scores, side="right")
