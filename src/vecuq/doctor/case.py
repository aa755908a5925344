"""Case: calibration rows, perhaps new rows, and a ranker fitted to them, ready to be looked at."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, finite_rows, missing_counts
from vecuq.errors import VecuqError, VecuqWarning
from vecuq.ranker import Ranker, Settings, draw_rows, fit_ranker
from vecuq.table import ScoreTable

# Ranks and correlations of more rows say nothing new, and fits take longer.
MOST_ROWS = 20_000
# Several fits side by side are compared on these.
MOST_REFITTED = 2_000
# Fewer say nothing about correlations and distributions.
FEWEST_ROWS = 20


@dataclass(frozen=True, eq=False)
class Case:
    """What the checks look at: all complete rows, and a seeded sample of them for what takes long."""

    columns: tuple[str, ...]
    flipped: frozenset[str]
    settings: Settings
    n_rows: int  # as they came
    missing: dict[str, int]  # by column
    values: Array  # complete rows, (rows, columns)
    numbers: NDArray[np.intp]  # where in the table they stand
    new: Array | None = None  # new rows in the same columns, incomplete ones among them

    @staticmethod
    def of(calibration: Any, new: Any = None, settings: Settings | None = None) -> Case:
        """Prepare what is to be looked at; rows with missing values are set aside."""
        table = ScoreTable.of(calibration)
        values = np.asarray(table.values, dtype=float)
        numbers = np.flatnonzero(finite_rows(values))
        return Case(
            table.columns,
            table.flipped,
            settings or Settings(),
            len(values),
            missing_counts(values, table.columns),
            values if len(numbers) == len(values) else values[numbers],
            numbers,
            None if new is None else _matching(new, table),
        )

    @property
    def is_sampled(self) -> bool:
        """Whether the slower checks see a part of the rows only."""
        return len(self.values) > MOST_ROWS

    @property
    def is_tiny(self) -> bool:
        """Whether there are too few rows for a correlation or a test to mean anything."""
        return len(self.values) < FEWEST_ROWS

    @cached_property
    def sample(self) -> Array:
        """The complete rows, or a seeded draw of them."""
        return _drawn(self.values, MOST_ROWS)

    @cached_property
    def new_sample(self) -> Array:
        """The complete new rows, or a seeded draw of them."""
        rows = np.empty((0, len(self.columns))) if self.new is None else self.new[finite_rows(self.new)]
        return _drawn(rows, MOST_ROWS)

    @cached_property
    def fitted(self) -> Ranker | str:
        """The ranker of the sample, or why there is none."""
        return self.refit(self.sample, self.settings)

    @property
    def ranker(self) -> Ranker | None:
        """The ranker of the sample, if there is one."""
        return None if isinstance(self.fitted, str) else self.fitted

    @cached_property
    def uncertainty(self) -> Array:
        """The score of every row of the sample; empty without a ranker."""
        return np.empty(0) if self.ranker is None else self.ranker.rank_complete(self.sample)[1]

    def refit(self, rows: Array, settings: Settings) -> Ranker | str:
        """Fit rows with other settings; the checks report in their own words what a fit warns of."""
        table = ScoreTable(self.columns, rows, flipped=self.flipped)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VecuqWarning)
            try:
                return fit_ranker(table, settings)
            except VecuqError as error:
                return str(error)

    def scores_with(self, **changes: Any) -> Array | None:
        """Return the scores of some rows by a ranker that they fit themselves, with some settings changed."""
        rows = _drawn(self.sample, MOST_REFITTED)
        found = self.refit(rows, replace(self.settings, holdback=0.0, **changes))
        return None if isinstance(found, str) else found.rank_complete(rows)[1]


def _matching(new: Any, table: ScoreTable) -> Array:
    """Return the new rows in the columns and directions of the calibration table."""
    if isinstance(new, ScoreTable):
        chosen = new.select(table.columns)
        return np.asarray(chosen.flip(sorted(chosen.flipped ^ table.flipped)).values, dtype=float)
    return np.asarray(ScoreTable.of(new, columns=table.columns, flip=table.flipped).values, dtype=float)


def _drawn(rows: Array, most: int) -> Array:
    return rows if len(rows) <= most else rows[draw_rows(len(rows), most, 0)]
