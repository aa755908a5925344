"""Tables as text: csv in every dialect and encoding, numbers as people write them, JSON lines, packed by gzip."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from vecuq.testing.hostile.json_level import altered, as_json

ODD_CELLS = (
    *(
        "",
        " ",
        "NA",
        "nan",
        "NULL",
        "-nan",
        "inf",
        "-Infinity",
        "1e400",
        "-1e400",
        "1e-400",
        "0x1F",
        "1_000",
        "1d5",
        "1e",
    ),
    *(
        "+.5",
        ".5",
        "5.",
        "-0",
        "00.5",
        "007",
        " 1 ",
        "1,5",
        "1.234,5",
        "0.5%",
        "١٢",
        "1\x00",
        "TRUE",
        "true",
        "1-1",
        "--1",
    ),
    *("9" * 400, "0." + "1" * 400, "\ufeff1", "1\u00a0000", "'1", '"1"', "=1+1", "#N/A", "2024-01-31", "1e5 ", "\t1"),
)
_ENDS = ("\n", "\r\n", "\r")
_ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16")


@st.composite
def csv_text(draw: st.DrawFn, table: pa.Table, separator: str | None = None) -> bytes:
    """Return a strategy of a table as csv: any separator, line end, quoting and encoding, some cells odd."""
    rows = [list(table.column_names), *([_shown(cell) for cell in row.values()] for row in _records(table))]
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        _spoil(draw, rows)
    sink = io.StringIO(newline="")
    sep = draw(st.sampled_from((",", ",", ";", "\t", "|"))) if separator is None else separator
    quoting: Any = draw(st.sampled_from((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC)))
    writer = csv.writer(sink, delimiter=sep, quoting=quoting, lineterminator=draw(st.sampled_from(_ENDS)))
    writer.writerows(rows)
    return sink.getvalue().encode(draw(st.sampled_from(_ENCODINGS)), "replace")


def _records(table: pa.Table) -> list[dict[str, Any]]:
    try:
        return list(table.to_pylist())
    except (ValueError, OverflowError):  # dates beyond Python's
        return list(
            table.select([k for k, kind in enumerate(table.schema.types) if not pa.types.is_temporal(kind)]).to_pylist()
        )


def _shown(cell: Any) -> str:
    return "" if cell is None else repr(cell) if isinstance(cell, float) else str(cell)


def _spoil(draw: st.DrawFn, rows: list[list[str]]) -> None:
    """Spoil one row: an odd cell, one cell more or less, a blank line, or the header once again."""
    row = rows[draw(st.integers(0, len(rows) - 1))]
    way = draw(st.sampled_from(("cell", "cell", "cell", "more", "less", "blank", "again", "no header")))
    if way == "cell" and row:
        row[draw(st.integers(0, len(row) - 1))] = draw(st.sampled_from(ODD_CELLS))
    elif way == "more":
        row.append(draw(st.sampled_from(ODD_CELLS)))
    elif way == "less" and row:
        row.pop()
    elif way == "blank":
        rows.insert(draw(st.integers(0, len(rows))), [])
    elif way == "again":
        rows.append(list(rows[0]))
    elif way == "no header" and len(rows) > 1:
        rows.pop(0)


@st.composite
def json_lines(draw: st.DrawFn, table: pa.Table) -> bytes:
    """Return a strategy of a table as JSON lines, some of them altered, some blank, some with a field twice."""
    records = [{name: _plain(cell) for name, cell in row.items()} for row in _records(table)]
    lines = [as_json(record) for record in records] or [""]
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        place = draw(st.integers(0, len(lines) - 1))
        changed, _ = draw(altered(records[place] if place < len(records) else {}))
        lines[place] = draw(st.sampled_from((as_json(changed), "", lines[place] * 2, _with_field_twice(lines[place]))))
    start = draw(st.sampled_from((b"", b"", b"\xef\xbb\xbf", b"\n")))
    return start + draw(st.sampled_from(("\n", "\n", "\r\n"))).join(lines).encode()


def _with_field_twice(line: str) -> str:
    return line[:-1] + ', "entropy": 0.25}' if line.endswith("}") and len(line) > 2 else line


def _plain(cell: Any) -> Any:
    try:
        json.dumps(cell)
    except (TypeError, ValueError):
        return str(cell)
    return cell


@st.composite
def packed(draw: st.DrawFn, content: bytes) -> bytes:
    """Return a strategy of the same bytes under gzip: whole, in two members, cut, with rubbish behind, or plain."""
    half = len(content) // 2
    whole = gzip.compress(content, mtime=0)
    return draw(
        st.sampled_from(
            (
                whole,
                whole,
                gzip.compress(content[:half], mtime=0) + gzip.compress(content[half:], mtime=0),
                whole[:-3],
                whole + b"rubbish",
                whole[:-4] + b"\xff\xff\xff\x7f",
                content,
            )
        )
    )
