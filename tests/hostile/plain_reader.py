"""Tables read without vecuq: by the csv and json modules of Python, by pyarrow, and by NumPy."""

import csv
import gzip
import io
import json
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# What docs/command-line.md lists as missing.
MISSING = {"", "#N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}


class NoNumberError(ValueError):
    """A cell of a score column is no number, so that its table must be refused."""


def values_in(content, ending, columns):
    """The score columns of a table file, (rows, columns); None where this reader cannot be sure what it means."""
    try:
        found = columns_in(content, ending, columns)
    except Exception:
        return None
    return None if found is None else matrix(found)


def matrix(columns):
    return np.column_stack([np.array([number_in(cell) for cell in column], dtype=float) for column in columns])


def number_in(cell):
    """A cell of any kind as a number, NaN where it is missing; raise where it is no number."""
    if cell is None or (isinstance(cell, str) and cell in MISSING):
        return math.nan
    known = isinstance(cell, str | bool | int | float | Decimal | np.integer | np.floating | np.bool_)
    try:
        if not known or "_" in str(cell):
            raise NoNumberError(repr(cell))
        return float(cell)
    except (ValueError, OverflowError):
        raise NoNumberError(repr(cell)) from None


def columns_in(content, ending, columns):
    if ending.endswith(".gz"):
        content, ending = gzip.decompress(content), ending.removesuffix(".gz")
    if ending in (".csv", ".tsv"):
        return of_csv(content, columns, "\t" if ending == ".tsv" else ",;\t|")
    if ending == ".jsonl":
        lines = [line for line in content.decode("utf-8-sig").splitlines() if line.strip()]
        records = [json.loads(line, object_pairs_hook=once) for line in lines]
        return [[record.get(name) for record in records] for name in columns]
    if ending == ".npz":
        return of_npz(content, columns)
    if ending == ".parquet":
        table = pq.read_table(pa.BufferReader(content))
    else:
        opened = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
        table = opened(pa.BufferReader(content)).read_all()
    table.validate(full=True)
    return [table.column(name).to_pylist() for name in columns]


def of_csv(content, columns, separators):
    text = content.decode("utf-8-sig")
    for separator in separators:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True) if row]
        if rows and set(columns) <= set(rows[0]):
            header, *body = rows
            if len(set(header)) < len(header) or any(len(row) != len(header) for row in body):
                return None
            return [[row[header.index(name)] for row in body] for name in columns]
    return None


def once(pairs):
    """An object of JSON in which no field comes twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a field comes twice")
    return dict(pairs)


def of_npz(content, columns):
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        if "scores" in archive and archive["scores"].ndim == 2:
            return None
        arrays = [archive[name] for name in columns]
    # Dates, durations, bytes and records are no numbers, whatever a list makes of them.
    return [[object()] if array.dtype.kind in "mMVS" else array.tolist() for array in arrays]
