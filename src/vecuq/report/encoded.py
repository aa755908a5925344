"""A column as numbers: its different values, and which of them each row has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq.table import python_cells

if TYPE_CHECKING:
    import pyarrow as pa


def encoded(column: pa.ChunkedArray) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the values of a column, each once, and the place of each row's value among them; missing is a value too.

    Examples
    --------
    >>> import pyarrow as pa
    >>> encoded(pa.chunked_array([["b", "a", None, "b"]]))
    (['b', 'a', None], array([0, 1, 2, 0]))
    """
    import pyarrow as pa

    if pa.types.is_nested(column.type):  # Arrow tells no lists and records apart
        column = pa.chunked_array([pa.array([str(cell) for cell in python_cells(column)], pa.string())])
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    whole = column.combine_chunks().dictionary_encode(null_encoding="encode")
    parts = whole.chunks if isinstance(whole, pa.ChunkedArray) else [whole]
    if not parts:
        return [], np.empty(0, dtype=np.int64)
    return python_cells(parts[0].dictionary), parts[0].indices.to_numpy(zero_copy_only=False).astype(np.int64)
