"""Tables read without vecuq: by the csv and json modules of Python, by pyarrow, and by NumPy."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vecuq._check import Array

# What docs/command-line.md lists as missing.
_MISSING = frozenset(
    ("", "#N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null")
)


class NoNumberError(ValueError):
    """A cell of a score column is no number, so that its table must be refused."""


class NoOpinionError(ValueError):
    """The independent reader cannot read the file, or cannot be sure what it means."""


def values_in(content: bytes, ending: str, columns: Sequence[str]) -> Array:
    """Return the score columns of a table file, (rows, columns), read without vecuq.

    Raises
    ------
    NoNumberError
        A cell of these columns is not a number.
    NoOpinionError
        The file cannot be read, or has not these columns.
    """
    try:
        found = _columns_in(content, ending, columns)
    except (NoNumberError, NoOpinionError):
        raise
    except Exception as error:
        raise NoOpinionError(f"{type(error).__name__}: {error}") from None
    return np.column_stack([np.array([number_in(cell) for cell in found[name]], dtype=float) for name in columns])


def number_in(cell: Any) -> float:
    """Return a cell of any kind as a number, NaN where it is missing; raise where it is no number."""
    if cell is None or type(cell).__name__ == "NAType":
        return float("nan")
    if isinstance(cell, str):
        return _number_in_text(cell)
    if isinstance(cell, bool | int | float | Decimal | np.integer | np.floating | np.bool_):
        try:
            return float(cell)
        except OverflowError:
            raise NoNumberError(repr(cell)[:40]) from None
    raise NoNumberError(repr(cell)[:40])


def _number_in_text(cell: str) -> float:
    if cell in _MISSING:
        return float("nan")
    try:
        if "_" in cell:
            raise ValueError(cell)
        return float(cell)
    except ValueError:
        raise NoNumberError(repr(cell)[:40]) from None


def _columns_in(content: bytes, ending: str, columns: Sequence[str]) -> dict[str, list[Any]]:
    if ending.endswith(".gz"):
        content, ending = gzip.decompress(content), ending.removesuffix(".gz")
    if ending in (".csv", ".tsv"):
        return _of_csv(content, columns, "\t" if ending == ".tsv" else ",;\t|")
    if ending == ".jsonl":
        return _of_lines(content, columns)
    if ending == ".npz":
        return _of_npz(content, columns)
    source = pa.BufferReader(content)
    table = pq.read_table(source) if ending == ".parquet" else _arrow_reader(source, content).read_all()
    table.validate(full=True)
    return {name: table.column(name).to_pylist() for name in columns}


def _arrow_reader(source: Any, content: bytes) -> Any:
    return pa.ipc.open_file(source) if content.startswith(b"ARROW1") else pa.ipc.open_stream(source)


def _of_csv(content: bytes, columns: Sequence[str], separators: str) -> dict[str, list[Any]]:
    text = content.decode("utf-8-sig")
    for separator in separators:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True) if row]
        if rows and set(columns) <= set(rows[0]):
            break
    else:
        raise NoOpinionError("no header with these columns")
    header, *body = rows
    if len(set(header)) < len(header) or any(len(row) != len(header) for row in body):
        raise NoOpinionError("ragged rows or doubled names")
    return {name: [row[header.index(name)] for row in body] for name in columns}


def _of_lines(content: bytes, columns: Sequence[str]) -> dict[str, list[Any]]:
    lines = [line for line in content.decode("utf-8-sig").splitlines() if line.strip()]
    records = [json.loads(line, object_pairs_hook=_once) for line in lines]
    return {name: [record.get(name) for record in records] for name in columns}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise NoOpinionError("a field comes twice")
    return dict(pairs)


def _of_npz(content: bytes, columns: Sequence[str]) -> dict[str, list[Any]]:
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        if "scores" in archive and archive["scores"].ndim == 2:
            raise NoOpinionError("one matrix")
        arrays = {name: archive[name] for name in columns}
    dates = [name for name, array in arrays.items() if array.dtype.kind in "mMVS"]
    if dates:
        raise NoNumberError(f"{dates}")
    return {name: array.tolist() for name, array in arrays.items()}
