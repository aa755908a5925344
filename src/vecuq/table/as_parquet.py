"""Tables as parquet: read and written in pieces, with types and metadata kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from vecuq.table.source import BATCH_ROWS, PartFile

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 64 * 2**20


def schemas(parts: Sequence[PartFile], columns: Sequence[str], *, typed: bool = True) -> list[pa.Schema]:
    """Return the columns of each file; their types are known, so ``typed`` changes nothing."""
    return [_schema_of(part) for part in parts]


def _schema_of(part: PartFile) -> pa.Schema:
    with _opened(part) as file:
        return file.schema_arrow


def _opened(part: PartFile) -> Any:
    import pyarrow.parquet as pq

    # Arrow would otherwise hold on to every row group that it has read until the file is closed.
    return pq.ParquetFile(part.path, pre_buffer=False, buffer_size=2**20)


def read(part: PartFile, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the columns of ``schema`` in batches of bounded size."""
    with _opened(part) as file:
        wanted = None if schema.names == file.schema_arrow.names else schema.names
        yield from file.iter_batches(batch_size=_rows_per_batch(file.metadata), columns=wanted)


def _rows_per_batch(metadata: Any) -> int:
    """Return how many rows fit a batch: fewer when rows are large, as with texts."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    row_bytes = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=1.0)
    return int(min(BATCH_ROWS, max(1.0, BATCH_BYTES / max(row_bytes, 1.0))))


def count(part: PartFile) -> int:
    """Return the number of rows, which the file's footer states."""
    with _opened(part) as file:
        return int(file.metadata.num_rows)


def write(file: BinaryIO, kind: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write the batches one by one."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
