"""Tables on disk: csv, parquet, npz and jsonl by extension, read and written in pieces of bounded size."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import bad_cell, existing_file, unique_names
from vecuq.errors import TableError
from vecuq.table.atomic import atomic_path
from vecuq.table.score_table import ScoreTable

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EXTENSIONS", "count_rows", "read_batches", "read_table", "write_batches"]

EXTENSIONS = (".csv", ".parquet", ".npz", ".jsonl")
BATCH_ROWS = 65_536
# A longer line than this is not a row of scores.
_LINE_BYTES = 16 * 2**20


def kind_of(path: str | os.PathLike[str]) -> str:
    """Return the extension that says how to read a table file."""
    suffix = Path(path).suffix.lower()
    if suffix not in EXTENSIONS:
        raise TableError(f"{path} must end in one of {', '.join(EXTENSIONS)}, which says how to read or write it.")
    return suffix


def read_table(
    path: str | os.PathLike[str], *, columns: Sequence[str] | None = None, flip: Iterable[str] = ()
) -> ScoreTable:
    """Read a whole table file; see :meth:`vecuq.ScoreTable.of` for ``columns`` and ``flip``."""
    import pyarrow as pa

    batches = list(read_batches(path, columns=columns))
    table = pa.Table.from_batches(batches)
    if columns is None and kind_of(path) in (".csv", ".jsonl"):
        _refuse_stray_text(table)
    if not len(table):
        raise TableError(f"{path} has no rows.")
    return ScoreTable.of(table, columns=columns, flip=flip)


def read_batches(path: str | os.PathLike[str], *, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield a table file in record batches of bounded size; an empty table yields one empty batch.

    ``columns`` names the score columns, so that a bad cell in one of them can be reported by name and row.
    """
    import pyarrow as pa

    file = existing_file(path)
    readers = {".csv": _read_csv, ".parquet": _read_parquet, ".npz": _read_npz, ".jsonl": _read_jsonl}
    try:
        for batch in readers[kind_of(file)](file, columns or ()):
            unique_names(batch.schema.names)
            yield batch
    except (pa.ArrowException, OSError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise TableError(f"{file} cannot be read as {kind_of(file)[1:]}: {reason}") from None


def _read_parquet(path: Path, _columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        empty = True
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            empty = False
            yield batch
        if empty:
            yield from file.schema_arrow.empty_table().to_batches() or [_empty_batch(file.schema_arrow)]


def _empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([], type=field.type) for field in schema], schema=schema)


def _read_csv(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.csv as pc

    names = _csv_header(path)
    # An id such as 007 stays text only if it is read as text: types are inferred from the first block.
    convert = pc.ConvertOptions(column_types={name: pa.float64() for name in columns if name in names})
    try:
        with pc.open_csv(path, read_options=pc.ReadOptions(block_size=4 * 2**20), convert_options=convert) as reader:
            empty = True
            for batch in reader:
                empty = False
                yield batch
            if empty:
                yield _empty_batch(reader.schema)
    except pa.ArrowInvalid as error:
        if "conversion error" in str(error):
            _find_bad_csv_cell(path, columns)
        raise


def _csv_header(path: Path) -> tuple[str, ...]:
    import csv

    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            header = next(csv.reader(file), None)
        except csv.Error as error:
            raise TableError(f"{path} cannot be read as csv: {error}.") from None
    if not header:
        raise TableError(f"{path} is empty; a header line with column names was expected.")
    return unique_names(header)


def _find_bad_csv_cell(path: Path, columns: Sequence[str]) -> None:
    """Read the file as text and raise for the first cell of a score column that is no number."""
    import pyarrow as pa
    import pyarrow.csv as pc

    names = _csv_header(path)
    convert = pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True)
    table = pc.read_csv(path, convert_options=convert)
    for name in columns or names:
        if name in names:
            cells = table[name].to_pylist()
            numeric = [_is_number(cell) for cell in cells]
            if not all(numeric) and (columns or sum(numeric) > len(cells) // 2):
                row = numeric.index(False)
                raise bad_cell(name, row, cells[row])


def _is_number(cell: object) -> bool:
    if cell is None:
        return True
    try:
        float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _refuse_stray_text(table: pa.Table) -> None:
    """A text column most of whose cells are numbers is a score column with a stray cell, not a text."""
    import pyarrow as pa

    for name in table.column_names:
        if pa.types.is_string(table[name].type) or pa.types.is_null(table[name].type):
            cells = table[name].to_pylist()
            present = [(row, cell) for row, cell in enumerate(cells) if cell is not None]
            bad = [(row, cell) for row, cell in present if not _is_number(cell)]
            if bad and 2 * len(bad) < len(present):
                raise bad_cell(name, *bad[0])


def _read_jsonl(path: Path, _columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    schema: pa.Schema | None = None
    for rows in _chunks(_json_rows(path), BATCH_ROWS):
        names = list(dict.fromkeys(chain.from_iterable(rows))) if schema is None else schema.names
        arrays = []
        for name in names:
            cells = [row.get(name) for row in rows]
            try:
                arrays.append(pa.array(cells, type=None if schema is None else schema.field(name).type))
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                kinds = [isinstance(cell, int | float) or cell is None for cell in cells]
                row = kinds.index(False) if False in kinds else 0
                raise bad_cell(name, row, cells[row]) from None
        batch = pa.RecordBatch.from_arrays(arrays, names=names)
        if schema is None:
            schema = pa.schema([_at_least_float(field) for field in batch.schema])
            batch = batch.cast(schema)
        yield batch
    if schema is None:
        raise TableError(f"{path} has no rows.")


def _at_least_float(field: pa.Field) -> pa.Field:
    import pyarrow as pa

    return field.with_type(pa.float64()) if pa.types.is_null(field.type) else field


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_LINE_BYTES + 1):
            number += 1
            if len(line) > _LINE_BYTES:
                raise TableError(f"{path}, line {number}: longer than {_LINE_BYTES // 2**20} MiB; not a row of scores.")
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise TableError(f"{path}, line {number}: not valid JSON.") from None
            if not isinstance(row, dict):
                raise TableError(f"{path}, line {number}: a JSON object per line was expected.")
            yield row


def _chunks(rows: Iterable[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    chunk: list[dict[str, Any]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _read_npz(path: Path, _columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise TableError(f"{path} is a single npy array; save named columns with np.savez.")
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, EOFError) as error:
        raise TableError(f"{path} cannot be read as npz (objects are refused): {error}") from None
    columns = _npz_columns(path, arrays)
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    yield from table.to_batches(max_chunksize=BATCH_ROWS) or [_empty_batch(table.schema)]


def _npz_columns(path: Path, arrays: dict[str, Any]) -> dict[str, Any]:
    """One-dimensional arrays are columns; one matrix ``scores`` may come with their names in ``columns``."""
    if "scores" in arrays and arrays["scores"].ndim == 2:
        matrix, names = arrays.pop("scores"), arrays.pop("columns", None)
        given = [f"x{k}" for k in range(matrix.shape[1])] if names is None else [str(name) for name in names]
        if len(given) != matrix.shape[1]:
            raise TableError(f"{path}: `columns` names {len(given)} columns, `scores` has {matrix.shape[1]}.")
        arrays = {**dict(zip(given, matrix.T, strict=True)), **arrays}
    lengths = {name: array.shape for name, array in arrays.items()}
    if not arrays or any(len(shape) != 1 for shape in lengths.values()) or len(set(lengths.values())) > 1:
        raise TableError(
            f"{path} must hold one-dimensional arrays of one length, or a matrix `scores` with names in `columns`; "
            f"it holds {lengths}."
        )
    return arrays


def count_rows(path: str | os.PathLike[str]) -> int | None:
    """Return the number of rows if the file says so without being read, for a progress bar; otherwise None."""
    if kind_of(path) != ".parquet":
        return None
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return int(file.metadata.num_rows)


@contextmanager
def write_batches(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Yield a function that appends record batches to ``path``; the file appears, whole, at the end."""
    import pyarrow as pa

    kind = kind_of(path)
    with atomic_path(path) as temporary:
        writer = _Writer(temporary, kind)
        try:
            yield writer.write
            writer.finish()
        except pa.ArrowException as error:
            raise TableError(f"{path} cannot be written as {kind[1:]}: {' '.join(str(error).split())[:200]}") from None
        finally:
            writer.close()


class _Writer:
    """One open file of any kind; npz alone must gather everything before it can write."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind
        self.sink: Any = None
        self.gathered: list[Any] = []

    def write(self, batch: pa.RecordBatch) -> None:
        """Append one batch."""
        if self.kind == ".npz":
            self.gathered.append(batch)
            return
        if self.sink is None:
            self.sink = self._open(batch.schema)
        if self.kind == ".jsonl":
            self.sink.writelines(_json_line(row) for row in batch.to_pylist())
        else:
            self.sink.write_batch(batch)

    def _open(self, schema: pa.Schema) -> Any:
        if self.kind == ".parquet":
            import pyarrow.parquet as pq

            return pq.ParquetWriter(self.path, schema)
        if self.kind == ".csv":
            import pyarrow.csv as pc

            return pc.CSVWriter(self.path, schema)
        return self.path.open("w", encoding="utf-8")

    def finish(self) -> None:
        """Write what had to be gathered."""
        if self.kind != ".npz":
            return
        import pyarrow as pa

        table = pa.Table.from_batches(self.gathered)
        arrays = {name: np.array(table[name].to_pylist()) for name in table.column_names}
        objects = [name for name, array in arrays.items() if array.dtype == object]
        if objects:
            raise TableError(f"npz cannot hold the columns {objects} without pickle; write parquet instead.")
        with self.path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    def close(self) -> None:
        """Close the file, also after a failure."""
        if self.sink is not None:
            self.sink.close()
            self.sink = None


def _json_line(row: dict[str, Any]) -> str:
    missing_as_null = {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in row.items()}
    return json.dumps(missing_as_null, ensure_ascii=False, default=str) + "\n"
