"""The cells of Arrow columns as they leave us: as Python objects, and as text that no spreadsheet computes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from vecuq._check import COMPUTED, NO_FORMULA, without_formula
from vecuq.errors import ColumnError

if TYPE_CHECKING:
    import pyarrow as pa


def python_cells(column: Any) -> list[Any]:
    """Return the cells of an Arrow column; dates that Python has no years or no digits for are text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> python_cells(pa.array([2**45], pa.timestamp("s")))
    ['<value out of range: 35184372088832>']
    """
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        return list(column.cast(_dates_as_text(column.type)).to_pylist())


def _dates_as_text(kind: pa.DataType) -> pa.DataType:
    """Return an Arrow type with text in the place of dates, times and durations, at any depth."""
    import pyarrow as pa

    if pa.types.is_temporal(kind):
        return pa.string()
    if pa.types.is_dictionary(kind):
        return _dates_as_text(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_dates_as_text(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.large_list(_dates_as_text(kind.value_type))
    return kind


def without_formulas(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches with an apostrophe before each name and text that a spreadsheet would compute.

    Numbers stay as they are, also in columns of text: -1.5 is no formula.
    """
    import pyarrow as pa

    for batch in batches:
        names = [without_formula(name) for name in batch.schema.names]
        if len(set(names)) < len(names):
            raise ColumnError(f"With an apostrophe before formulas, two columns would have one name: {sorted(names)}.")
        yield pa.RecordBatch.from_arrays([_quoted(column) for column in batch.columns], names=names)


def _quoted(column: pa.Array) -> pa.Array:
    """Return a column of text with its formulas quoted, and any other as it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    if not any(known(column.type) for known in kinds):
        return column
    computed = pc.match_substring_regex(column, COMPUTED)
    if not pc.any(computed).as_py():
        return column
    computed = pc.and_(computed, pc.invert(pc.match_substring_regex(column, NO_FORMULA)))
    mark, nothing = (pa.scalar(text, column.type) for text in ("'", ""))
    return pc.if_else(computed, pc.binary_join_element_wise(mark, column, nothing), column)
