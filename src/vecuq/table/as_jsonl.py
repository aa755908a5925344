"""Tables as jsonl, one object per line: scores as numbers, and everything else as JSON again."""

from __future__ import annotations

import gzip
import json
import math
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import numpy as np

from vecuq._check import unique_names
from vecuq._files import BATCH_BYTES, LINE_BYTES, MOST_LEVELS, refuse_width
from vecuq.errors import ColumnError, TableError
from vecuq.table.alike_rows import AlikeRows, alike_rows, row_type
from vecuq.table.cells import python_cells
from vecuq.table.source import BATCH_ROWS, PartFile
from vecuq.table.text import floats_of

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 8 * 2**20
# Most cells of a batch: a line leaves out what it lacks, and a table does not.
_BATCH_CELLS = BATCH_BYTES // 8
# Marks a column of text that is JSON itself: lists, records, or cells of different kinds.
_JSON = {b"vecuq": b"json"}
# The end of a key; in a text, the quote would have a backslash before it.
_KEY_END = re.compile(rb'"\s*:')

Row = dict[str, Any]
Rows = list[Row] | AlikeRows
Kinds = dict[str, set[str]]


def schemas(parts: Sequence[PartFile], columns: Sequence[str], *, typed: bool = True) -> list[pa.Schema]:
    """Return the columns of each file, after a first pass over it; a column has one type in all files.

    Lists, records and columns of mixed kinds become JSON text, which :func:`write` writes out as it was. JSON has
    types, so ``typed`` changes nothing.
    """
    import pyarrow as pa

    found = [_kinds_in(part, columns) for part in parts]
    if not any(found):
        raise TableError(f"{parts[0]} has no rows.")
    together: Kinds = {name: {"float"} for name in columns}
    for name, kinds in chain.from_iterable(kinds.items() for kinds in found):
        together.setdefault(name, set()).update(() if name in columns else kinds)
    return [pa.schema([_field(name, together[name]) for name in kinds]) for kinds in found]


def read(part: PartFile, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the columns of ``schema`` in batches of bounded size; what a row lacks is null."""
    import pyarrow as pa

    first_row, most_rows = 0, max(1, _BATCH_CELLS // max(len(schema), 1))
    for rows in _batches(part, most_rows):
        present = set(_names_of(rows))
        arrays = [
            _array(_cells_of(rows, field.name), field, first_row)
            if field.name in present
            else pa.nulls(len(rows), field.type)
            for field in schema
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
        first_row += len(rows)


def _names_of(rows: Rows) -> dict[str, None]:
    """Return the keys of all rows, in the order in which they come first."""
    return dict.fromkeys(rows.names if isinstance(rows, AlikeRows) else chain.from_iterable(rows))


def _cells_of(rows: Rows, name: str) -> list[Any]:
    if isinstance(rows, AlikeRows):
        return rows.cells(name)
    try:
        return list(map(itemgetter(name), rows))
    except KeyError:
        return [row.get(name) for row in rows]


def _array(cells: Any, field: pa.Field, first_row: int) -> pa.Array:
    import pyarrow as pa

    if _is_json(field):
        cells = [None if cell is None else _as_json(cell, field.name, row) for row, cell in enumerate(cells, first_row)]
    elif field.type == pa.float64():
        cells = floats_of(cells, field.name, first_row)
    return pa.array(cells, type=field.type, from_pandas=True)


def _as_json(cell: Any, name: str, row: int) -> str:
    try:
        return json.dumps(_without_nan(cell))
    except RecursionError:
        raise ColumnError(
            f"Column {name!r}, row {row:,} (counting from 0): lists and records go at most {MOST_LEVELS} levels deep."
        ) from None


def _is_json(field: pa.Field) -> bool:
    # Parquet adds entries of its own, so look for ours alone.
    return _JSON.items() <= (field.metadata or {}).items()


def _kinds_in(part: PartFile, columns: Sequence[str]) -> Kinds:
    """Return which kinds of cells each column of a file holds; those of scores are known without looking."""
    kinds: Kinds = {}
    for rows in _batches(part):
        names = _names_of(rows)
        refuse_width(part, len(kinds.keys() | names))
        kinds.update((name, set()) for name in names if name not in kinds)
        for name, cells in _columns(rows, [name for name in names if name not in columns]):
            kinds[name].update(_kinds_of(cells))
    return kinds


def _columns(rows: Rows, names: Iterable[str]) -> Iterable[tuple[str, list[Any]]]:
    """Return the cells of each column; where most rows lack most columns, only those that are there."""
    listed = list(names)
    if isinstance(rows, AlikeRows) or len(rows) * len(listed) <= 4 * sum(map(len, rows)):
        return ((name, _cells_of(rows, name)) for name in listed)
    found: dict[str, list[Any]] = {name: [None] for name in listed}
    for name, cell in chain.from_iterable(row.items() for row in rows):
        if name in found:
            found[name].append(cell)
    return found.items()


def _kinds_of(cells: list[Any]) -> set[str]:
    known = {bool: "bool", int: "int", float: "float", str: "text", type(None): "none"}
    kinds = {known.get(kind, "nested") for kind in set(map(type, cells))}
    if "int" in kinds:
        whole = [cell for cell in cells if type(cell) is int]
        low, high = min(whole), max(whole)
        # What no int64 holds is kept as JSON; what no float64 holds is kept from becoming one.
        kinds |= {"nested"} if low < -(2**63) or high >= 2**63 else {"long"} if max(-low, high) > 2**53 else set()
    return kinds


def _field(name: str, kinds: set[str]) -> pa.Field:
    """Return the narrowest type for all kinds of cells in a column; mixed kinds are kept as JSON."""
    import pyarrow as pa

    found = kinds - {"none"}
    types = {
        "bool": pa.bool_(),
        "text": pa.string(),
        "int": pa.int64(),
        "int long": pa.int64(),
        "float": pa.float64(),
        "float int": pa.float64(),
        "": pa.null(),
    }
    kind = types.get(" ".join(sorted(found)))
    return pa.field(name, pa.string(), metadata=_JSON) if kind is None else pa.field(name, kind)


def _batches(part: PartFile, most_rows: int = BATCH_ROWS) -> Iterator[Rows]:
    """Yield the rows of a file in lists of bounded size."""
    step = min(most_rows, BATCH_ROWS)
    decode = msgspec.json.Decoder().decode_lines
    for block, first_line in _blocks(part):
        rows = _quickly(block, decode)
        if rows is None:
            rows = list(_one_by_one(block, part, first_line))
        yield from (rows[start : start + step] for start in range(0, len(rows), step))


def _blocks(part: PartFile) -> Iterator[tuple[bytes, int]]:
    """Yield some whole lines at a time, with the number of the first."""
    number = 1
    with gzip.open(part.path) if part.is_packed else part.path.open("rb") as file:
        while block := file.read(min(BLOCK_BYTES, LINE_BYTES)):
            begun = len(block) - (block.rfind(b"\n") + 1)
            block += file.readline(LINE_BYTES + 1 - begun) if begun else b""
            n_ends = _count(block, b"\n")
            if len(block) - (block.rfind(b"\n", 0, -1) + 1) > LINE_BYTES:
                number += n_ends - block.endswith(b"\n")
                raise TableError(f"{part}, line {number}: longer than {LINE_BYTES // 2**20} MiB; not a row of scores.")
            yield (block.removeprefix(BOM_UTF8) if number == 1 else block), number
            number += n_ends


def _count(block: bytes, letter: bytes) -> int:
    """Count a letter, several times faster than ``bytes.count`` does if there are many."""
    return int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord(letter)))


def _quickly(block: bytes, decode: Any) -> Rows | None:
    """Return the rows of a block; None if there is anything about it that must be looked at line by line."""
    n_lines, n_colons = _count(block, b"\n") + (not block.endswith(b"\n")), _count(block, b":")
    alike = alike_rows(block, n_lines, n_colons)
    if alike is not None:
        return alike
    try:
        rows: list[Row] = decode(block)
        n_keys = sum(map(len, rows))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError):
        return None
    if len(rows) != n_lines or set(map(type, rows)) != {dict}:
        return None
    # A doubled key is lost on the way, so the keys are counted in the text as well.
    if n_keys == n_colons:
        return rows
    n_written = len(_KEY_END.findall(block))
    try:
        return rows if n_written in (n_keys, sum(map(_n_keys, rows))) else None
    except RecursionError:
        return None


def _n_keys(value: Any, levels: int = MOST_LEVELS) -> int:
    """Count the keys of a value at any depth that is read."""
    if levels < 0:
        raise RecursionError
    inner = [one for one in (value.values() if type(value) is dict else value) if type(one) in (dict, list)]
    return (len(value) if type(value) is dict else 0) + sum(_n_keys(one, levels - 1) for one in inner)


def _one_by_one(block: bytes, part: PartFile, first_line: int) -> Iterator[Row]:
    """Yield the rows of a block with Python's reader, which takes NaN and sees doubled keys; skip blank lines."""
    decoder = json.JSONDecoder(object_pairs_hook=_record)
    for number, line in enumerate(block.split(b"\n"), start=first_line):
        if line := line.removeprefix(BOM_UTF8).strip():
            yield _parse(line, decoder, f"{part}, line {number}")


def _parse(line: bytes, decoder: json.JSONDecoder, place: str) -> Row:
    try:
        row = decoder.decode(line.decode())
    except ColumnError as error:
        raise ColumnError(f"{place}: {error}") from None
    except RecursionError:
        raise TableError(f"{place}: lists and records go at most {MOST_LEVELS} levels deep.") from None
    except ValueError:
        raise TableError(f"{place}: not valid JSON.") from None
    if not isinstance(row, dict):
        raise TableError(f'{place}: a JSON object such as {{"entropy": 0.5}} was expected.')
    return row


def _record(pairs: list[tuple[str, Any]]) -> Row:
    record = dict(pairs)
    if len(record) < len(pairs):
        unique_names(name for name, _ in pairs)
    return record


def write(file: BinaryIO, kind: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write the batches row by row; a missing number is null, as JSON knows no NaN."""
    encode, names = msgspec.json.Encoder().encode_lines, schema.names
    row_of = row_type(tuple(names))
    for batch in batches:
        columns = [_cells(batch[field.name], field) for field in schema]
        if row_of is not None:
            rows: list[Any] = list(map(row_of, *columns))
        else:
            rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        file.write(encode(rows))


def _cells(column: pa.Array, field: pa.Field) -> list[Any]:
    import pyarrow as pa

    if _is_json(field):
        return [None if cell is None else _as_it_was(cell) for cell in column.to_pylist()]
    if pa.types.is_floating(field.type):
        return list(column.to_numpy(zero_copy_only=False).tolist())
    simple = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
    cells = python_cells(column)
    return cells if any(known(field.type) for known in simple) else [_plain(cell) for cell in cells]


def _as_it_was(cell: str) -> Any:
    """Return JSON that was kept as text; any other text in such a column, which is not ours, as it is."""
    try:
        return msgspec.Raw(json.dumps(_without_nan(json.loads(cell)), ensure_ascii=False).encode())
    except (ValueError, RecursionError):
        return cell


def _plain(value: Any) -> Any:
    """Return a cell as what JSON knows; dates and the like as Python writes them."""
    if isinstance(value, dict):
        return {name: _plain(cell) for name, cell in value.items()}
    if isinstance(value, list):
        return [_plain(cell) for cell in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _without_nan(value: Any, levels: int = MOST_LEVELS) -> Any:
    if levels < 0:
        raise RecursionError
    if isinstance(value, dict):
        return {name: _without_nan(cell, levels - 1) for name, cell in value.items()}
    if isinstance(value, list):
        return [_without_nan(cell, levels - 1) for cell in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
