"""Rows on their way through the steps of a cascade, and the decisions that come out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.cascade.order import Step

Flags = NDArray[np.bool_]


@dataclass(eq=False)
class Walk:
    """What is known of the rows, and how they stand."""

    values: Array  # (rows, columns) in the ranker's direction, NaN where unknown or missing
    known: Flags  # (columns,)
    open: Flags  # (rows,)
    flagged: Flags
    cost: Array
    n_computed: NDArray[np.int64]
    lower: Array
    upper: Array

    @staticmethod
    def of(n_rows: int, n_columns: int) -> Walk:
        """Return rows of which nothing is known."""
        none = np.full(n_rows, np.nan)
        yes, no = np.ones(n_rows, dtype=bool), np.zeros(n_rows, dtype=bool)
        counts = np.zeros(n_rows, dtype=np.int64)
        values, known = np.full((n_rows, n_columns), np.nan), np.zeros(n_columns, dtype=bool)
        return Walk(values, known, yes, no, np.zeros(n_rows), counts, none, none.copy())

    @staticmethod
    def with_known(values: Array, known: Flags) -> Walk:
        """Return rows of which some columns are known already."""
        walk = Walk.of(*values.shape)
        walk.known[:] = known
        walk.values[:, known] = values[:, known]
        return walk

    def note(self, rows: NDArray[np.intp], places: list[int], cost: float) -> None:
        """Count the columns of a step as known, and what they cost."""
        self.known[places] = True
        self.cost[rows] += cost
        self.n_computed[rows] += len(places)

    def close_incomplete(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Flag the rows that miss a value; return the others."""
        missing = np.isnan(self.values[np.ix_(rows, self.known)]).any(axis=1)
        lost = rows[missing]
        self.flagged[lost], self.open[lost] = True, False
        self.lower[lost] = self.upper[lost] = np.nan
        return rows[~missing]


@dataclass(frozen=True)
class Decision:
    """The decision on one row, from which columns, at what cost."""

    flagged: bool
    computed: tuple[str, ...]  # in the order in which they were computed
    cost: float
    lower: float  # the score of the full row lies between these two; NaN if a value is missing
    upper: float


@dataclass(frozen=True, eq=False)
class Savings:
    """What a cascade saves on recorded rows."""

    flagged: NDArray[np.bool_]  # (rows,)
    cost: Array  # (rows,)
    n_computed: NDArray[np.int64]  # (rows,), columns
    order: tuple[Step, ...]
    share_saved: float  # of the cost of every column that matters, in every row
    n_different: int  # rows that `Ranker.flag` decides otherwise: 0 of the complete ones where the bounds hold
    n_cleared_incomplete: int  # of these, rows cleared before a value that is missing was requested
