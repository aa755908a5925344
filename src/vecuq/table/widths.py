"""Arrow columns in which many cells may share the bytes of one, and how wide such a cell is once it stands alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

# Numbers, dates and the like: the widest is a decimal.
_NUMBER_BYTES = 32


def shares(kind: pa.DataType) -> bool:
    """Whether cells of a type, or what is inside them, may share bytes: dictionaries, runs, views, unions."""
    import pyarrow.types as pt

    if isinstance(kind, _extension()):
        return shares(kind.storage_type)
    known = (pt.is_dictionary, pt.is_run_end_encoded, pt.is_union, *_view_checks())
    if any(check(kind) for check in known):
        return True
    inner = (kind.field(k) for k in range(kind.num_fields)) if pt.is_nested(kind) else ()
    return any(shares(field.type) for field in inner)


def _extension() -> Any:
    import pyarrow as pa

    return pa.BaseExtensionType


def _view_checks() -> tuple[Any, ...]:
    import pyarrow.types as pt

    return pt.is_string_view, pt.is_binary_view, pt.is_list_view, pt.is_large_list_view


def widest(array: pa.Array) -> int:
    """Return a bound on the bytes of any one cell, with all that it refers to."""
    import pyarrow.types as pt

    kind = array.type
    if not len(array) or pt.is_null(kind):
        return 1
    if isinstance(kind, _extension()):
        return widest(array.storage)
    if pt.is_dictionary(kind):
        return widest(array.dictionary)
    if pt.is_run_end_encoded(kind):
        return widest(array.values)
    if pt.is_nested(kind):
        return _widest_of_many(array, kind)
    return _widest_text(array, kind)


def _widest_of_many(array: Any, kind: Any) -> int:
    """Return the bound for a list, a record or a union."""
    import pyarrow.types as pt

    if pt.is_struct(kind) or pt.is_union(kind):
        return sum(widest(array.field(k)) for k in range(kind.num_fields))
    if pt.is_fixed_size_list(kind):
        return int(kind.list_size) * widest(array.values)
    lengths = array.sizes if hasattr(array, "sizes") else np.diff(np.asarray(array.offsets))
    return max(int(np.max(np.asarray(lengths), initial=0)), 1) * widest(array.values)


def _widest_text(array: Any, kind: Any) -> int:
    import pyarrow.compute as pc
    import pyarrow.types as pt

    if pt.is_string_view(kind) or pt.is_binary_view(kind):
        # A view is 16 bytes, of which the first 4 are its length.
        lengths = np.frombuffer(array.buffers()[1], dtype=np.int32)[::4][array.offset : array.offset + len(array)]
        return max(int(lengths.max()), _NUMBER_BYTES)
    if pt.is_fixed_size_binary(kind):
        return int(kind.byte_width)
    if any(check(kind) for check in (pt.is_string, pt.is_large_string, pt.is_binary, pt.is_large_binary)):
        return (pc.max(pc.binary_length(array)).as_py() or 0) + _NUMBER_BYTES
    return _NUMBER_BYTES


def held_bytes(batch: pa.RecordBatch) -> int:
    """Return what a batch takes, at least a float64 per cell; what cells share is left out."""
    least = 8 * len(batch)
    return sum(max(0 if shares(column.type) else column.nbytes, least) for column in batch.columns)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type that every format knows instead of a view or of runs."""
    import pyarrow as pa
    import pyarrow.types as pt

    if pt.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    return pa.string() if pt.is_string_view(kind) else pa.binary() if pt.is_binary_view(kind) else kind


def plain(array: pa.Array) -> pa.Array:
    """Return an array as its plain type."""
    import pyarrow.compute as pc
    import pyarrow.types as pt

    if pt.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    wanted = plain_type(array.type)
    return array if array.type == wanted else array.cast(wanted)


def unfolded(batch: pa.RecordBatch, most_bytes: int) -> Iterator[pa.RecordBatch]:
    """Yield a batch in pieces in which every cell has bytes of its own; each takes about ``most_bytes``, or is one row.

    Formats of text write every cell out, however many share the same bytes in memory.
    """
    import pyarrow as pa

    shared = [shares(column.type) for column in batch.columns]
    if not any(shared):
        yield batch
        return
    row = sum(widest(column) for column, is_shared in zip(batch.columns, shared, strict=True) if is_shared)
    step = max(1, most_bytes // max(row, 1))
    for start in range(0, len(batch), step):
        cells = [_own(column) for column in batch.slice(start, step).columns]
        yield pa.RecordBatch.from_arrays(cells, names=batch.schema.names)


def _own(array: pa.Array) -> pa.Array:
    import pyarrow.types as pt

    return plain(array.dictionary_decode() if pt.is_dictionary(array.type) else array)
