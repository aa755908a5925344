"""The cells of a column, whatever they came as: which are numbers, which are missing, which are neither."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vecuq._check import Array, bad_cell
from vecuq.table.frames import is_arrow

if TYPE_CHECKING:
    import pyarrow as pa

# How people write that a value is missing.
MISSING = ("", "#N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null")
# How a number is written that no program reads as one: 0,5 and 1,234.5 and 1.234,5 and 1 234.5 and 5 %.
_GAPS = "'\N{RIGHT SINGLE QUOTATION MARK} \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
_NEARLY = (
    r"^\s*([+-]?(\d+,\d+([eE][+-]?\d+)?|\d{1,3}(,\d{3})+(\.\d*)?|\d{1,3}(\.\d{3})+,\d+|"
    rf"\d{{1,3}}([{_GAPS}]\d{{3}})+[.,]\d+|\d+([.,]\d+)?\s?%)"
    "|\N{MINUS SIGN}\\d+([.,]\\d+)?%?)\\s*$"
)
# A number with zeros in front, such as 007, is a name and no quantity; 00.5 is a quantity.
_NUMBER = r"^\s*[+-]?((0|[1-9]\d*|\d+\.\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))\s*$"
_WHOLE = r"^\s*[+-]?(0|[1-9]\d*)\s*$"


class Census(NamedTuple):
    """How many cells of a column of text are there at all, are numbers, whole numbers, or nearly numbers."""

    present: int
    numbers: int
    whole: int
    nearly: int

    @property
    def is_number(self) -> bool:
        """Every cell that is there is a number."""
        return self.present == self.numbers > 0

    @property
    def is_whole(self) -> bool:
        """Every number is a whole one, as in ids and labels."""
        return self.whole == self.numbers > 0 == self.nearly

    @property
    def is_spoilt(self) -> bool:
        """Most cells are numbers or nearly so and some are not: a score column with stray cells, and no texts."""
        return self.present > self.numbers and self.numbers + self.nearly > self.present // 2


def census(text: pa.ChunkedArray) -> Census:
    """Count what a column of text holds."""
    import pyarrow.compute as pc

    missing = text.null_count + _count(pc.is_in(text, value_set=_missing_words()))
    found = [_count(pc.match_substring_regex(text, pattern)) for pattern in (_NUMBER, _WHOLE, _NEARLY)]
    return Census(len(text) - missing, *found)


def _count(mask: pa.ChunkedArray) -> int:
    import pyarrow.compute as pc

    return pc.sum(mask).as_py() or 0


def _missing_words() -> pa.Array:
    import pyarrow as pa

    return pa.array(MISSING, type=pa.large_string())


def as_text(cells: Any) -> pa.ChunkedArray:
    """Return Arrow text of any width, or a list of objects, as one kind of Arrow text."""
    import pyarrow as pa

    if isinstance(cells, list):
        cells = pa.array([None if _is_absent(cell) else str(cell) for cell in cells], type=pa.large_string())
    whole = cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])
    return whole.cast(pa.large_string())


def as_floats(column: Any, name: str) -> Array:
    """Return the cells of any column as float64, NaN where missing; what is no number is an error with its row."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind in "fiub":
            return np.asarray(column, dtype=float)
        # As a list, dates become whole numbers: keep them as they are, to be refused.
        return floats_of(list(column) if column.dtype.kind in "mM" else column.tolist(), name)
    if is_arrow(column):
        return arrow_as_floats(column, name)
    return _series_as_floats(column, name)


def _series_as_floats(column: Any, name: str) -> Array:
    """Return a series of narwhals as float64."""
    import narwhals as nw

    # Decimals lose their last bit without Arrow, and a time beyond the years of Python is a panic of polars.
    times = (nw.Date, nw.Datetime, nw.Duration, nw.List, nw.Array, nw.Struct)
    if column.dtype in (nw.String, nw.Decimal, *times):
        return arrow_as_floats(column.to_arrow(), name)
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=float)
    try:
        return floats_of(column.to_list(), name)
    except OverflowError:  # a kind of Arrow that narwhals does not know
        return arrow_as_floats(column.to_arrow(), name)


def text_as_floats(text: pa.ChunkedArray, name: str, first_row: int = 0) -> Array:
    """Return text as float64, NaN where missing; anything else is an error with its row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        present = pc.if_else(pc.is_in(text, value_set=_missing_words()), None, pc.utf8_trim_whitespace(text))
        return np.array(pc.cast(present, pa.float64()), dtype=float)
    except pa.ArrowInvalid:
        return floats_of(text.to_pylist(), name, first_row)


def arrow_as_floats(column: Any, name: str, first_row: int = 0) -> Array:
    """Return an Arrow array of any type as float64, NaN where missing; what is no number is an error with its row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=float)
    if pa.types.is_decimal(kind):
        # Arrow's own way from decimals to float64 multiplies, and is off by a bit now and then.
        return np.asarray(pc.cast(pc.cast(column, pa.string()), pa.float64()).to_numpy(zero_copy_only=False))
    if is_numeric(kind):
        return np.asarray(pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False))
    if is_text(kind):
        return text_as_floats(as_text(column), name, first_row)
    return floats_of(_score_cells(column), name, first_row)


def _score_cells(column: Any) -> list[object]:
    """Return Arrow cells as Python's own; in words where it has none: as text, a duration could be a number."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        return [_score_cell(cell) for cell in column]


def _score_cell(cell: Any) -> object:
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        return f"{cell.type} that Python cannot hold"


def is_numeric(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds numbers, truth values, or nothing at all."""
    import pyarrow.types as pt

    return any(known(kind) for known in (pt.is_floating, pt.is_integer, pt.is_boolean, pt.is_decimal, pt.is_null))


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds text."""
    import pyarrow.types as pt

    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def role_of_arrow(column: Any) -> str:
    """Return what an Arrow column is for; see :func:`role_of_text`."""
    import pyarrow.types as pt

    if pt.is_floating(column.type) or pt.is_decimal(column.type):
        return "quantity"
    if pt.is_integer(column.type):
        return "count"
    if pt.is_boolean(column.type) or pt.is_null(column.type):
        return "truth" if pt.is_boolean(column.type) else "empty"
    return role_of_text(as_text(column)) if is_text(column.type) else ""


def role_of_text(text: pa.ChunkedArray) -> str:
    """Return what a column of text is for.

    A ``"quantity"``, a ``"count"`` (or an id), one of these ``"spoilt"`` by stray cells, a ``"truth"``, ``"empty"``, or
    nothing of these: ``""``.
    """
    found = census(text)
    kind = "count" if found.is_whole else "quantity"
    if found.is_number or found.is_spoilt:
        return kind if found.is_number else f"spoilt {kind}"
    if not found.present:
        return "empty" if len(text) else ""
    return "truth" if not found.numbers and _are_truths(text) else ""


def _are_truths(text: pa.ChunkedArray) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array((*MISSING, "True", "False", "true", "false"), type=pa.large_string())
    return bool(pc.all(pc.is_in(text.drop_null(), value_set=known)).as_py())


def floats_of(cells: Sequence[object], name: str, first_row: int = 0) -> Array:
    """Return cells of any kind as float64, NaN where missing; anything else is an error with its row."""
    if set(map(type, cells)) <= {float, int, bool, type(None)}:
        with suppress(OverflowError):
            return np.array(cells, dtype=float)
    found = []
    for row, cell in enumerate(cells):
        try:
            found.append(_number(cell))
        except (TypeError, ValueError, OverflowError):
            raise bad_cell(name, first_row + row, cell, hint=_remedy(cell)) from None
    return np.array(found, dtype=float)


def _remedy(cell: object) -> str:
    nearly = isinstance(cell, str) and re.match(_NEARLY, cell)
    return "Write numbers with a decimal point and nothing else, as in 1234.5. " if nearly else ""


def _number(cell: object) -> float:
    if _is_absent(cell):
        return float("nan")
    if isinstance(cell, np.datetime64 | np.timedelta64 | np.complexfloating | bytes | bytearray | memoryview):
        raise TypeError("NumPy or Python would make a number of it all the same")
    if isinstance(cell, str) and "_" in cell:
        raise ValueError("Python reads 1_000 as a number; no table does")
    return float(cell)  # type: ignore[arg-type]


def _is_absent(cell: object) -> bool:
    # The missing value of pandas is known by its type's name, so that pandas need not be there.
    return cell is None or type(cell).__name__ == "NAType" or (isinstance(cell, str) and cell in MISSING)
