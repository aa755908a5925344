"""PartialEvaluation: labelled rows counted, part by part, in a summary that gives every metric with a stated error."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, number, whole_number
from vecuq._files import tensor_bytes, write_tensors
from vecuq.conformal import FEWEST_CELLS, MOST_CELLS, MOST_COUNTED, Cells
from vecuq.errors import SettingError, TableError
from vecuq.evaluation.adding_up import AddingUp
from vecuq.evaluation.bootstrap import Bootstrap
from vecuq.evaluation.calibration import checked_probability
from vecuq.evaluation.curves import SelectiveCurves
from vecuq.evaluation.fixed_point import MOST_SUMMED, fixed, rounded
from vecuq.evaluation.inputs import methods_of, numbers_of, of_length
from vecuq.evaluation.registry import Metric
from vecuq.evaluation.results import Targets, targets_of
from vecuq.evaluation.summary import SummaryEvaluation

# What is counted: of each method and task, of the quality by itself, and of a probability of being wrong.
QUALITY, P_WRONG = "quality", "p_wrong"
# Which tasks share their counts.
COUNTED = {"ood": "ood", "error": "error", "selective": "error", "generation": "generation"}
COLUMNS = {"ood": 2, "error": 2, "generation": 3, QUALITY: 3, P_WRONG: 6}


class PartialEvaluation:
    """Uncertainties and labels of any number of rows, as counts that add up.

    Each method's rows are counted by cells of its uncertainty. Cells are fixed by the bits of a number, so that parts
    may be counted anywhere and added in any order: the sum is, to the last bit, what one pass over all rows gives. The
    size is bounded: about 24 bytes for each of at most ``cells`` cells, per method and task. Up to so many different
    uncertainties nothing is lost, and every metric is exact. Beyond, rows whose uncertainties agree in their first
    digits share a cell; each metric then comes with the lowest and the highest that it can be.

    Parameters
    ----------
    cells
        The largest number of cells. With the default, the error of a ROC-AUC is about 1e-5 for smooth scores.
    quality_range
        The lowest and highest possible quality; a quality beyond is refused.

    Examples
    --------
    >>> parts = [
    ...     PartialEvaluation().update([0.1, 0.4], error=[0, 0]),
    ...     PartialEvaluation().update([0.35, 0.8], error=[1, 1]),
    ... ]
    >>> found = sum(parts).evaluate(["error roc_auc"])
    >>> found.estimate("uncertainty", "error roc_auc").value
    0.75
    """

    def __init__(self, *, cells: int = MOST_CELLS, quality_range: tuple[float, float] = (0.0, 1.0)) -> None:
        self.cells = whole_number("cells", cells, FEWEST_CELLS)
        self.quality_range = _range(quality_range)
        self.methods: tuple[str, ...] = ()
        self.n_rows = 0
        self.n_left_out = 0
        self.without_score: dict[str, int] = {}
        self.counted: dict[tuple[str, str], AddingUp] = {}  # by method and what is counted

    def update(
        self, uncertainties: Any, *, error: Any = None, ood: Any = None, quality: Any = None, p_wrong: Any = None
    ) -> PartialEvaluation:
        """Count rows, and return this summary. The parameters are those of :func:`evaluate`.

        Parameters
        ----------
        uncertainties
            One number per row, or several by the name of their method; higher = more uncertain. A row to which any
            method gives no number (NaN) is left out for all.
        error, ood, quality
            The labels: which predictions are wrong, which rows are out of distribution, how good an answer is; NaN
            where it is not known.
        p_wrong
            The probability of being wrong, in [0, 1]; needs ``error``.
        """
        scores = methods_of(uncertainties if hasattr(uncertainties, "items") else {"uncertainty": uncertainties})
        if self.methods and self.methods != tuple(scores):
            raise TableError(f"This summary is of {list(self.methods)}, and rows of {list(scores)} came.")
        n_rows = len(next(iter(scores.values())))
        targets = targets_of(n_rows, error=error, ood=ood, quality=quality)
        new = self._cells_of(scores, targets, p_wrong)
        if self.methods and set(new) != set(self.counted):
            raise TableError(f"Every part needs the same labels: {_labels(self.counted)}; got {_labels(new)}.")
        refuse_too_many(self.n_rows + n_rows, new)
        self.methods = tuple(scores)
        for key, cells in new.items():
            self.counted.setdefault(key, AddingUp(Cells.empty(cells.counts.shape[1], self.cells))).add(cells)
        without = {name: int(np.isnan(one).sum()) for name, one in scores.items()}
        self.n_rows += n_rows
        self.n_left_out += int(np.any([np.isnan(one) for one in scores.values()], axis=0).sum())
        self.without_score = {name: self.without_score.get(name, 0) + count for name, count in without.items()}
        return self

    def _cells_of(self, scores: dict[str, Array], targets: Targets, p_wrong: Any) -> dict[tuple[str, str], Cells]:
        """Return the counts of one batch."""
        scored = ~np.any([np.isnan(one) for one in scores.values()], axis=0)
        made: dict[tuple[str, str], Cells] = {}
        for task in ("ood", "error"):
            if task in targets:
                target, known = targets[task]
                rows = scored & known
                for name, one in scores.items():
                    made[name, task] = self._kinds((name, task), one[rows], target[rows] == 1.0)
        if "generation" in targets:
            target, known = targets["generation"]
            made |= self._qualities(scores, target, scored & known)
        if p_wrong is not None:
            made["", P_WRONG] = self._probabilities(p_wrong, targets)
        return made

    def _kinds(self, key: tuple[str, str], scores: Array, positive: NDArray[np.bool_]) -> Cells:
        return Cells.of_kinds(scores, positive, self.cells, at_least=self._shift(key))

    def _sums(self, key: tuple[str, str], scores: Array, columns: NDArray[np.int64]) -> Cells:
        return Cells.of_sums(scores, columns, self.cells, at_least=self._shift(key))

    def _shift(self, key: tuple[str, str]) -> int:
        return self.counted[key].shift if key in self.counted else 0

    def _qualities(
        self, scores: dict[str, Array], quality: Array, rows: NDArray[np.bool_]
    ) -> dict[tuple[str, str], Cells]:
        """Count rows and the sum of their quality, by each uncertainty and by the quality itself."""
        low, high = self.quality_range
        found = quality[rows]
        beyond = found[~((found >= low) & (found <= high))]
        if len(beyond):
            raise TableError(
                f"quality must lie in quality_range=({low:g}, {high:g}); got {beyond[0]:g}. Give the range in which it "
                f"may lie: PartialEvaluation(quality_range=(lowest, highest))."
            )
        gained = np.clip((found - low) / (high - low), 0.0, 1.0)
        columns = np.column_stack([np.ones(len(gained), dtype=np.int64), fixed(gained)])
        made = {
            (name, "generation"): self._sums((name, "generation"), one[rows], columns) for name, one in scores.items()
        }
        return {**made, ("", QUALITY): self._sums(("", QUALITY), rounded(gained), columns)}

    def _probabilities(self, p_wrong: Any, targets: Targets) -> Cells:
        """Count right and wrong rows by their probability, with its sum and that of the squared distance."""
        if "error" not in targets:
            raise SettingError("p_wrong is compared with the errors: give error=, too.")
        wrong, known = targets["error"]
        probability = of_length(numbers_of(p_wrong, "p_wrong"), len(wrong), "p_wrong")
        rows = known & ~np.isnan(probability)
        given, was = checked_probability(probability[rows], wrong[rows])
        columns = [(1.0 - was).astype(np.int64), was.astype(np.int64), fixed(given), fixed((given - was) ** 2)]
        return self._sums(("", P_WRONG), given, np.column_stack(columns))

    def cells_of(self, method: str, task: str) -> Cells:
        """Return the counts of one method and task."""
        return self.counted[method, COUNTED.get(task, task)].total()

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that the labels allow."""
        known = {what for _, what in self.counted}
        return tuple(task for task, what in COUNTED.items() if what in known)

    @property
    def has_p_wrong(self) -> bool:
        """Whether a probability of being wrong was counted."""
        return ("", P_WRONG) in self.counted

    def __add__(self, other: object) -> PartialEvaluation:
        if not isinstance(other, PartialEvaluation):
            return NotImplemented
        self._refuse_other_settings(other)
        if not self.methods or not other.methods:
            return (self if self.methods else other)._copy()
        self._refuse_other(other)
        refuse_too_many(self.n_rows + other.n_rows, self.counted)
        made = self._copy()
        for key, adding in other.counted.items():
            made.counted[key].add(adding.total())
        made.n_rows += other.n_rows
        made.n_left_out += other.n_left_out
        made.without_score = {name: count + other.without_score[name] for name, count in self.without_score.items()}
        return made

    def __radd__(self, other: object) -> PartialEvaluation:
        """Let ``sum(parts)`` begin with 0."""
        return self._copy() if isinstance(other, int) and other == 0 else NotImplemented

    def _copy(self) -> PartialEvaluation:
        made = PartialEvaluation(cells=self.cells, quality_range=self.quality_range)
        made.methods, made.n_rows, made.n_left_out = self.methods, self.n_rows, self.n_left_out
        made.without_score = dict(self.without_score)
        made.counted = {key: AddingUp(adding.total()) for key, adding in self.counted.items()}
        return made

    def _refuse_other_settings(self, other: PartialEvaluation) -> None:
        """Raise unless settings are the same; those of a summary without rows count, too."""
        mine, others = (
            f"cells={one.cells}, quality_range=({one.quality_range[0]:g}, {one.quality_range[1]:g})"
            for one in (self, other)
        )
        if (self.cells, self.quality_range) != (other.cells, other.quality_range):
            raise SettingError(
                f"Only summaries with the same cells= and quality_range= add up; got {mine} and {others}. Make every "
                f"part, also one without rows, with the same settings."
            )

    def _refuse_other(self, other: PartialEvaluation) -> None:
        if self.methods != other.methods:
            raise TableError(f"Only summaries of the same methods add up; got {self.methods} and {other.methods}.")
        if set(self.counted) != set(other.counted):
            raise TableError(
                f"Only summaries of the same labels add up; got {_labels(self.counted)} and {_labels(other.counted)}."
            )

    def evaluate(
        self, metrics: Iterable[str | Metric] | None = None, *, bootstrap: Bootstrap | None = None
    ) -> SummaryEvaluation:
        """Return every metric that the labels allow, with its error and its interval; see :class:`SummaryEvaluation`.

        ``metrics`` and ``bootstrap`` are those of :func:`vecuq.evaluation.evaluate`. Intervals hold for independent
        rows: which rows come together cannot be counted.
        """
        from vecuq.evaluation.summing_up import summed_up

        return summed_up(self, metrics, bootstrap or Bootstrap())

    def curves(self, points: int = 1_000) -> tuple[SelectiveCurves, ...]:
        """Return risk-coverage and rejection curves as :func:`selective_curves` does, at so many shares."""
        from vecuq.evaluation.counted_curves import counted_curves

        return counted_curves(self, whole_number("points", points, 2))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the summary to one file, whole or not at all; :func:`vecuq.load` reads it."""
        from vecuq.evaluation.partial_file import parts_of

        write_tensors(path, *parts_of(self))

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write; :func:`vecuq.load` reads it too."""
        from vecuq.evaluation.partial_file import parts_of

        return tensor_bytes(*parts_of(self))

    def describe(self) -> dict[str, Any]:
        """Return what was counted as plain values."""
        return {
            "methods": list(self.methods),
            "tasks": list(self.tasks),
            "rows": {"all": self.n_rows, "left out": self.n_left_out},
            "cells": {" ".join(filter(None, key)): len(adding.total()) for key, adding in self.counted.items()},
        }

    def __repr__(self) -> str:
        return f"PartialEvaluation({self.n_rows:,} rows of {', '.join(self.methods) or 'nothing yet'})"


def refuse_too_many(n_rows: int, counted: Iterable[tuple[str, str]]) -> None:
    """Raise where so many rows are not counted exactly; sums of qualities and probabilities allow fewer."""
    sums = any(what in ("generation", P_WRONG) for _, what in counted)
    most, what = (MOST_SUMMED, " with a quality or p_wrong") if sums else (MOST_COUNTED, "")
    if n_rows > most:
        raise TableError(
            f"A summary{what} counts at most {most:,} rows; these would be {n_rows:,}. Evaluate parts of them apart."
        )


def _range(quality_range: Any) -> tuple[float, float]:
    try:
        low, high = quality_range
    except (TypeError, ValueError):
        raise SettingError(f"quality_range must be (lowest, highest); got {quality_range!r}.") from None
    low, high = number("quality_range", low), number("quality_range", high)
    if not (np.isfinite(high - low) and high > low):
        raise SettingError(f"quality_range must be two finite numbers, the lower one first; got {quality_range!r}.")
    return low, high


def _labels(counted: Iterable[tuple[str, str]]) -> list[str]:
    """Return which labels were counted, in the order of the tasks."""
    known = {what for _, what in counted}
    return [
        {"generation": "quality"}.get(what, what) for what in ("ood", "error", "generation", P_WRONG) if what in known
    ]
