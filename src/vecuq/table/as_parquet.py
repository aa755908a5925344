"""Tables as parquet: read and written in pieces, with types and metadata kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 65_536
BATCH_BYTES = 64 * 2**20


def read(path: Path, columns: Sequence[str], *, typed: bool = True, alone: bool = False) -> Iterator[pa.RecordBatch]:
    """Yield the file in batches of bounded size; its types are known, so ``typed`` changes nothing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Arrow would otherwise hold on to every row group that it has read until the file is closed.
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=2**20) as file:
        if not file.metadata.num_rows:
            yield pa.RecordBatch.from_pylist([], schema=file.schema_arrow)
        present = [name for name in columns if name in file.schema_arrow.names]
        yield from file.iter_batches(
            batch_size=_rows_per_batch(file.metadata), columns=present if alone and present else None
        )


def _rows_per_batch(metadata: Any) -> int:
    """Return how many rows fit a batch: fewer when rows are large, as with texts."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    row_bytes = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=1.0)
    return int(min(BATCH_ROWS, max(1.0, BATCH_BYTES / max(row_bytes, 1.0))))


def count(path: Path) -> int:
    """Return the number of rows, which the file's footer states."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return int(file.metadata.num_rows)


def write(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write the batches one by one."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
