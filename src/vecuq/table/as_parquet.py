"""Tables as parquet: read and written in pieces, with types and metadata kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

from vecuq._files import BATCH_BYTES, may_flood, refuse_bomb, refuse_width
from vecuq.table.parquet_memory import Need, need_of, refuse_repeats
from vecuq.table.source import BATCH_ROWS, PartFile

if TYPE_CHECKING:
    import pyarrow as pa

# So many rows show whether the values of a column repeat.
_FIRST_ROWS = 4_096


def schemas(parts: Sequence[PartFile], columns: Sequence[str], *, typed: bool = True) -> list[pa.Schema]:
    """Return the columns of each file; their types are known, so ``typed`` changes nothing."""
    return [_schema_of(part) for part in parts]


def _schema_of(part: PartFile) -> pa.Schema:
    with _opened(part) as file:
        refuse_width(part, file.metadata.num_columns)
        return file.schema_arrow


def _opened(part: PartFile) -> Any:
    import pyarrow.parquet as pq

    # Arrow would otherwise hold on to every row group that it has read until the file is closed.
    return pq.ParquetFile(part.path, pre_buffer=False, buffer_size=2**20)


def read(part: PartFile, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the columns of ``schema`` in batches of bounded size."""
    with _opened(part) as file:
        wanted = None if schema.names == file.schema_arrow.names else schema.names
        need = need_of(part, file, schema.names)
        n_rows = _rows_at_once(part, need)
        if may_flood(need.row * file.metadata.num_rows, part.path.stat().st_size):
            refuse_repeats(part, schema, n_rows)
        whole = n_rows == BATCH_ROWS
        # Threads cost more than they bring where batches are small.
        threads = whole and file.metadata.num_rows >= BATCH_ROWS
        batches = file.iter_batches(batch_size=n_rows, columns=wanted, use_threads=threads)
        yield from batches if whole else _gathered(batches)


def _rows_at_once(part: PartFile, need: Need) -> int:
    """Return how many rows fit a batch, fewer when they are large; refuse a file whose rows do not fit at all."""
    n_rows = int(min(BATCH_ROWS, max(1.0, BATCH_BYTES / max(need.row, 1.0))))
    refuse_bomb(part, need.held + n_rows * need.row, part.path.stat().st_size)
    return n_rows


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield small batches together, for each costs a call."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for batch in batches:
        waiting.append(batch)
        n_rows, n_bytes = n_rows + len(batch), n_bytes + batch.nbytes
        if n_rows >= BATCH_ROWS // 2 or n_bytes >= BATCH_BYTES // 2:
            yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
            waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


def count(part: PartFile) -> int:
    """Return the number of rows, which the file's footer states."""
    with _opened(part) as file:
        return int(file.metadata.num_rows)


def write(file: BinaryIO, kind: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write the batches one by one."""
    import pyarrow.parquet as pq

    stream = iter(batches)
    first = next(stream, None)
    listed = True if first is None else _worth_listing(first)
    with pq.ParquetWriter(file, schema, use_dictionary=listed) as writer:
        for batch in stream if first is None else chain([first], stream):
            writer.write_batch(batch)


def _worth_listing(batch: pa.RecordBatch) -> list[str] | bool:
    """Return the columns whose values are worth a list of the different ones, beside which they are short numbers.

    Not scores that hardly ever repeat: the list takes three quarters of the time of writing, and makes files larger.
    """
    import pyarrow.types as pt

    if any(pt.is_nested(field.type) for field in batch.schema):
        return True
    few = batch.slice(0, _FIRST_ROWS)
    scores = [field.name for field in batch.schema if pt.is_float32(field.type) or pt.is_float64(field.type)]
    return [name for name in few.schema.names if name not in scores or 2 * len(few[name].unique()) <= len(few)]
