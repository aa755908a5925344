"""Tables as Arrow IPC: files (``.feather``, ``.arrow``) and streams (``.arrows``), known by their first bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from vecuq._files import BATCH_BYTES, refuse_bomb, refuse_width
from vecuq.errors import TableError
from vecuq.table.arrow_messages import claim_of
from vecuq.table.source import BATCH_ROWS, PartFile
from vecuq.table.widths import plain, plain_type, shares, widest

if TYPE_CHECKING:
    import pyarrow as pa


def schemas(parts: Sequence[PartFile], columns: Sequence[str], *, typed: bool = True) -> list[pa.Schema]:
    """Return the columns of each file; their types are known, so ``typed`` changes nothing."""
    return [_schema_of(part) for part in parts]


def _schema_of(part: PartFile) -> pa.Schema:
    with _opened(part) as reader:
        refuse_width(part, len(reader.schema))
        return _plain_schema(reader.schema)


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
    """Yield the columns of ``schema`` in batches of bounded size."""
    with _opened(part) as reader:
        _refuse_claims(part)
        for batch in _record_batches(reader):
            # Arrow trusts the offsets that a file states; a damaged one would be read beyond its end.
            batch.validate(full=True)
            yield from _pieces(part, batch.select(schema.names))


def _refuse_claims(part: PartFile) -> None:
    """Refuse a file whose messages would unpack to more than it may hold."""
    import pyarrow as pa

    with pa.memory_map(str(part.path)) as mapped:
        content = memoryview(mapped.read_buffer()).cast("B")
    claim = claim_of(content)
    refuse_bomb(part, claim.dictionaries + claim.batch, len(content))


def _record_batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if hasattr(reader, "get_batch"):
        return (reader.get_batch(k) for k in range(reader.num_record_batches))
    return iter(reader)


def _pieces(part: PartFile, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield a batch in pieces that stay small when every cell has bytes of its own."""
    import pyarrow as pa

    row = sum(widest(column) for column in batch.columns if shares(column.type))
    refuse_bomb(part, row, part.path.stat().st_size)
    n_rows, schema = min(BATCH_ROWS, max(1, BATCH_BYTES // max(row, 1))), _plain_schema(batch.schema)
    for start in range(0, len(batch), n_rows):
        arrays = [plain(column) for column in batch.slice(start, n_rows).columns]
        yield from _halves(pa.RecordBatch.from_arrays(arrays, schema=schema))


def _halves(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield a batch whole, or in halves of halves until each is small."""
    n_bytes = sum(column.nbytes for column in batch.columns if not shares(column.type))
    if n_bytes <= BATCH_BYTES or len(batch) < 2:
        yield batch
        return
    middle = len(batch) // 2
    yield from _halves(batch.slice(0, middle))
    yield from _halves(batch.slice(middle))


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([field.with_type(plain_type(field.type)) for field in schema], metadata=schema.metadata)


def write(file: BinaryIO, kind: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write the batches one by one, as a stream or as a file."""
    import pyarrow as pa

    with (pa.ipc.new_stream if kind == ".arrows" else pa.ipc.new_file)(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
