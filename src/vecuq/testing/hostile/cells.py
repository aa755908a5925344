"""Cells and names of columns that break programs: the largest and smallest numbers, dates, ties, escapes, markup."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

# Numbers at which something changes: signs, the ends of a type, the largest whole number that a double holds.
EDGES = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 1e-5, 5e-324, 2.2e-308, 1e300, -1e300, 1.7976931348623157e308),
    *(float(2**53), float(2**53 + 2), -(2.0**63), 2.0**64, float("nan"), float("inf"), float("-inf")),
)
WHOLE_EDGES = (
    0,
    1,
    -1,
    127,
    128,
    255,
    2**31 - 1,
    2**31,
    2**32,
    2**53,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64 - 1,
)
# A name that a page must not run.
MARKUP = "<script>alert(1)</script>"
NAMES = (
    *(
        "selected",
        "why",
        "flagged",
        "p_value",
        "uncertainty",
        "quality",
        "id",
        "label",
        "confidence",
        "index",
        "level_0",
    ),
    *("", " ", "a,b", 'say "x"', "a\nb", "a\tb", "a\rb", "\x00", "\x1b[31mred", "\u202egnp", "\ufeffentropy", "x\x07"),
    *("=cmd|' /C calc'!A0", MARKUP, "[bold]x[/bold]", "{0}", "%s", "../x", "a/b", "--flip", "-"),
    *(
        "entropy ",
        "Entropy",
        "e\u0301",
        "\u00e9",
        "\U0001f600",
        "名前",
        "x" * 300,
        "contribution_entropy",
        "columns",
        "scores",
    ),
)
_LATE, _EARLY = dt.datetime(9999, 12, 31), dt.datetime(1, 1, 1)
names = st.sampled_from(NAMES) | st.text(st.characters(codec="utf-8"), max_size=8)
numbers = st.sampled_from(EDGES) | st.floats(width=64) | st.floats(0, 10).map(lambda x: round(x, 2))
whole = st.sampled_from(WHOLE_EDGES) | st.integers(-5, 5)
texts = (
    st.sampled_from(("", "NA", "nan", "0.5", "1e5", "007", "0.5%", "1,234.5", "1_000", "0x1F", "inf", "true", "=1+1"))
    | st.sampled_from(("<b>x</b>", "\x1b[2J", "a\nb", '"', "\u0661", "1e400", " 1 ", "2024-01-31", "None", "x" * 5000))
    | st.text(st.characters(codec="utf-8"), max_size=6)
)


def _within(low: int, high: int) -> st.SearchStrategy[int]:
    return whole.filter(lambda value: low <= value <= high)


# What a column may hold: its Arrow type and its cells. Each type of Arrow that a table file can carry is here.
TYPES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "float64": (pa.float64(), numbers),
    "float32": (pa.float32(), st.floats(width=32)),
    "float16": (pa.float16(), st.floats(width=16).map(np.float16)),
    **{
        f"int{bits}": (getattr(pa, f"int{bits}")(), _within(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
        for bits in (8, 32, 64)
    },
    **{f"uint{bits}": (getattr(pa, f"uint{bits}")(), _within(0, 2**bits - 1)) for bits in (8, 64)},
    "bool": (pa.bool_(), st.booleans()),
    "string": (pa.string(), texts),
    "large_string": (pa.large_string(), texts),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), texts),
    "numbers by dictionary": (pa.dictionary(pa.int8(), pa.float64()), st.sampled_from((0.5, 1.0, 2.0))),
    "binary": (pa.binary(), st.binary(max_size=4)),
    "null": (pa.null(), st.none()),
    "date": (pa.date32(), st.sampled_from((_EARLY.date(), _LATE.date())) | st.dates()),
    "timestamp": (pa.timestamp("us"), st.sampled_from((_EARLY, _LATE)) | st.datetimes()),
    "timestamp beyond Python": (pa.timestamp("s"), st.integers(-(2**60), 2**60) | st.integers(-(2**50), 2**50)),
    "time": (pa.time64("us"), st.times()),
    "duration": (pa.duration("ns"), st.integers(-(2**62), 2**62)),
    "decimal": (pa.decimal128(38, 6), st.integers(-(10**12), 10**12).map(lambda n: Decimal(n) / 10**6)),
    "large decimal": (pa.decimal256(70, 2), st.integers(-(10**60), 10**60).map(Decimal)),
    "list": (pa.list_(pa.float64()), st.lists(st.floats(0, 1), max_size=2)),
    "struct": (pa.struct([("a", pa.float64())]), st.fixed_dictionaries({"a": st.floats(0, 1)})),
}
NUMERIC = ("float64", "float32", "float16", "int8", "int32", "int64", "uint8", "uint64", "bool", "null", "decimal")


_patterns = st.sampled_from(("any", "any", "some missing", "constant", "ties"))
_absent = st.integers(0, 3).map(lambda number: number == 0)


def draw_column(draw: st.DrawFn, kind: str, n_rows: int) -> pa.Array:
    """Draw a column of one type: cells as they come, some missing, all the same, or ties among few."""
    of_type, cells = TYPES[kind]
    pattern = draw(_patterns)
    pool = [draw(cells) for _ in range({"constant": 1, "ties": 3}.get(pattern, n_rows))]
    found = [pool[row % len(pool)] if pool else None for row in range(n_rows)]
    if pattern == "some missing":
        found = [None if draw(_absent) else cell for cell in found]
    if pa.types.is_dictionary(of_type):
        return pa.array(found, of_type.value_type).dictionary_encode().cast(of_type)
    return pa.array(found, of_type)
