"""Tables as jsonl, one object per line: scores as numbers, and everything else as JSON again."""

from __future__ import annotations

import json
import math
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._check import unique_names
from vecuq.errors import ColumnError, TableError
from vecuq.table.text import floats_of

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 65_536
BATCH_BYTES = 64 * 2**20
# A longer line than this is not a row of scores.
LINE_BYTES = 16 * 2**20
# Marks a column of text that is JSON itself: lists, records, or cells of different kinds.
_JSON = {b"vecuq": b"json"}

Row = dict[str, Any]


def read(path: Path, columns: Sequence[str], *, typed: bool = True, alone: bool = False) -> Iterator[pa.RecordBatch]:
    """Yield the file in batches of bounded size; a first pass finds out what each column holds.

    Lists, records and columns of mixed kinds become JSON text, which :func:`write` writes out as it was. JSON has
    types, so ``typed`` changes nothing.
    """
    import pyarrow as pa

    schema = _schema_of(path, columns)
    first_row = 0
    for rows in _batches(path):
        cells = {field.name: [row.get(field.name) for row in rows] for field in schema}
        scores = {name: floats_of(cells[name], name, first_row) for name in columns if name in cells}
        arrays = [_array(scores.get(field.name, cells[field.name]), field) for field in schema]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
        first_row += len(rows)


def _array(cells: Any, field: pa.Field) -> pa.Array:
    import pyarrow as pa

    if _is_json(field):
        cells = [None if cell is None else json.dumps(_without_nan(cell)) for cell in cells]
    return pa.array(cells, type=field.type, from_pandas=True)


def _is_json(field: pa.Field) -> bool:
    # Parquet adds entries of its own, so look for ours alone.
    return _JSON.items() <= (field.metadata or {}).items()


def _schema_of(path: Path, columns: Sequence[str]) -> pa.Schema:
    import pyarrow as pa

    kinds: dict[str, set[str]] = {}
    for rows in _batches(path):
        for name in dict.fromkeys(chain.from_iterable(rows)):
            kinds.setdefault(name, set()).update(_kinds_of([row.get(name) for row in rows]))
    if not kinds:
        raise TableError(f"{path} has no rows.")
    return pa.schema([_field(name, {"float"} if name in columns else found) for name, found in kinds.items()])


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


def _batches(path: Path) -> Iterator[list[Row]]:
    rows: list[Row] = []
    size = 0
    for row, n_bytes in _rows(path):
        rows.append(row)
        size += n_bytes
        if len(rows) == BATCH_ROWS or size > BATCH_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _rows(path: Path) -> Iterator[tuple[Row, int]]:
    """Yield every row with the length of its line; blank lines are skipped."""
    decode = json.JSONDecoder(object_pairs_hook=_record).decode
    number = 0
    with path.open("rb") as file:
        while line := file.readline(LINE_BYTES + 1):
            number += 1
            if len(line) > LINE_BYTES:
                raise TableError(f"{path}, line {number}: longer than {LINE_BYTES // 2**20} MiB; not a row of scores.")
            if line := line.removeprefix(BOM_UTF8).strip():
                yield _parse(line, decode, f"{path}, line {number}"), len(line)


def _parse(line: bytes, decode: Callable[[str], Any], place: str) -> Row:
    try:
        row = decode(line.decode())
    except ColumnError as error:
        raise ColumnError(f"{place}: {error}") from None
    except (ValueError, RecursionError):
        raise TableError(f"{place}: not valid JSON.") from None
    if not isinstance(row, dict):
        raise TableError(f'{place}: a JSON object such as {{"entropy": 0.5}} was expected.')
    return row


def _record(pairs: list[tuple[str, Any]]) -> Row:
    record = dict(pairs)
    if len(record) < len(pairs):
        unique_names(name for name, _ in pairs)
    return record


def write(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write the batches row by row; a missing number is null, as JSON knows no NaN."""
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=str).encode
    with path.open("w", encoding="utf-8") as file:
        for batch in batches:
            columns = [_cells(batch[field.name], field) for field in schema]
            file.writelines(
                encode(dict(zip(schema.names, row, strict=True))) + "\n" for row in zip(*columns, strict=True)
            )


def _cells(column: pa.Array, field: pa.Field) -> list[Any]:
    import pyarrow as pa

    cells = column.to_pylist()
    if _is_json(field):
        return [None if cell is None else _without_nan(json.loads(cell)) for cell in cells]
    plain = pa.types.is_integer(field.type) or pa.types.is_string(field.type)
    return cells if plain else [_without_nan(cell) for cell in cells]


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(cell) for name, cell in value.items()}
    if isinstance(value, list):
        return [_without_nan(cell) for cell in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
