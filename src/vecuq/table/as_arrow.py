"""Tables as Arrow IPC: files (``.feather``, ``.arrow``) and streams (``.arrows``), known by their first bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from vecuq.errors import TableError
from vecuq.table.source import BATCH_ROWS, PartFile

if TYPE_CHECKING:
    import pyarrow as pa


def schemas(parts: Sequence[PartFile], columns: Sequence[str], *, typed: bool = True) -> list[pa.Schema]:
    """Return the columns of each file; their types are known, so ``typed`` changes nothing."""
    return [_schema_of(part) for part in parts]


def _schema_of(part: PartFile) -> pa.Schema:
    with _opened(part) as reader:
        return reader.schema


@contextmanager
def _opened(part: PartFile) -> Iterator[Any]:
    """Open a file or a stream; what is mapped into memory is loaded only where it is read."""
    import pyarrow as pa

    with pa.memory_map(str(part.path)) as mapped:
        first = mapped.read(6)
        mapped.seek(0)
        if first.startswith(b"FEA1"):
            raise TableError(f"{part} is a Feather file of version 1, which is no longer read. Save it again as 2.")
        with pa.ipc.open_file(mapped) if first == b"ARROW1" else pa.ipc.open_stream(mapped) as reader:
            yield reader


def read(part: PartFile, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the columns of ``schema`` in batches of bounded length."""
    with _opened(part) as reader:
        for batch in _record_batches(reader):
            # Arrow trusts the offsets that a file states; a damaged one would be read beyond its end.
            batch.validate(full=True)
            chosen = batch.select(schema.names)
            yield from (chosen.slice(start, BATCH_ROWS) for start in range(0, len(batch), BATCH_ROWS))


def _record_batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if hasattr(reader, "get_batch"):
        return (reader.get_batch(k) for k in range(reader.num_record_batches))
    return iter(reader)


def write(file: BinaryIO, kind: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write the batches one by one, as a stream or as a file."""
    import pyarrow as pa

    with (pa.ipc.new_stream if kind == ".arrows" else pa.ipc.new_file)(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
