"""Table files of every ending: written by others than vecuq, then spoilt by the byte or by the structure."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.feather
from hypothesis import strategies as st

from vecuq.table import EXTENSIONS
from vecuq.testing.hostile import archives, parquet
from vecuq.testing.hostile.byte_level import damaged
from vecuq.testing.hostile.tables import score_tables
from vecuq.testing.hostile.texts import csv_text, json_lines, packed


def table_files(ending: str, columns: Sequence[str] | None = None) -> st.SearchStrategy[bytes]:
    """Return a strategy of the bytes of table files: good, spoilt by structure, or spoilt by the byte.

    Parameters
    ----------
    ending
        One of ``vecuq.table.EXTENSIONS``, such as ``".csv.gz"``.
    columns
        Names of the score columns, by default hostile ones.
    """
    if ending not in _WRITERS:
        raise LookupError(f"Add a strategy for table files that end in {ending} to vecuq/testing/hostile/files.py.")
    return _table_file(ending, columns)


@st.composite
def _table_file(draw: st.DrawFn, ending: str, columns: Sequence[str] | None) -> bytes:
    content: bytes = _WRITERS[ending](draw, draw(score_tables(columns)))
    return draw(damaged(content)) if draw(st.integers(0, 3)) == 0 else content


def _csv(draw: st.DrawFn, table: pa.Table) -> bytes:
    return draw(csv_text(table))


def _tsv(draw: st.DrawFn, table: pa.Table) -> bytes:
    return draw(csv_text(table, "\t"))


def _jsonl(draw: st.DrawFn, table: pa.Table) -> bytes:
    return draw(json_lines(table))


def _packed(write: Any) -> Any:
    return lambda draw, table: draw(packed(write(draw, table)))


def _parquet(draw: st.DrawFn, table: pa.Table) -> bytes:
    try:
        content = parquet.spelt(draw, table)
    except (pa.ArrowException, OSError):  # a type that parquet cannot hold
        content = parquet.spelt(draw, _flat(table))
    return draw(parquet.lying(content)) if draw(st.booleans()) else content


def _flat(table: pa.Table) -> pa.Table:
    return table.select(
        [k for k, kind in enumerate(table.schema.types) if pa.types.is_floating(kind) and kind != pa.float16()]
    )


def _arrow(stream: bool) -> Any:
    def write(draw: st.DrawFn, table: pa.Table) -> bytes:
        sink = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression=draw(st.sampled_from((None, "lz4", "zstd"))))
        with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=draw(st.sampled_from((2, 1000))))
        return sink.getvalue()

    return write


def _npz(draw: st.DrawFn, table: pa.Table) -> bytes:
    return archives.spelt(draw, table)


_WRITERS: dict[str, Any] = {
    ".csv": _csv,
    ".csv.gz": _packed(_csv),
    ".tsv": _tsv,
    ".tsv.gz": _packed(_tsv),
    ".parquet": _parquet,
    ".feather": _arrow(stream=False),
    ".arrow": _arrow(stream=False),
    ".arrows": _arrow(stream=True),
    ".npz": _npz,
    ".jsonl": _jsonl,
    ".jsonl.gz": _packed(_jsonl),
}
ENDINGS = EXTENSIONS
