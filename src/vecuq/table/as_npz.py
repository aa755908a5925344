"""Tables as npz: one array per column, or a matrix ``scores`` with names in ``columns``. Never a pickle."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from vecuq._check import one_line, unique_names
from vecuq.errors import TableError
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

    return pa.table({name: pa.array(_native(array)) for name, array in _columns_of(part, _load(part)).items()})


def _load(part: PartFile) -> dict[str, Any]:
    try:
        with part.path.open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise TableError("it is a single npy array; save named columns with np.savez")
            return {name: archive[name] for name in unique_names(archive.files)}
    except (ValueError, EOFError, KeyError, NotImplementedError, RuntimeError, SyntaxError, zlib.error) as error:
        raise TableError(f"{part} cannot be read as npz (pickled objects are refused): {one_line(error)}") from None


def _columns_of(part: PartFile, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the columns by name; a matrix ``scores`` is taken apart."""
    if "scores" in arrays and getattr(arrays["scores"], "ndim", 0) == 2:
        matrix = arrays.pop("scores")
        names = [str(name) for name in arrays.pop("columns", [f"x{k}" for k in range(matrix.shape[1])])]
        if len(names) != matrix.shape[1]:
            raise TableError(f"{part}: `columns` names {len(names)} columns, `scores` has {matrix.shape[1]}.")
        unique_names([*names, *arrays])
        arrays = {**dict(zip(names, matrix.T, strict=True)), **arrays}
    shapes = {name: getattr(array, "shape", None) for name, array in arrays.items()}
    if (
        not arrays
        or len(set(shapes.values())) > 1
        or any(shape is None or len(shape) != 1 for shape in shapes.values())
    ):
        raise TableError(
            f"{part} must hold one-dimensional arrays of one length, or a matrix `scores` with names in `columns`; "
            f"it holds {one_line(shapes)}."
        )
    return arrays


def _native(array: Any) -> Any:
    """Return the array with its bytes in this machine's order, which Arrow asks for."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


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
        return np.array(column.to_pylist(), dtype=object)
    array = column.to_numpy()
    inner = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return np.array(array.tolist()) if array.dtype.kind == "O" and is_text(inner) else array
