"""Case: calibration rows, perhaps new rows, and a ranker fitted to them, ready to be looked at."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, finite_rows, missing_counts
from vecuq.conformal import draw_rows, group_codes
from vecuq.doctor.apart import find_apart
from vecuq.doctor.near_copies import NearCopies, find_near_copies
from vecuq.doctor.rates import Dependence, Expected, columns_that_count
from vecuq.doctor.repeats import Keys, Repeats, find_repeats, row_keys
from vecuq.doctor.row_order import RowOrder, see_order
from vecuq.errors import VecuqError, VecuqWarning
from vecuq.ranker import Ranker, Settings, fit_ranker, held_back_rows
from vecuq.table import ScoreTable, Suspicion, find_suspicions
from vecuq.transport import named_reference

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
    left_out: dict[str, str] = field(default_factory=dict)  # columns of numbers that are not taken for scores, and why
    new: Array | None = None  # new rows in the same columns, incomplete ones among them
    groups: NDArray[np.int64] | None = None  # of the complete rows, where rows come together

    @staticmethod
    def of(calibration: Any, new: Any = None, settings: Settings | None = None, groups: Any = None) -> Case:
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
            dict(table.left_out),
            None if new is None else _matching(new, table),
            None if groups is None else group_codes(group_codes(groups, len(values))[numbers], len(numbers)),
        )

    @property
    def n_groups(self) -> int | None:
        """In how many groups the complete rows come; None where they do not."""
        return None if self.groups is None else len(np.unique(self.groups))

    @cached_property
    def independent(self) -> Case:
        """The same with one random row of each group, and as many of the new rows; itself where there are no groups.

        Whatever compares rows as if each were evidence of its own must look at these.
        """
        if self.groups is None or not len(self.groups):
            return self
        shuffled = np.random.default_rng(0).permutation(len(self.groups))
        chosen = np.sort(shuffled[np.unique(self.groups[shuffled], return_index=True)[1]])
        share = len(chosen) / len(self.groups)
        new = None if self.new is None else drawn(self.new, max(1, round(share * len(self.new))))
        return replace(self, values=self.values[chosen], numbers=self.numbers[chosen], new=new, groups=None)

    @property
    def is_sampled(self) -> bool:
        """Whether the slower checks see a part of the rows only."""
        return len(self.values) > MOST_ROWS

    @property
    def is_tiny(self) -> bool:
        """Whether there are too few rows for a correlation or a test to mean anything."""
        return len(self.values) < FEWEST_ROWS

    @cached_property
    def sampled(self) -> NDArray[np.intp]:
        """Which of the complete rows are in the sample: all, or a seeded draw."""
        return draw_rows(len(self.values), min(MOST_ROWS, len(self.values)), 0)

    @cached_property
    def sample(self) -> Array:
        """The complete rows, or a seeded draw of them."""
        return self.values[self.sampled] if self.is_sampled else self.values

    @cached_property
    def new_sample(self) -> Array:
        """The complete new rows, or a seeded draw of them."""
        rows = np.empty((0, len(self.columns))) if self.new is None else self.new[finite_rows(self.new)]
        return drawn(rows, MOST_ROWS)

    @cached_property
    def fitted(self) -> Ranker | str:
        """The ranker of the sample, or why there is none."""
        return self.refit(self.sample, self.settings, None if self.groups is None else self.groups[self.sampled])

    @property
    def ranker(self) -> Ranker | None:
        """The ranker of the sample, if there is one."""
        return None if isinstance(self.fitted, str) else self.fitted

    @cached_property
    def uncertainty(self) -> Array:
        """The score of every row of the sample; empty without a ranker."""
        return np.empty(0) if self.ranker is None else self.ranker.rank_complete(self.sample)[1]

    @cached_property
    def suspicions(self) -> tuple[Suspicion, ...]:
        """Columns that look like something else than a score."""
        signed = named_reference(self.settings.reference).signed
        return find_suspicions(self.columns, self.values, flipped=self.flipped, directions=not signed)

    @cached_property
    def keys(self) -> Keys:
        """One number per complete row, the same for equal rows."""
        return row_keys(self.values)

    @cached_property
    def repeats(self) -> Repeats:
        """Equal rows."""
        return find_repeats(self.values, self.keys)

    @cached_property
    def near_copies(self) -> NearCopies | None:
        """Groups of rows that nearly repeat each other, if there are any."""
        return find_near_copies(self.values, self.keys)

    @cached_property
    def apart(self) -> NDArray[np.intp]:
        """The complete rows that stand apart above all others."""
        return np.empty(0, dtype=np.intp) if self.is_tiny else find_apart(self.values)

    @cached_property
    def row_order(self) -> RowOrder | None:
        """What the order of the rows shows; None without a ranker or with few rows."""
        if self.ranker is None or self.is_tiny:
            return None
        rows = np.delete(self.values, self.apart, axis=0)  # a block of others is no trend
        columns = dict(zip(self.columns, rows.T, strict=True))
        for one in self.suspicions:
            if one.kind in ("id", "time"):  # which the rows are sorted by, as they should be
                columns.pop(one.column)
        return see_order(self.ranker.rank_complete(rows)[1], columns)

    def expected(self, dependence: Dependence | None = None) -> Expected:
        """Return the false-alarm rates to expect if the rows depend on each other so; as found, by default."""
        held = len(held_back_rows(len(self.values), self.settings))
        return Expected(held, len(self.values), self._columns_that_count, dependence or self.dependence)

    @cached_property
    def dependence(self) -> Dependence:
        """The worst dependence that is certain: copies, near copies. What alike neighbours mean depends on new rows."""
        found = [Dependence()]
        if self.repeats.are_copies:
            found.append(Dependence(self.repeats.design_effect, 1.0))
        if self.near_copies is not None:
            found.append(Dependence(self.near_copies.design_effect, 1.0))
        return max(found, key=lambda one: one.design_effect)

    @cached_property
    def _columns_that_count(self) -> float:
        return columns_that_count(self.sample)

    def refit(self, rows: Array, settings: Settings, groups: NDArray[np.int64] | None = None) -> Ranker | str:
        """Fit rows with other settings; the checks report in their own words what a fit warns of."""
        table = ScoreTable(self.columns, rows, flipped=self.flipped)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VecuqWarning)
            try:
                return fit_ranker(table, settings, groups=groups)
            except VecuqError as error:
                return str(error)

    def scores_with(self, **changes: Any) -> Array | None:
        """Return the scores of some rows by a ranker that they fit themselves, with some settings changed."""
        rows = drawn(self.sample, MOST_REFITTED)
        found = self.refit(rows, replace(self.settings, holdback=0.0, **changes))
        return None if isinstance(found, str) else found.rank_complete(rows)[1]


def _matching(new: Any, table: ScoreTable) -> Array:
    """Return the new rows in the columns and directions of the calibration table."""
    if isinstance(new, ScoreTable):
        chosen = new.select(table.columns)
        return np.asarray(chosen.flip(sorted(chosen.flipped ^ table.flipped)).values, dtype=float)
    return np.asarray(ScoreTable.of(new, columns=table.columns, flip=table.flipped).values, dtype=float)


def drawn(rows: Array, most: int) -> Array:
    """Return the rows, or a seeded draw of so many, in their order."""
    return rows if len(rows) <= most else rows[draw_rows(len(rows), most, 0)]
