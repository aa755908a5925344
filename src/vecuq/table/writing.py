"""Tables to disk, whole or not at all, and to standard output as they come."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from vecuq._check import one_line
from vecuq._files import atomic_path
from vecuq.errors import TableError
from vecuq.table.cells import without_formulas
from vecuq.table.reading import FORMATS
from vecuq.table.source import PathLike, format_of, is_stdio, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

# What standard output may carry, by name.
STDOUT_FORMATS = {"jsonl": ".jsonl", "arrow": ".arrows"}


def write_batches(
    path: PathLike, batches: Iterable[pa.RecordBatch], *, stdout_format: str = "jsonl", formulas: bool = True
) -> None:
    """Write record batches, one by one as they come, to a file that appears whole at the end or not at all.

    With ``-`` for a path they go to standard output, as jsonl or as an Arrow stream. Without ``formulas``, texts that
    a spreadsheet would compute get an apostrophe in front in csv and tsv files.
    """
    stream = iter(batches)
    if is_stdio(path):
        _write_to_stdout(STDOUT_FORMATS[stdout_format], _first_of(stream, path), stream)
        return
    kind = kind_of(path)
    if not formulas and format_of(kind) == "csv":
        stream = without_formulas(stream)
    with atomic_path(path) as temporary:
        _write(temporary, path, kind, _first_of(stream, path), stream)


def _first_of(stream: Iterable[pa.RecordBatch], path: PathLike) -> pa.RecordBatch:
    first = next(iter(stream), None)
    if first is None:
        raise TableError(f"There is nothing to write to {path}.")
    return first


def _write(temporary: Path, path: PathLike, kind: str, first: pa.RecordBatch, rest: Iterable[pa.RecordBatch]) -> None:
    import pyarrow as pa

    try:
        with temporary.open("wb") as plain, _packed(plain, kind) as file:
            FORMATS[format_of(kind)].write(file, kind, first.schema, chain([first], rest))
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise TableError(f"{path} cannot be written as {format_of(kind)}: {one_line(error)}") from None


def _packed(file: BinaryIO, kind: str) -> Any:
    """Return what packs into a file, without a name or a time, so that the same rows give the same bytes."""
    return gzip.GzipFile("", "wb", 6, file, mtime=0) if kind.endswith(".gz") else nullcontext(file)


def _write_to_stdout(kind: str, first: pa.RecordBatch, rest: Iterable[pa.RecordBatch]) -> None:
    FORMATS[format_of(kind)].write(sys.stdout.buffer, kind, first.schema, chain([first], rest))
    sys.stdout.buffer.flush()
