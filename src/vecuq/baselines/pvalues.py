"""Combinations of conformal p-values, one per column.

``p_k = (1 + #{c_k >= s_k}) / (n + 1)`` over the n calibration scores c_k of column k. Ties count against the row, which
keeps each p-value valid. Beyond the largest calibration score p stays at 1 / (n + 1), so that far rows tie.
"""
# ruff: noqa: N801 - a combiner is called by its name in the catalogue: mean_rank().fit(...)

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq.baselines.combiner import Combiner, Scorer
from vecuq.baselines.ranks import below, sorted_columns


@dataclass(frozen=True, eq=False)
class SumOfLevels:
    """The sum over columns of a number that belongs to each possible p-value."""

    ordered: Array  # (columns, calibration rows)
    levels: Array  # (calibration rows + 1,), by how many calibration scores are smaller

    def __call__(self, rows: Array) -> Array:
        """Look up and add column by column; a looked-up number is the same in any batch."""
        total = np.zeros(len(rows))
        for k, ordered in enumerate(self.ordered):
            total += self.levels[below(ordered, rows[:, k])]
        return total


class fisher(Combiner):
    """Fisher's combination of conformal p-values; in [0, 2 m log(n + 1)].

    ``-2 sum over k of log p_k``, the statistic itself, with ``p_k = (1 + #{c_k >= s_k}) / (n + 1)``: ties count against
    the row. For independent columns it follows a chi-squared law with 2m degrees of freedom.

    References
    ----------
    Fisher, Statistical Methods for Research Workers (1925).

    Examples
    --------
    >>> from vecuq import baselines
    >>> calibration = [[0.0, 10.0], [1.0, 20.0], [2.0, 30.0]]
    >>> baselines.fisher().fit(calibration).uncertainty([[-1.0, 10.0], [9.0, 99.0]]).round(4)
    array([0.    , 5.5452])
    """

    def _learn(self, rows: Array) -> Scorer:
        return SumOfLevels(sorted_columns(rows), -2.0 * np.log(_p_values(len(rows))) + 0.0)


class harmonic(Combiner):
    """Harmonic mean of conformal p-values, one divided by it; in [1, n + 1].

    ``(1/m) sum over k of 1 / p_k`` with ``p_k = (1 + #{c_k >= s_k}) / (n + 1)``: ties count against the row. Robust to
    dependence between the columns.

    References
    ----------
    Wilson, The harmonic mean p-value for combining dependent tests (PNAS 2019).

    Examples
    --------
    >>> from vecuq import baselines
    >>> calibration = [[0.0, 10.0], [1.0, 20.0], [2.0, 30.0]]
    >>> baselines.harmonic().fit(calibration).uncertainty([[-1.0, 10.0], [9.0, 99.0]])
    array([1., 4.])
    """

    def _learn(self, rows: Array) -> Scorer:
        return SumOfLevels(sorted_columns(rows), 1.0 / _p_values(len(rows)) / rows.shape[1])


class cauchy(Combiner):
    """Cauchy combination of conformal p-values; between -(n + 1) / pi and (n + 1) / pi.

    ``(1/m) sum over k of tan(pi (1/2 - p_k))`` with ``p_k = (1 + #{c_k >= s_k}) / (n + 1)``: ties count against the
    row. A p-value of 1 would give minus infinity whatever the other columns say; it is taken as n / (n + 1).

    References
    ----------
    Liu and Xie, Cauchy Combination Test (JASA 2020).

    Examples
    --------
    >>> from vecuq import baselines
    >>> calibration = [[0.0, 10.0], [1.0, 20.0], [2.0, 30.0]]
    >>> baselines.cauchy().fit(calibration).uncertainty([[-1.0, 10.0], [9.0, 99.0]]).round(4)
    array([-1.,  1.])
    """

    def _learn(self, rows: Array) -> Scorer:
        n = len(rows)
        capped = np.minimum(_p_values(n), n / (n + 1.0))
        return SumOfLevels(sorted_columns(rows), np.tan(np.pi * (0.5 - capped)) / rows.shape[1])


def _p_values(n: int) -> Array:
    """Return the conformal p-value of a score with 0, 1, ... n calibration scores below it."""
    return np.arange(n + 1.0, 0.0, -1.0) / (n + 1.0)
