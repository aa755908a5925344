"""Feedback as a table: one row each, joined with what was scored; as parquet, csv or jsonl, piece by piece."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from vecuq.table import without_formulas

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = {
    "parquet": "application/vnd.apache.parquet",
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
}
KINDS = ("audit", "review")
_BEFORE = ("id", "model", "time", "checksum")
_AFTER = ("uncertainty", "p_value", "accept", "p_wrong", "audit", "by")
_FOUND = ("kind", "correct", "ood", "comment", "who", "feedback_time")


def schema_of(columns: Sequence[str]) -> pa.Schema:
    """Return the columns of an export; one of ours that has the name of a score column ends in an underscore."""
    import pyarrow as pa

    number, truth, text, when = pa.float64(), pa.bool_(), pa.string(), pa.timestamp("us", tz="UTC")
    types = {
        **dict.fromkeys((*_BEFORE, "by", "kind", "comment", "who"), text),
        **dict.fromkeys(("uncertainty", "p_value", "p_wrong"), number),
        **dict.fromkeys(("accept", "audit", "correct", "ood"), truth),
        **dict.fromkeys(("time", "feedback_time"), when),
    }

    def ours(names: Iterable[str]) -> list[tuple[str, pa.DataType]]:
        return [(_apart(name, columns), types[name]) for name in names]

    return pa.schema([*ours(_BEFORE), *((name, number) for name in columns), *ours((*_AFTER, *_FOUND))])


def batch_of(page: Sequence[dict[str, Any]], columns: Sequence[str], schema: pa.Schema) -> pa.RecordBatch:
    """Return a page of an export as a batch."""
    import pyarrow as pa

    rows = [_cells(row, columns) for row in page]
    cells = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.RecordBatch.from_arrays(
        [pa.array(list(column), field.type) for column, field in zip(cells, schema, strict=True)], schema=schema
    )


def _cells(row: dict[str, Any], columns: Sequence[str]) -> list[Any]:
    """Return the cells of one row, in the order of the schema."""
    values, said = row.get("values", {}), row["feedback"]
    found = {**row, "time": _when(row.get("time"))}
    after = {**said, "feedback_time": _when(said["time"])}
    return [
        *(found.get(name) for name in _BEFORE),
        *(values.get(name) for name in columns),
        *(found.get(name) for name in _AFTER),
        *(after[name] for name in _FOUND),
    ]


class Encoder:
    """Turns batches into the bytes of one file, as they come."""

    def __init__(self, form: str, schema: pa.Schema) -> None:
        import pyarrow.csv as pc
        import pyarrow.parquet as pq

        self._form, self._sink = form, _Sink()
        self._writer: Any = None
        if form == "parquet":
            self._writer = pq.ParquetWriter(self._sink, schema)
        elif form == "csv":
            self._writer = pc.CSVWriter(self._sink, next(without_formulas([_empty(schema)])).schema)

    def add(self, batch: pa.RecordBatch) -> bytes:
        """Return the bytes of a batch."""
        if self._form == "jsonl":
            return b"".join(map(_line, batch.to_pylist()))
        self._writer.write_batch(batch if self._form == "parquet" else next(without_formulas([batch])))
        return self._sink.taken()

    def end(self) -> bytes:
        """Return the last bytes."""
        if self._writer is not None:
            self._writer.close()
        return self._sink.taken()


class _Sink(io.RawIOBase):
    """A file that is handed on as it is written, and never held."""

    def __init__(self) -> None:
        self._written, self._size = list[bytes](), 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._written.append(bytes(data))
        self._size += len(self._written[-1])
        return len(self._written[-1])

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        """Return what was written since the last call."""
        made, self._written = b"".join(self._written), []
        return made


def _line(row: dict[str, Any]) -> bytes:
    import msgspec

    return msgspec.json.encode(row) + b"\n"


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _when(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _apart(name: str, columns: Sequence[str]) -> str:
    return _apart(f"{name}_", columns) if name in columns else name
