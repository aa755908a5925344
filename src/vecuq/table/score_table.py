"""ScoreTable: named columns of numbers, higher meaning more uncertain, and everything else left as it came."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from vecuq._check import Array, shape_of, unique_names, wanted_columns
from vecuq.errors import ColumnError, TableError
from vecuq.table.choice import choose_columns
from vecuq.table.frames import at_hand, is_arrow
from vecuq.table.text import as_floats


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Named score columns, higher = more uncertain, beside columns that are kept but never looked at.

    Build it with :meth:`of` from anything in memory, or with :func:`vecuq.read_table` from a file.

    Parameters
    ----------
    columns
        Names of the score columns.
    values
        Scores, shape (rows, columns), float64, or float32 if they came as one such array; missing values are NaN.
    others
        The remaining columns (ids, texts, labels), a frame of the library it came from, or None.
    flipped
        Columns that came as confidences and were negated.
    left_out
        Columns of numbers that were not taken, by name, with the reason.
    unsaid
        What nobody stated, so that a fit has reason to doubt: ``"columns"``, ``"array"`` (every column of an array is
        taken), ``"flip"``.

    Examples
    --------
    >>> import numpy as np
    >>> table = ScoreTable.of({"entropy": [0.1, 0.9], "confidence": [0.8, 0.3]}, flip=["confidence"])
    >>> table.values
    array([[ 0.1, -0.8],
           [ 0.9, -0.3]])
    """

    columns: tuple[str, ...]
    values: Array
    others: Any = None
    flipped: frozenset[str] = field(default_factory=frozenset)
    left_out: Mapping[str, str] = field(default_factory=dict)
    unsaid: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.values)

    def by_name(self) -> dict[str, Array]:
        """Return the scores of each column, (rows,), by its name."""
        return {name: self.values[:, k] for k, name in enumerate(self.columns)}

    @property
    def missing(self) -> dict[str, int]:
        """How many values of each column are missing; columns that are complete are left out."""
        counts = np.isnan(self.values).sum(axis=0)
        return {name: int(count) for name, count in zip(self.columns, counts, strict=True) if count}

    @staticmethod
    def of(data: Any, *, columns: Sequence[str] | None = None, flip: Iterable[str] | None = None) -> ScoreTable:
        """Make a score table of anything in memory that has rows and columns.

        Parameters
        ----------
        data
            What holds the scores: an array, a dict of columns, a list of dicts, a pyarrow table, batch or reader of
            batches, or a frame of any library that narwhals knows (pandas, polars, modin, ...). A lazy frame is
            collected, with a warning.
        columns
            Names of the score columns. By default every floating-point column of a frame (if it has none, every
            column of whole numbers), or all columns of an array (``x0``, ``x1``, ...). Whole numbers beside
            floating-point columns are taken for ids and labels: name them to use them; a fit warns of them. A column
            of text counts by what it holds: all numbers make it a score, most an error that names the stray cell.
        flip
            Columns in which higher means more *confident*; they are negated. None flips nothing, and a fit warns of
            columns that look like a confidence; an empty list states that there are none.
        """
        if isinstance(data, ScoreTable):
            return (data if columns is None else data.select(columns)).flip(flip)
        found = at_hand(data)
        table: ScoreTable
        if found is None:
            table = _of_array(data, columns)
        elif isinstance(found, dict):
            table = _of_columns(dict(zip(unique_names(found), map(_column, found.values()), strict=True)), columns)
        else:
            table = _of_frame(found, columns)
        unsaid = {"flip"} if columns is not None else {"flip", "array" if found is None else "columns"}
        return replace(table, unsaid=frozenset(unsaid)).flip(flip)

    def stated(self) -> ScoreTable:
        """Return the same table as one whose columns and directions nobody doubts."""
        return replace(self, left_out={}, unsaid=frozenset())

    def flip(self, names: Iterable[str] | None) -> ScoreTable:
        """Negate the named columns, from confidence to uncertainty."""
        if names is None:
            return self
        where = "The choice of score columns"
        chosen = wanted_columns(names, self.columns, purpose="which should be flipped", where=where)
        said = self.unsaid - {"flip"}
        if not chosen:
            return replace(self, unsaid=said) if said != self.unsaid else self
        sign = np.array([-1.0 if name in chosen else 1.0 for name in self.columns])
        return replace(self, values=self.values * sign, flipped=self.flipped ^ set(chosen), unsaid=said)

    def select(self, columns: Sequence[str]) -> ScoreTable:
        """Return the named score columns, in that order."""
        names = wanted_columns(columns, self.columns, purpose="needed as score columns")
        said = self.unsaid - {"columns", "array"}
        if names == self.columns:
            return replace(self, left_out={}, unsaid=said) if said != self.unsaid else self
        index = [self.columns.index(name) for name in names]
        return ScoreTable(names, self.values[:, index], self.others, self.flipped & set(names), unsaid=said)


def _of_array(data: Any, columns: Sequence[str] | None) -> ScoreTable:
    array = _matrix(data)
    default = tuple(f"x{k}" for k in range(array.shape[1]))
    names = unique_names(columns) if columns is not None else default
    if len(names) != array.shape[1]:
        raise ColumnError(f"{len(names)} column names were given for an array of {array.shape[1]} columns.")
    if array.dtype in (np.float32, np.float64):
        return ScoreTable(names, array)  # single precision stays as it is until it is scaled
    if array.dtype.kind in "fiub":
        return ScoreTable(names, np.asarray(array, dtype=float))
    return ScoreTable(names, np.column_stack([as_floats(array[:, k], name) for k, name in enumerate(names)]))


def _matrix(data: Any) -> Any:
    if isinstance(data, str | os.PathLike):
        raise TableError(f"{str(data)!r} is a name, not a table. Read the file first, with vecuq.read_table.")
    try:
        array = np.ma.filled(data.astype(float), np.nan) if np.ma.isMaskedArray(data) else np.asarray(data)
    except ValueError:
        raise TableError("Scores must be a table; these rows differ in length.") from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise TableError(
            f"Scores must be a table of rows and columns; got {shape_of(array)}. "
            f"Use reshape(-1, 1) for one column, reshape(1, -1) for one row."
        )
    return array


def _column(cells: Any) -> Any:
    try:
        return np.asarray(cells)
    except ValueError:
        # Lists of several lengths: objects, which are no numbers.
        return np.fromiter(cells, dtype=object, count=len(cells))


def _of_columns(data: dict[str, Any], columns: Sequence[str] | None) -> ScoreTable:
    for name, column in data.items():
        if column.ndim != 1:
            raise ColumnError(f"Column {name!r} must be one-dimensional; got {shape_of(column)}.")
    lengths = {name: len(column) for name, column in data.items()}
    if len(set(lengths.values())) > 1:
        raise TableError(f"All columns must have the same number of rows; got {lengths}.")
    names, left_out = choose_columns(columns, data)
    others = {name: column for name, column in data.items() if name not in names} or None
    values = np.empty((len(data[names[0]]), len(names)), order="F")
    for k, name in enumerate(names):
        values[:, k] = as_floats(data[name], name)
    return ScoreTable(names, values, others, left_out=left_out)


def _of_frame(frame: Any, columns: Sequence[str] | None) -> ScoreTable:
    """Make a table of a pyarrow table or batch, or of a narwhals frame."""
    arrow = is_arrow(frame)
    present = frame.schema.names if arrow else frame.columns
    unique_names(present)
    # A frame of pandas may have names that are no text.
    keys = {str(key): key for key in present}
    cells = {name: frame.column(key) if arrow else frame.get_column(key) for name, key in keys.items()}
    names, left_out = choose_columns(columns, cells)
    values = np.empty((len(frame), len(names)), order="F")
    for k, name in enumerate(names):
        values[:, k] = as_floats(cells[name], name)
    aside = [key for name, key in keys.items() if name in names]
    if len(aside) == len(keys):
        return ScoreTable(names, values)
    others = frame.drop_columns(aside) if arrow else frame.drop(aside).to_native()
    return ScoreTable(names, values, others, left_out=left_out)
