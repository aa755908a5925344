"""Tables on their way: frames of any library as Arrow, and back in the kind that came; files by their ending."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vecuq.client.calls import Reply
from vecuq.client.refused import not_ours
from vecuq.errors import TableError

ARROW_STREAM = "application/vnd.apache.arrow.stream"
_KINDS = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".arrow": "application/vnd.apache.arrow.file",
    ".feather": "application/vnd.apache.arrow.file",
    ".arrows": ARROW_STREAM,
    ".jsonl": "application/x-ndjson",
    ".npz": "application/x-npz",
}
_NEEDED = "a list of dicts, or a table of pandas, polars or pyarrow"


def content_type_of(path: Path) -> str:
    """Return how a file is announced, by its ending."""
    found = _KINDS.get(path.suffix.lower())
    if found is None:
        raise TableError(f"{path} must end in one of {', '.join(_KINDS)}, which says how it is sent.")
    return found


def as_arrow(data: Any) -> Any:
    """Return a table as one of pyarrow."""
    import pyarrow as pa

    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if _library(data) == "pandas" and hasattr(data, "columns"):
        return pa.Table.from_pandas(data, preserve_index=False)
    import narwhals as nw

    try:
        return nw.from_native(data, eager_only=True).to_arrow()
    except TypeError:
        raise TableError(f"rows must be {_NEEDED}; got {type(data).__name__}.") from None


def stream_of(table: Any) -> bytes:
    """Return an Arrow table as a stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def read_stream(reply: Reply) -> Any:
    """Return the Arrow table in an answer."""
    import pyarrow as pa

    try:
        with pa.ipc.open_stream(reply.body) as stream:
            return stream.read_all()
    except pa.ArrowException:
        raise not_ours(reply.status, reply.body, request_id=reply.request_id) from None


def like(data: Any, table: Any) -> Any:
    """Return an Arrow table in the kind that ``data`` came in; one of pandas keeps its index."""
    library = _library(data)
    if library == "pandas":
        frame = table.to_pandas()
        return frame.set_axis(data.index, axis=0) if len(frame) == len(data) else frame
    if library == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table


def _library(data: Any) -> str:
    return type(data).__module__.partition(".")[0]
