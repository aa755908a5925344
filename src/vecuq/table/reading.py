"""Tables from disk: one reader for every kind of file, in pieces of bounded size."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import groupby
from typing import TYPE_CHECKING, Any

from vecuq._check import one_line, unique_names
from vecuq._files import refuse_bomb, refuse_flood, refuse_names
from vecuq.errors import ColumnError, TableError
from vecuq.table import as_arrow, as_csv, as_jsonl, as_npz, as_parquet
from vecuq.table.score_table import ScoreTable
from vecuq.table.source import PartFile, PathLike, TableSource, is_stdio
from vecuq.table.text import arrow_as_floats, is_numeric, is_text
from vecuq.table.widths import held_bytes

if TYPE_CHECKING:
    import pyarrow as pa

TableLike = PathLike | Sequence[PathLike] | TableSource
# What reads and writes each format: `schemas`, `read` and `write`.
FORMATS: dict[str, Any] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "arrow": as_arrow,
    "npz": as_npz,
    "jsonl": as_jsonl,
}


def read_table(
    where: TableLike, *, columns: Sequence[str] | None = None, flip: Iterable[str] | None = None
) -> ScoreTable:
    """Read a whole table.

    Parameters
    ----------
    where
        A file (csv, tsv, parquet, feather, arrow, npz or jsonl by its ending, some also with ``.gz``), several, a
        folder of part files, a pattern such as ``parts/*.csv``, or ``-`` for standard input (jsonl or Arrow).
    columns, flip
        As in :meth:`vecuq.ScoreTable.of`.
    """
    # Without names every cell of a csv stays text at first: the whole column says whether it is a score.
    reader = TableReader(where, columns=() if columns is None else columns, typed=columns is not None)
    table = reader.whole()
    with _naming(reader.source):
        return ScoreTable.of(table, columns=columns, flip=flip)


def read_batches(
    where: TableLike, *, columns: Sequence[str] = (), typed: bool = True, alone: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield a table in record batches of bounded size; see :class:`TableReader`."""
    yield from TableReader(where, columns=columns, typed=typed, alone=alone).batches()


class TableReader:
    """A table on disk whose columns are known, to be read from the beginning as often as need be.

    Parameters
    ----------
    where
        What :meth:`TableSource.of` takes.
    columns
        The score columns. A cell in one of them that is no number is an error with its row in the file.
    typed
        Whether the other cells of a csv file are read as numbers and truth values where that loses nothing, or left
        as text.
    alone
        Whether the score columns are all that is wanted; most formats then read no others.

    Attributes
    ----------
    source
        The files.
    schema
        The columns that all files share, in the order of the first.
    """

    def __init__(
        self, where: TableLike, *, columns: Sequence[str] = (), typed: bool = True, alone: bool = False
    ) -> None:
        self.source = TableSource.of(where)
        self.columns = unique_names(columns)
        # Beside files that know their types, csv must find its own.
        mixed = len({part.format for part in self.source.parts}) > 1
        found = dict(_schemas(self.source.parts, self.columns, typed=mixed or (typed and not alone)))
        if alone:
            found = {part: _only(schema, self.columns) for part, schema in found.items()}
        self.schema = _common_schema(found, self.columns)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all files; a table without rows is one empty batch."""
        import pyarrow as pa

        n_rows = 0
        for part in self.source.parts:
            for batch in self._batches_of(part):
                n_rows += len(batch)
                yield batch
        if not n_rows:
            yield pa.RecordBatch.from_pylist([], schema=self.schema)

    def of_file(self, part: PartFile) -> TableReader:
        """Return the reader of one file alone, with the columns and types that all files share."""
        alone = copy(self)
        alone.source = TableSource(part.shown, (part,))
        return alone

    def only(self, names: Sequence[str]) -> TableReader:
        """Return the reader of some of the columns; most formats then read no others."""
        narrow = copy(self)
        narrow.schema = _only(self.schema, names)
        return narrow

    def whole(self) -> pa.Table:
        """Return all rows at once; a table without rows is an error."""
        import pyarrow as pa

        held, batches = 0, []
        for batch in self.batches():
            held += held_bytes(batch)
            refuse_bomb(self.source, held, self.source.n_bytes)
            batches.append(batch)
        table = pa.Table.from_batches(batches)
        if not len(table):
            raise TableError(f"{self.source} has no rows.")
        return table

    def _batches_of(self, part: PartFile) -> Iterator[pa.RecordBatch]:
        first_row = unpacked = 0
        n_bytes = part.path.stat().st_size
        with _readable(part), _naming(part):
            for batch in FORMATS[part.format].read(part, self.schema):
                _refuse_bad_cells(batch, self.columns, first_row)
                unpacked += held_bytes(batch)
                refuse_flood(part, unpacked, n_bytes)
                if len(batch):
                    yield _as_schema(batch, self.schema, self.columns, first_row)
                first_row += len(batch)


def count_rows(where: TableLike) -> int | None:
    """Return the number of rows if the files say so without being read, for a progress bar; otherwise None."""
    if is_stdio(where):
        return None
    parts = TableSource.of(where).parts
    if {part.format for part in parts} != {"parquet"}:
        return None
    total = 0
    for part in parts:
        with _readable(part):
            total += as_parquet.count(part)
    return total


def _schemas(parts: Sequence[PartFile], columns: Sequence[str], *, typed: bool) -> Iterator[tuple[PartFile, pa.Schema]]:
    """Yield the columns of each file; files of one format that infer types do so together."""
    for name, group in groupby(parts, key=lambda part: part.format):
        some = list(group)
        with _readable(some[0]):
            for part, schema in zip(some, FORMATS[name].schemas(some, columns, typed=typed), strict=True):
                refuse_names(part, schema.names)
                with _naming(part):
                    unique_names(schema.names)
                yield part, schema


def _only(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    import pyarrow as pa

    present = [field for field in schema if field.name in columns]
    return pa.schema(present, metadata=schema.metadata) if present else schema


def _common_schema(found: dict[PartFile, pa.Schema], columns: Sequence[str]) -> pa.Schema:
    """Return the columns that all files share; a column that one lacks is an error."""
    import pyarrow as pa

    first, *others = found.values()
    if not others:
        return first
    holders: dict[str, dict[PartFile, pa.Field]] = {}
    for part, schema in found.items():
        for field in schema:
            holders.setdefault(field.name, {})[part] = field
    for part, schema in found.items():
        # A line of JSON leaves out what it lacks; only scores must be in every file.
        absent = [
            name
            for name in holders
            if name not in schema.names and len(schema) and (part.format != "jsonl" or name in columns)
        ]
        if absent:
            other = next(iter(holders[absent[0]]))
            raise ColumnError(f"{part} lacks {absent}, which {other} has. All files of a table need the same columns.")
    common = [_common_field(fields, is_score=name in columns) for name, fields in holders.items()]
    return pa.schema(common, metadata=first.metadata)


def _common_field(fields: dict[PartFile, pa.Field], *, is_score: bool) -> pa.Field:
    """Return a field that the cells of all files fit in."""
    import pyarrow.types as pt

    first, *_ = known = [field for field in fields.values() if not pt.is_null(field.type)] or list(fields.values())
    types = {field.type for field in known}
    if len(types) == 1:
        return first
    common = _common_number(types, is_score=is_score) or _common_text(fields, types)
    if common is not None:
        return first.with_type(common)
    one, a = next(iter(fields.items()))
    other, b = next((part, field) for part, field in fields.items() if field.type != a.type)
    raise ColumnError(f"Column {first.name!r} holds {a.type} in {one} and {b.type} in {other}; save it as one type.")


def _common_number(types: set[Any], *, is_score: bool) -> pa.DataType | None:
    """Return the type for numbers of several types: whole numbers stay whole, for they may be ids."""
    import pyarrow as pa
    import pyarrow.types as pt

    if is_score and all(map(is_numeric, types)):
        return pa.float64()
    if all(map(pt.is_integer, types)):
        return pa.uint64() if all(map(pt.is_unsigned_integer, types)) else pa.int64()
    return pa.float64() if all(pt.is_integer(kind) or pt.is_floating(kind) for kind in types) else None


def _common_text(fields: dict[PartFile, pa.Field], types: set[Any]) -> pa.DataType | None:
    """Return the type for texts of several types; cells of a csv are numbers where another file says so."""
    import pyarrow as pa
    import pyarrow.types as pt

    if all(map(is_text, types)):
        return pa.large_string()
    typed = {field.type for part, field in fields.items() if part.format != "csv"}
    return pa.float64() if typed and all(map(pt.is_floating, typed)) else None


def _as_schema(
    batch: pa.RecordBatch, schema: pa.Schema, columns: Sequence[str] = (), first_row: int = 0
) -> pa.RecordBatch:
    """Return the columns of a batch in the order and as the types that all files share."""
    import pyarrow as pa

    if batch.schema.equals(schema):
        return batch
    arrays = [_cast(batch[field.name], field, first_row, is_score=field.name in columns) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _cast(column: pa.Array, field: pa.Field, first_row: int, *, is_score: bool) -> pa.Array:
    """Return a column as another type; scores are rounded as float64 is, anything else must stay exact."""
    import pyarrow as pa

    if field.type == pa.float64() and (is_score or is_text(column.type)):
        return pa.array(arrow_as_floats(column, field.name, first_row), from_pandas=True)
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid:
        raise ColumnError(
            f"Column {field.name!r} holds {column.type} here and numbers of another type in other files; as "
            f"{field.type} some of them would change. Save it as one type."
        ) from None


@contextmanager
def _naming(what: object) -> Iterator[None]:
    """Put the name of a file before what is wrong with its columns."""
    try:
        yield
    except ColumnError as error:
        raise ColumnError(f"{what}: {error}") from None


@contextmanager
def _readable(part: PartFile) -> Iterator[None]:
    """Turn what the readers raise into one clear line."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, EOFError, UnicodeError, zipfile.BadZipFile, zlib.error) as error:
        raise TableError(f"{part} cannot be read as {part.format}: {one_line(error)}") from None


def _refuse_bad_cells(batch: pa.RecordBatch, columns: Sequence[str], first_row: int) -> None:
    """Raise for the first cell of a score column that is no number, counting rows over the whole file."""
    for name in columns:
        if name in batch.schema.names and not is_numeric(batch.schema.field(name).type):
            arrow_as_floats(batch[name], name, first_row)
