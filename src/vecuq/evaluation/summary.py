"""SummaryEvaluation: every metric of every method from counts, each with how far the counts leave it open."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from vecuq._check import one_of
from vecuq._draw import Sheet, fragment
from vecuq.evaluation.calibration import Calibration
from vecuq.evaluation.registry import Metric
from vecuq.evaluation.sheets import TITLES, calibration_sheet

# A smaller error is rounding, and not printed.
_TOO_SMALL = 1e-9


@dataclass(frozen=True)
class Bounded:
    """A number from a summary, between what it is at least and at most; and its interval.

    Parameters
    ----------
    value
        The number with the rows of a cell in random order; NaN if there is none.
    lowest, highest
        The exact number lies between these: what the summary left out cannot move it further.
    low, high
        The ends of its interval: where other rows could have put it. NaN if there is none.
    n
        Rows it was computed on.
    reason
        In one line, why value or interval is missing.

    Examples
    --------
    >>> print(Bounded(0.92, 0.919999, 0.920001, 0.91, 0.93, 10**9))
    0.920000 ± 1e-06 [0.910, 0.930]
    """

    value: float
    lowest: float
    highest: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    reason: str | None = None

    @property
    def error(self) -> float:
        """How far the exact number may lie from the value, at most; 0 where the summary lost nothing."""
        return max(self.highest - self.value, self.value - self.lowest)

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        """Return the value with as many digits as its error allows, at least as many as wanted."""
        interval = "" if math.isnan(self.low) else f" [{self.low:.3f}, {self.high:.3f}]"
        if self.error < _TOO_SMALL:
            return f"{self.value:{spec or '.3f'}}{interval}"
        digits = min(max(3, math.ceil(-math.log10(self.error))), 6)
        return f"{self.value:.{digits}f} ± {_up(self.error)}{interval}"

    def __str__(self) -> str:
        return format(self)


def _up(error: float) -> str:
    """Return one digit of a bound, rounded up; what rounds to it within a millionth is it."""
    unit = 10.0 ** math.floor(math.log10(error))
    return f"{math.ceil(error / unit - 1e-6) * unit:.0e}"


@dataclass(frozen=True, eq=False)
class SummaryEvaluation:
    """Every metric of every method, from a summary; made by :meth:`PartialEvaluation.evaluate`.

    Parameters
    ----------
    methods, metrics
        What was evaluated.
    found
        One number for each of both.
    n_rows, n_left_out, without_score
        As in :class:`Evaluation`.
    calibration, calibration_error
        How well a probability of being wrong agrees with the labels, and how far its ``ece`` may be off; None and 0
        without one.
    level
        The level of the intervals; None if none were wanted.
    flipped
        Methods that came as a confidence.
    """

    methods: tuple[str, ...]
    metrics: tuple[Metric, ...]
    found: dict[tuple[str, str], Bounded]
    n_rows: int
    n_left_out: int
    without_score: dict[str, int]
    calibration: Calibration | None = None
    calibration_error: float = 0.0
    level: float | None = None
    flipped: tuple[str, ...] = ()

    def estimate(self, method: str, key: str) -> Bounded:
        """Return one metric of one method, such as ``"error roc_auc"``."""
        one_of("method", method, self.methods)
        one_of("key", key, [metric.key for metric in self.metrics])
        return self.found[method, key]

    @property
    def error(self) -> float:
        """The largest error of any number."""
        return max((one.error for one in self.found.values() if not math.isnan(one.value)), default=0.0)

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain row per method and metric, as :meth:`Evaluation.rows` does, with lowest and highest."""
        return [
            {"method": method, "task": metric.task, "metric": metric.name, **vars(self.found[method, metric.key])}
            for method in self.methods
            for metric in self.metrics
        ]

    def below_chance(self) -> tuple[str, ...]:
        """Return the methods whose whole intervals are worse than chance on every metric that knows chance."""
        known = [metric for metric in self.metrics if metric.chance is not None]
        return tuple(name for name in self.methods if known and all(self._is_below(name, one) for one in known))

    def _is_below(self, method: str, metric: Metric) -> bool:
        found = self.found[method, metric.key]
        highest = found.highest if math.isnan(found.high) else found.high
        return metric.chance is not None and highest < metric.chance

    def sheets(self) -> tuple[Sheet, ...]:
        """Return one table per task: a line per method, a column per metric, with errors and intervals."""
        tasks = dict.fromkeys(metric.task for metric in self.metrics)
        made = tuple(self._sheet(task) for task in tasks)
        return made if self.calibration is None else (*made, calibration_sheet(self.calibration))

    def _sheet(self, task: str) -> Sheet:
        chosen = [metric for metric in self.metrics if metric.task == task]
        rows = tuple(
            {"score": method} | {one.name: self._cell(method, one.key) for one in chosen} for method in self.methods
        )
        n = self.found[self.methods[0], chosen[0].key].n
        down = {one.name: one.higher_is_better for one in chosen}
        return Sheet(task, f"{TITLES[task]} ({n:,} rows)", rows, down=down)

    def _repr_html_(self) -> str:
        from vecuq.evaluation.displays import evaluation_section

        return fragment("", [evaluation_section(self)])

    def _cell(self, method: str, key: str) -> Bounded | None:
        found = self.found[method, key]
        return None if math.isnan(found.value) else found
