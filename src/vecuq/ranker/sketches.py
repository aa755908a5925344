"""Sketch: a small, mergeable summary of calibration rows, from which a ranker can be fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vecuq._check import Array
from vecuq._run import one_blas_thread
from vecuq.errors import CalibrationError, ColumnError, SettingError
from vecuq.ranker.solve import in_units
from vecuq.table import Fingerprints, ScoreTable
from vecuq.transport import chebyshev_moments, widened_moments

Ranges = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, eq=False, repr=False)
class Sketch:
    """Count, ranges and Chebyshev moments of calibration rows; those of chunks simply add.

    What is added fits to the same ranker as all rows at once, to 1e-8 in score, and its size does not depend on the
    number of rows. :class:`vecuq.PartialFit` holds one, beside the rows held back.
    """

    columns: tuple[str, ...]
    flipped: frozenset[str]
    box_low: Array  # where the moments live, per column
    box_high: Array
    seen_low: Array  # what the rows showed, per column
    seen_high: Array
    count: int
    moments: Array  # (nodes,) * columns
    prints: Fingerprints | None = None  # of the rows; files of vecuq 0.1 have none

    @property
    def nodes(self) -> int:
        """Chebyshev nodes per column."""
        return int(self.moments.shape[0])

    def __add__(self, other: Sketch) -> Sketch:
        """Return the sketch of both sets of rows, over ranges that hold both."""
        self._must_match(other)
        box = np.minimum(self.box_low, other.box_low), np.maximum(self.box_high, other.box_high)
        return replace(
            self,
            box_low=box[0],
            box_high=box[1],
            seen_low=np.minimum(self.seen_low, other.seen_low),
            seen_high=np.maximum(self.seen_high, other.seen_high),
            count=self.count + other.count,
            moments=self._moments_on(box) + other._moments_on(box),
            prints=None if self.prints is None or other.prints is None else self.prints + other.prints,
        )

    def _must_match(self, other: Sketch) -> None:
        if (self.columns, self.flipped, self.nodes) != (other.columns, other.flipped, other.nodes):
            raise ColumnError(
                f"Only sketches of the same columns and nodes add up: {list(self.columns)} with {self.nodes} nodes, "
                f"and {list(other.columns)} with {other.nodes}."
            )

    def _moments_on(self, box: tuple[Array, Array]) -> Array:
        """Return the moments on a box that holds this one."""
        refuse_endless(self.columns, *box)
        return widened_moments(self.moments, (self.box_low, self.box_high), box)


def sketch_values(table: ScoreTable, nodes: int, box: tuple[Array, Array] | None = None) -> Sketch:
    """Summarise complete rows over a box that holds them, by default the smallest one."""
    values = np.asarray(table.values, dtype=float)
    seen = values.min(axis=0), values.max(axis=0)
    low, high = seen if box is None else (np.minimum(box[0], seen[0]), np.maximum(box[1], seen[1]))
    refuse_endless(table.columns, low, high)
    with one_blas_thread():
        moments = chebyshev_moments(in_units(values, low, high), nodes)
    prints = Fingerprints.of(values)
    return Sketch(table.columns, table.flipped, low, high, *seen, len(values), moments, prints)


def refuse_endless(columns: Sequence[str], low: Array, high: Array) -> None:
    """Raise if a range is wider than a float64 can hold."""
    with np.errstate(over="ignore"):
        endless = [name for name, width in zip(columns, high - low, strict=True) if not np.isfinite(width)]
    if endless:
        raise CalibrationError(f"{endless[0]!r} spans more than a float64 can hold; divide it by a constant first.")


def box_of(ranges: Ranges, table: ScoreTable) -> tuple[Array, Array]:
    """Return the ranges of the columns of a table, in its direction."""
    absent = [name for name in table.columns if name not in ranges]
    if absent:
        raise ColumnError(f"`ranges` lacks {absent}; it must give (smallest, largest) for every score column.")
    given = np.array([[float(side) for side in ranges[name]] for name in table.columns])
    wrong = [name for name, (a, b) in zip(table.columns, given.tolist(), strict=True) if not 0 <= b - a < np.inf]
    if wrong:
        raise SettingError(f"`ranges` must be finite (smallest, largest) pairs; those of {wrong} are not.")
    return in_table_direction(given[:, 0], given[:, 1], table)


def in_table_direction(low: Array, high: Array, table: ScoreTable | Sketch) -> tuple[Array, Array]:
    """Return ranges in the table's direction, given in the user's, or the other way: a flipped column is negated."""
    flipped = np.array([name in table.flipped for name in table.columns])
    return np.where(flipped, -high, low), np.where(flipped, -low, high)
