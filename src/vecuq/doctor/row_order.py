"""The order of the rows: whether neighbours are alike, rows are sorted, or later rows differ from earlier ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq.doctor.rates import Dependence
from vecuq.doctor.statistics import ranks

# Of shuffled rows, one table in 30,000 is beyond four standard errors.
_CLEAR, _MATTERS = 4.0, 0.1
_SORTED = 0.98
# The upper tails in which exceedances are counted: thresholds lie there.
_TAILS = (0.1, 0.2)


@dataclass(frozen=True)
class RowOrder:
    """What the order of the rows shows."""

    sorted_by: str  # the column by which the rows are sorted, or ""
    trend: float  # rank correlation of the score with the row number
    is_drifting: bool  # whether the trend is more than alike neighbours explain
    next_row: float  # rank correlation from one row to the next, where it is largest
    which: str  # there: a column, or "uncertainty"
    is_alike: bool  # whether chance does not explain it
    dependence: Dependence  # of scores above a threshold
    every: int  # as many rows say as much as one


def see_order(scores: Array, columns: dict[str, Array]) -> RowOrder:
    """Look at the score and the columns, in the order in which the rows came."""
    n, number = len(scores), np.arange(float(len(scores)))
    placed = {"uncertainty": ranks(scores), **{name: ranks(column) for name, column in columns.items()}}
    trends = {name: _correlation(column, number) for name, column in placed.items()}
    sorted_by = next((name for name in columns if abs(trends[name]) > _SORTED), "")
    flat = {name: column - _trend(column, number) for name, column in placed.items()}
    trend, spread = trends["uncertainty"], summed(autocorrelations(flat["uncertainty"]))
    drifting = abs(trend) > max(_MATTERS, _CLEAR * np.sqrt(spread / n))
    seen = flat if drifting else placed
    steps = {name: float(autocorrelations(column)[1]) for name, column in seen.items()}
    which = max(steps, key=lambda name: steps[name])
    related = _in_the_tail(seen["uncertainty"])
    return RowOrder(
        sorted_by,
        trend,
        bool(drifting),
        steps[which],
        which,
        bool(steps[which] > max(_MATTERS, _CLEAR / np.sqrt(n))),
        Dependence(summed(related), _likeness(related)),
        int(np.ceil(summed(autocorrelations(seen["uncertainty"])))),
    )


def _correlation(placed: Array, number: Array) -> float:
    """Return the correlation with the row number; 0 for a constant column."""
    return float(np.corrcoef(placed, number)[0, 1]) if np.ptp(placed) > 0 else 0.0


def _trend(placed: Array, number: Array) -> Array:
    return np.asarray(np.polyval(np.polyfit(number, placed, 1), number))


def _in_the_tail(scores: Array) -> Array:
    """Return the autocorrelations of being among the highest scores, where thresholds lie."""
    highest = [(scores > np.quantile(scores, 1 - tail)).astype(float) for tail in _TAILS]
    return np.asarray(np.mean([autocorrelations(kept) for kept in highest], axis=0))


def autocorrelations(values: Array) -> Array:
    """Return the correlation of a column with itself, shifted by 0, 1, ... rows, up to a quarter of them.

    Examples
    --------
    >>> autocorrelations(np.array([0.0, 1.0] * 8)).round(2)
    array([ 1., -1.,  1., -1.,  1.])
    """
    centred = np.asarray(values, dtype=float) - np.mean(values)
    n, most = len(centred), len(centred) // 4
    if not centred.any():
        return np.zeros(most + 1)
    power = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    products = np.fft.irfft(power, 2 * n)[: most + 1] / np.arange(n, n - most - 1, -1)
    return np.asarray(products / products[0])


def summed(related: Array) -> float:
    """Return 1 + 2 (sum of the autocorrelations), up to the first pair that is not positive (Geyer 1992)."""
    return 1.0 + 2.0 * float(_positive(related).sum())


def _positive(related: Array) -> Array:
    """Return the autocorrelations from one row on, up to the first pair that is not positive."""
    pairs = related[1:-1:2] + related[2::2]
    ends = np.flatnonzero(pairs <= 0)
    return related[1 : 1 + 2 * int(ends[0] if len(ends) else len(pairs))]


def _likeness(related: Array) -> float:
    """Return how much rows that belong together resemble each other: the mean of the autocorrelations, by themselves.

    Rows that are far apart in a series belong together less, and resemble each other less.
    """
    near = np.clip(_positive(related), 0.0, 1.0)
    return float((near**2).sum() / near.sum()) if near.any() else 0.0
