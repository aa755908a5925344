"""ScoreTable: named columns of numbers, higher meaning more uncertain, and everything else left as it came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vecuq._check import Array, bad_cell, shape_of, unique_names, wanted_columns
from vecuq.errors import ColumnError, TableError

__all__ = ["RESERVED", "ScoreTable"]

# What vecuq itself adds to a table; never taken for a score.
RESERVED = ("uncertainty", "p_value", "flagged")


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Named score columns, higher = more uncertain, beside columns that are kept but never looked at.

    Build it with :meth:`of` from anything in memory, or with :func:`vecuq.read_table` from a file.

    Parameters
    ----------
    columns
        Names of the score columns.
    values
        Scores, shape (rows, columns), float64; missing values are NaN.
    others
        The remaining columns (ids, texts, labels), a frame of the library it came from, or None.
    flipped
        Columns that came as confidences and were negated.

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

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> dict[str, int]:
        """How many values of each column are missing; columns that are complete are left out."""
        counts = np.isnan(self.values).sum(axis=0)
        return {name: int(count) for name, count in zip(self.columns, counts, strict=True) if count}

    @staticmethod
    def of(data: Any, *, columns: Sequence[str] | None = None, flip: Iterable[str] = ()) -> ScoreTable:
        """Make a score table of an array, a mapping of columns, or a pandas, polars or pyarrow frame.

        Parameters
        ----------
        data
            What holds the scores.
        columns
            Names of the score columns. By default every floating-point column of a frame (if it has none, every
            column of whole numbers), or all columns of an array (``x0``, ``x1``, ...). Whole numbers beside
            floating-point columns are taken for ids and labels: name them to use them.
        flip
            Columns in which higher means more *confident*; they are negated.
        """
        if isinstance(data, ScoreTable):
            table = data if columns is None else data.select(columns)
        elif type(data) is dict:
            table = _of_columns({str(name): np.asarray(column) for name, column in data.items()}, columns)
        elif hasattr(data, "columns") or hasattr(data, "column_names"):
            table = _of_frame(data, columns)
        else:
            table = _of_array(data, columns)
        return table.flip(flip)

    def flip(self, names: Iterable[str]) -> ScoreTable:
        """Negate the named columns, from confidence to uncertainty."""
        if isinstance(names, str):
            names = (names,)
        chosen = wanted_columns(names, self.columns, purpose="which should be flipped")
        if not chosen:
            return self
        sign = np.array([-1.0 if name in chosen else 1.0 for name in self.columns])
        return ScoreTable(self.columns, self.values * sign, self.others, self.flipped ^ set(chosen))

    def select(self, columns: Sequence[str]) -> ScoreTable:
        """Return the named score columns, in that order."""
        names = wanted_columns(columns, self.columns, purpose="which are needed as score columns")
        if names == self.columns:
            return self
        index = [self.columns.index(name) for name in names]
        return ScoreTable(names, self.values[:, index], self.others, self.flipped & set(names))


def _of_array(data: Any, columns: Sequence[str] | None) -> ScoreTable:
    array = np.asarray(data)
    if array.ndim != 2 or array.shape[1] == 0:
        raise TableError(
            f"Scores must be a table of rows and columns; got {shape_of(array)}. "
            f"Use reshape(-1, 1) for one column, reshape(1, -1) for one row."
        )
    default = tuple(f"x{k}" for k in range(array.shape[1]))
    names = unique_names(columns) if columns is not None else default
    if len(names) != array.shape[1]:
        raise ColumnError(f"{len(names)} column names were given for an array of {array.shape[1]} columns.")
    values = _as_float(array, names)
    return ScoreTable(names, values)


def _as_float(array: Any, names: Sequence[str]) -> Array:
    if array.dtype.kind in "fiub":
        return np.asarray(array, dtype=float)
    return np.column_stack([_column_as_float(array[:, k], name) for k, name in enumerate(names)])


def _column_as_float(column: Any, name: str) -> Array:
    """Return one column as float64; None is missing, anything that is no number is an error with its row."""
    if column.dtype.kind in "fiub":
        return np.asarray(column, dtype=float)
    out = np.empty(len(column))
    for row, cell in enumerate(column.tolist()):
        try:
            out[row] = np.nan if cell is None else float(cell)
        except (TypeError, ValueError, OverflowError):
            raise bad_cell(name, row, cell) from None
    return out


def _of_columns(data: dict[str, Any], columns: Sequence[str] | None) -> ScoreTable:
    for name, column in data.items():
        if column.ndim != 1:
            raise ColumnError(f"Column {name!r} must be one-dimensional; got {shape_of(column)}.")
    lengths = {name: len(column) for name, column in data.items()}
    if len(set(lengths.values())) > 1:
        raise TableError(f"All columns must have the same number of rows; got {lengths}.")
    kinds = {name: column.dtype.kind for name, column in data.items() if name not in RESERVED}
    floats, whole = ([name for name, kind in kinds.items() if kind in wanted] for wanted in ("f", "iu"))
    names = _chosen(columns, floats or whole, list(data))
    others = {name: column for name, column in data.items() if name not in names}
    values = np.column_stack([_column_as_float(data[name], name) for name in names])
    return ScoreTable(names, values, others or None)


def _of_frame(data: Any, columns: Sequence[str] | None) -> ScoreTable:
    import narwhals as nw

    names_in = [str(name) for name in getattr(data, "column_names", None) or list(data.columns)]
    unique_names(names_in)
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        raise TableError(
            f"A {type(data).__name__} is not a table that vecuq reads. Give a NumPy array, a pandas, polars or "
            f"pyarrow frame in memory, or a ScoreTable."
        ) from None
    by_name = dict(zip(names_in, frame.columns, strict=True))
    types = {name: frame.schema[key] for name, key in by_name.items() if name not in RESERVED}
    floats = [name for name, kind in types.items() if kind.is_float()]
    names = _chosen(columns, floats or [name for name, kind in types.items() if kind.is_integer()], names_in)
    values = np.empty((len(frame), len(names)))
    for k, name in enumerate(names):
        values[:, k] = _series_as_float(frame[by_name[name]], name)
    rest = [by_name[name] for name in names_in if name not in names]
    return ScoreTable(names, values, frame.select(rest).to_native() if rest else None)


def _series_as_float(series: Any, name: str) -> Array:
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=float)
    return _column_as_float(np.array(series.to_list(), dtype=object), name)


def _chosen(columns: Sequence[str] | None, default: list[str], present: list[str]) -> tuple[str, ...]:
    if columns is not None:
        names = wanted_columns(columns, present, purpose="which are needed as score columns")
        if not names:
            raise ColumnError("At least one score column is needed; none was named.")
        return names
    if not default:
        raise ColumnError(
            f"None of the columns {present} is numeric, so none is taken for a score. Name the score columns."
        )
    return tuple(default)
