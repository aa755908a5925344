"""What a metric can be, at least and at most, where rows of similar uncertainty were counted together.

Inside a cell the order of the rows is not known. Every metric of the registry moves one way when two neighbours change
places, the one of higher target going first. So it is lowest and highest where the rows of each cell come sorted by
their target, one way or the other, and the truth lies between, ties included. Targets lie in [0, 1]: rows whose targets
add up to s are at most as good as s rows of target 1 before rows of target 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq.evaluation.inputs import Kernel
from vecuq.evaluation.many_rows import ManyRows
from vecuq.evaluation.registry import Metric

# What rounding of sums may add to a bound.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Sorted:
    """Cells of rows, lowest first: how many there are, and the sum of their targets in [0, 1]."""

    rows: Array  # (cells,)
    target: Array  # (cells,)

    def tally(self, ideal: ManyRows | None = None) -> ManyRows:
        """Return the cells as groups of rows in random order."""
        return ManyRows(self.rows[:, None], self.target[:, None], ideal)

    def backwards(self) -> Sorted:
        """Return the cells in the other order."""
        return Sorted(self.rows[::-1], self.target[::-1])

    def high_first(self) -> Sorted:
        """Return the rows of each cell with those of high target first: ones, at most one between, zeros."""
        whole = np.floor(self.target)
        part = self.target - whole
        rows = np.stack([whole, np.ceil(part), self.rows - np.ceil(self.target)], axis=1)
        return Sorted(rows.ravel(), np.stack([whole, part, np.zeros_like(part)], axis=1).ravel())

    def low_first(self) -> Sorted:
        """Return the rows of each cell with those of low target first."""
        return self.backwards().high_first().backwards()


@dataclass(frozen=True, eq=False)
class Ideal:
    """The best order of all rows, and how far its sums may lie above those of these cells."""

    low: ManyRows
    high: ManyRows
    rounded: float = 0.0  # how far one target may lie from what was counted

    @staticmethod
    def of_labels(n_low: float, n_high: float) -> Ideal:
        """Return all rows of target 1 before all of target 0."""
        best = Sorted(np.array([n_high, n_low]), np.array([n_high, 0.0])).tally()
        return Ideal(best, best)


def bounds_of(metric: Metric, cells: Sorted, ideal: Ideal, *, exact: bool) -> tuple[float, float, float]:
    """Return a metric with cells in random order, and the lowest and highest that it can be in any order of the cells.

    With ``exact`` every cell holds equal uncertainties only, so that nothing is open but the ideal.
    """
    value = _of(metric.kernel, cells, ideal.low)
    if exact and ideal.low is ideal.high:
        return value, value, value
    # Detection has its positive rows last, selection its good rows first; which is better does not matter here.
    orders = [cells] if exact else [cells.low_first(), cells.high_first()]
    found = [_of(metric.kernel, order, best) for order in orders for best in (ideal.low, ideal.high)]
    slack = _ROUNDING + _rounded(ideal, metric.max_rejection)
    return value, min(value, *found) - slack, max(value, *found) + slack


def _of(kernel: Kernel, cells: Sorted, ideal: ManyRows) -> float:
    return float(kernel(cells.tally(ideal))[0])


def _rounded(ideal: Ideal, max_rejection: float) -> float:
    """Return how much rounded targets may change a ratio of gains: gain and chance are off by one rounding each."""
    if not ideal.rounded:
        return 0.0
    best = ideal.low
    points = np.floor(max_rejection * best.n + 1e-9)
    most = float((best.mean_sum_beyond(best.n - points) - points * best.target_sum / best.n)[0])
    return 4.0 * ideal.rounded * float(points[0]) / most if most > 0 else np.inf
