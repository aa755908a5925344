"""Tables on disk: csv, parquet, npz and jsonl by extension, read and written in pieces of bounded size."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._check import existing_file, one_line, unique_names
from vecuq._files import atomic_path
from vecuq.errors import TableError
from vecuq.table import as_csv, as_jsonl, as_npz, as_parquet
from vecuq.table.score_table import ScoreTable
from vecuq.table.text import as_text, floats_of, text_as_floats

if TYPE_CHECKING:
    import pyarrow as pa

_KINDS: dict[str, Any] = {".csv": as_csv, ".parquet": as_parquet, ".npz": as_npz, ".jsonl": as_jsonl}
EXTENSIONS = tuple(_KINDS)


def kind_of(path: str | os.PathLike[str]) -> str:
    """Return the extension that says how to read or write a table file."""
    suffix = Path(path).suffix.lower()
    if suffix not in EXTENSIONS:
        if Path(path).is_dir():
            raise TableError(f"{path} is a folder; a file was expected.")
        raise TableError(f"{path} must end in one of {', '.join(EXTENSIONS)}, which says how to read or write it.")
    return suffix


def read_table(
    path: str | os.PathLike[str], *, columns: Sequence[str] | None = None, flip: Iterable[str] = ()
) -> ScoreTable:
    """Read a whole table file; see :meth:`vecuq.ScoreTable.of` for ``columns`` and ``flip``."""
    import pyarrow as pa

    # Without names every cell of a csv stays text at first: the whole column says whether it is a score.
    batches = read_batches(path, columns=() if columns is None else columns, typed=columns is not None)
    table = pa.Table.from_batches(list(batches))
    if not len(table):
        raise TableError(f"{path} has no rows.")
    return ScoreTable.of(table, columns=columns, flip=flip)


def read_batches(
    path: str | os.PathLike[str], *, columns: Sequence[str] = (), typed: bool = True, alone: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield a table file in record batches of bounded size; an empty table yields one empty batch.

    Parameters
    ----------
    path
        The file; its extension says how to read it.
    columns
        The score columns. A cell in one of them that is no number is an error with its row in the file.
    typed
        Whether the other cells of a csv file are read as numbers and truth values where that loses nothing, or left
        as text.
    alone
        Whether the score columns are all that is wanted; a parquet file then reads no others.
    """
    file, scores = existing_file(path), unique_names(columns)
    first_row = 0
    with _readable(file):
        for batch in _KINDS[kind_of(file)].read(file, scores, typed=typed, alone=alone):
            unique_names(batch.schema.names)
            _refuse_bad_cells(batch, scores, first_row)
            first_row += len(batch)
            yield batch


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what the readers raise into one clear line."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError, zipfile.BadZipFile) as error:
        raise TableError(f"{path} cannot be read as {kind_of(path)[1:]}: {one_line(error)}") from None


def _refuse_bad_cells(batch: pa.RecordBatch, columns: Sequence[str], first_row: int) -> None:
    """Raise for the first cell of a score column that is no number, counting rows over the whole file."""
    for name in columns:
        kind = batch.schema.field(name).type if name in batch.schema.names else None
        if kind is None or _is_numeric(kind):
            continue
        if _is_text(kind):
            text_as_floats(as_text(batch[name]), name, first_row)
        else:
            floats_of(batch[name].to_pylist(), name, first_row)


def _is_numeric(kind: pa.DataType) -> bool:
    import pyarrow.types as pt

    return any(known(kind) for known in (pt.is_floating, pt.is_integer, pt.is_boolean, pt.is_decimal, pt.is_null))


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow.types as pt

    return bool(pt.is_string(kind) or pt.is_large_string(kind))


def count_rows(path: str | os.PathLike[str]) -> int | None:
    """Return the number of rows if the file says so without being read, for a progress bar; otherwise None."""
    file = existing_file(path)
    with _readable(file):
        return as_parquet.count(file) if kind_of(file) == ".parquet" else None


def write_batches(path: str | os.PathLike[str], batches: Iterable[pa.RecordBatch]) -> None:
    """Write record batches, one by one as they come, to a file that appears whole at the end or not at all."""
    import pyarrow as pa

    kind, stream = kind_of(path), iter(batches)
    with atomic_path(path) as temporary:
        first = next(stream, None)
        if first is None:
            raise TableError(f"There is nothing to write to {path}.")
        try:
            _KINDS[kind].write(temporary, first.schema, chain([first], stream))
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise TableError(f"{path} cannot be written as {kind[1:]}: {one_line(error)}") from None
