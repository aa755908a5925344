"""Tables as npz: one array per column, or a matrix ``scores`` with names in ``columns``. Never a pickle."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from vecuq._check import one_line, unique_names
from vecuq._files import load_arrays
from vecuq.errors import TableError
from vecuq.table.cells import python_cells
from vecuq.table.source import BATCH_ROWS, PartFile
from vecuq.table.text import is_text

if TYPE_CHECKING:
    import pyarrow as pa


def schemas(parts: Sequence[PartFile], columns: Sequence[str], *, typed: bool = True) -> list[pa.Schema]:
    """Return the columns of each file; npz arrays have types, so ``typed`` changes nothing."""
    return [_table_of(part).schema for part in parts]


def read(part: PartFile, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the columns of ``schema`` in batches; npz arrays are loaded whole."""
    yield from _table_of(part).select(schema.names).to_batches(max_chunksize=BATCH_ROWS)


def _table_of(part: PartFile) -> pa.Table:
    import pyarrow as pa

    arrays = _columns_of(part, load_arrays(part.path, shown=part))
    return pa.table({name: _arrow(part, name, array) for name, array in arrays.items()})


def _columns_of(part: PartFile, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the columns by name; a matrix ``scores`` is taken apart."""
    if "scores" in arrays and arrays["scores"].ndim == 2:
        matrix = arrays.pop("scores")
        names = np.atleast_1d(arrays.pop("columns", [f"x{k}" for k in range(matrix.shape[1])]))
        if names.shape != (matrix.shape[1],):
            shape = len(names) if names.ndim == 1 else names.shape
            raise TableError(f"{part}: the array columns names {shape} columns, scores has {matrix.shape[1]}.")
        unique_names([*names, *arrays])
        arrays = {**dict(zip(map(str, names), matrix.T, strict=True)), **arrays}
    shapes = {name: array.shape for name, array in arrays.items()}
    if not arrays or len(set(shapes.values())) > 1 or any(len(shape) != 1 for shape in shapes.values()):
        outputs = {"probs", "logits"} & arrays.keys()
        advice = " Outputs of a classifier become scores by `vecuq measure`." if outputs else ""
        raise TableError(
            f"{part} must hold one-dimensional arrays of one length, or a matrix named scores with names in an array "
            f"named columns; it holds {one_line(shapes)}.{advice}"
        )
    return arrays


def _arrow(part: PartFile, name: str, array: Any) -> pa.Array:
    """Return an array as Arrow takes it: in this machine's byte order, and of no more than 64 bits."""
    import pyarrow as pa

    kind = np.dtype(float) if array.dtype.kind == "f" and array.dtype.itemsize > 8 else array.dtype.newbyteorder("=")
    try:
        return pa.array(array.astype(kind, copy=False))
    except pa.ArrowException as error:
        reason = f"the array {one_line(name)!r} has dtype {array.dtype}: {one_line(error)}"
        raise TableError(f"{part} cannot be read as npz: {reason}") from None


def write(file: BinaryIO, kind: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Gather everything, as npz wants it, and write one array per column."""
    import pyarrow as pa

    table = pa.Table.from_batches(batches, schema=schema)
    arrays = {name: _array_of(table[name]) for name in table.column_names}
    objects = [name for name, array in arrays.items() if array.dtype.kind == "O"]
    if objects:
        raise TableError(f"npz cannot hold the columns {objects} without pickle; write parquet instead.")
    # Not np.savez, for which a column called "file" is an argument.
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _array_of(column: pa.ChunkedArray) -> Any:
    """Return the column as a NumPy array; of objects if it holds what NumPy has no type for."""
    import pyarrow as pa

    if column.null_count and not pa.types.is_floating(column.type):
        return np.array(python_cells(column), dtype=object)
    array = column.to_numpy()
    inner = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return np.array(array.tolist()) if array.dtype.kind == "O" and is_text(inner) else array
