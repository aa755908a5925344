"""Sketch: a small, mergeable, saved summary of calibration rows, from which a ranker can be fitted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vecuq._check import Array, refuse_missing, whole_number
from vecuq._draw import html_card
from vecuq._files import checked_header, tensor_bytes, write_tensors
from vecuq._run import one_blas_thread
from vecuq.errors import CalibrationError, ColumnError, SettingError, TableError
from vecuq.ranker.describe import direction_of
from vecuq.ranker.sketch_sense import PRINTS, RANGES, SketchHeader, check_sketch, saved_prints
from vecuq.ranker.solve import MOST_NODES, in_units
from vecuq.table import Fingerprints, ScoreTable, warn_of_columns
from vecuq.transport import chebyshev_moments, widened_moments

Ranges = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, eq=False, repr=False)
class Sketch:
    """Count, ranges and Chebyshev moments of calibration rows; sketches of chunks simply add.

    ``sketch(chunk_1) + sketch(chunk_2)`` fits to the same ranker as all rows at once, to 1e-8 in score, and its size
    does not depend on the number of rows. It holds no rows back: for p-values see :class:`vecuq.PartialFit`.
    """

    columns: tuple[str, ...]
    flipped: frozenset[str]
    box_low: Array  # where the moments live, per column
    box_high: Array
    seen_low: Array  # what the rows showed, per column
    seen_high: Array
    count: int
    moments: Array  # (nodes,) * columns
    prints: Fingerprints | None = None  # of the rows; a sketch saved by vecuq 0.1 has none

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sketch to one file, whole or not at all; :func:`vecuq.load` reads it."""
        write_tensors(path, *self._parts())

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write; :func:`vecuq.load` reads it too."""
        return tensor_bytes(*self._parts())

    def describe(self) -> dict[str, Any]:
        """Return columns with their ranges, rows and nodes as plain values."""
        low, high = in_table_direction(self.box_low, self.box_high, self)
        columns = [
            {"name": name, "direction": direction_of(name, self.flipped), "from": float(a), "to": float(b)}
            for name, a, b in zip(self.columns, low, high, strict=True)
        ]
        return {"columns": columns, "rows": self.count, "nodes": self.nodes}

    def __repr__(self) -> str:
        return f"Sketch({self.count:,} rows of {', '.join(self.columns)}; {self.nodes} nodes per column)"

    def _repr_html_(self) -> str:
        facts = {"rows": f"{self.count:,}", "nodes per column": self.nodes}
        ranges = {one["name"]: f"{one['from']:g} to {one['to']:g}" for one in self.describe()["columns"]}
        return html_card("Sketch", facts | ranges)

    def _parts(self) -> tuple[str, dict[str, Any], dict[str, Array]]:
        header = {"columns": list(self.columns), "flipped": sorted(self.flipped), "count": self.count}
        prints = {} if self.prints is None else {PRINTS: self.prints.hashes}
        return "sketch", header, {name: getattr(self, name) for name in (*RANGES, "moments")} | prints


def sketch_of(header: dict[str, Any], arrays: dict[str, Array]) -> Sketch:
    """Put a saved sketch together again; raise if a part of it makes no sense, by itself or beside the others."""
    known = checked_header(header, SketchHeader)
    check_sketch(known, arrays)
    return Sketch(
        columns=known.columns,
        flipped=frozenset(known.flipped),
        count=known.count,
        **{name: arrays[name] for name in (*RANGES, "moments")},
        prints=saved_prints(PRINTS, arrays),
    )


def sketch(
    rows: Any,
    *,
    ranges: Ranges | None = None,
    nodes: int = 12,
    columns: Sequence[str] | None = None,
    flip: Iterable[str] | None = None,
) -> Sketch:
    """Summarise calibration rows.

    Parameters
    ----------
    rows
        Anything a :class:`vecuq.ScoreTable` can be made of; no missing values.
    ranges
        Smallest and largest value per column, as it came (before any flip); by default those of these rows. A row
        outside is an error. Sketches over other ranges add up too.
    nodes
        Chebyshev nodes per column: 12 for epsilon of 0.5 or more, 17 for 0.2, 22 for 0.1.
    columns, flip
        As in :meth:`vecuq.ScoreTable.of`.

    Examples
    --------
    >>> import numpy as np
    >>> data = np.random.default_rng(0).random((1000, 2))
    >>> (sketch(data[:400]) + sketch(data[400:])).count
    1000
    """
    table = ScoreTable.of(rows, columns=columns, flip=flip)
    refuse_missing(table.values, table.columns)
    warn_of_columns(table)
    whole_number("nodes", nodes, 2)
    if float(nodes) ** len(table.columns) > 8 * MOST_NODES:
        raise SettingError(
            f"A sketch of {len(table.columns)} columns with {nodes} nodes each takes more memory than the rows; "
            f"use fewer columns, or fit the rows themselves."
        )
    if not len(table):
        raise TableError("A sketch needs at least one row.")
    box = None if ranges is None else box_of(ranges, table)
    if box is not None:
        _refuse_outside(table.columns, table.values, *box)
    return sketch_values(table, nodes, box)


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


def _refuse_outside(columns: Sequence[str], values: Array, low: Array, high: Array) -> None:
    outside = (values < low) | (values > high)
    if outside.any():
        k = int(outside.any(axis=0).argmax())
        raise TableError(
            f"{int(outside[:, k].sum()):,} rows lie outside the range of {columns[k]!r}: it was given as "
            f"[{low[k]:g}, {high[k]:g}], the rows reach from {values[:, k].min():g} to {values[:, k].max():g}. "
            f"Give ranges that hold these rows, or leave `ranges` out."
        )
