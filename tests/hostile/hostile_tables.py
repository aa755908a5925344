"""Score tables as nobody wants them: any type, ties, one row or none, the largest and smallest numbers, odd names."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from manners import MARKUP

# Numbers at which something changes: signs, the ends of a type, the largest whole number that a double holds.
EDGES = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 1e-5, 5e-324, 2.2e-308, 1e300, -1e300, 1.7976931348623157e308),
    *(float(2**53), float(2**53 + 2), -(2.0**63), 2.0**64, float("nan"), float("inf"), float("-inf")),
)
WHOLE = (0, 1, -1, 127, 255, 2**31 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1)
NAMES = (
    *("selected", "why", "flagged", "p_value", "uncertainty", "quality", "id", "label", "confidence", "index"),
    *("", " ", "a,b", 'say "x"', "a\nb", "a\tb", "a\rb", "\x00", "\x1b[31mred", "\u202egnp", "\ufeffentropy", "x\x07"),
    *(
        "=cmd|' /C calc'!A0",
        MARKUP,
        "[bold]x[/bold]",
        "{0}",
        "%s",
        "../x",
        "a/b",
        "--flip",
        "-",
        "contribution_entropy",
    ),
    *("entropy ", "Entropy", "e\u0301", "\u00e9", "\U0001f600", "名前", "x" * 300, "columns", "scores", "level_0"),
)
LATE, EARLY = dt.datetime(9999, 12, 31), dt.datetime(1, 1, 1)
names = st.sampled_from(NAMES) | st.text(st.characters(codec="utf-8"), max_size=8)
numbers = st.sampled_from(EDGES) | st.floats(width=64) | st.floats(0, 10).map(lambda x: round(x, 2))
texts = (
    st.sampled_from(("", "NA", "nan", "0.5", "1e5", "007", "0.5%", "1,234.5", "1_000", "0x1F", "inf", "true", "=1+1"))
    | st.sampled_from(("<b>x</b>", "\x1b[2J", "a\nb", '"', "\u0661", "1e400", " 1 ", "2024-01-31", "None", "x" * 5000))
    | st.text(st.characters(codec="utf-8"), max_size=6)
)


def whole(low, high):
    return st.sampled_from([value for value in WHOLE if low <= value <= high]) | st.integers(max(low, -5), 5)


# What a column may hold: each type of Arrow that a table file can carry, and its cells.
TYPES = {
    pa.float64(): numbers,
    pa.float32(): st.floats(width=32),
    pa.float16(): st.floats(width=16).map(np.float16),
    **{getattr(pa, f"int{bits}")(): whole(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 32, 64)},
    **{getattr(pa, f"uint{bits}")(): whole(0, 2**bits - 1) for bits in (8, 64)},
    pa.bool_(): st.booleans(),
    pa.string(): texts,
    pa.dictionary(pa.int32(), pa.string()): texts,
    pa.dictionary(pa.int8(), pa.float64()): st.sampled_from((0.5, 1.0, 2.0)),
    pa.binary(): st.binary(max_size=4),
    pa.null(): st.none(),
    pa.date32(): st.sampled_from((EARLY.date(), LATE.date())) | st.dates(),
    pa.timestamp("us"): st.sampled_from((EARLY, LATE)) | st.datetimes(),
    pa.timestamp("s"): st.integers(-(2**60), 2**60),  # mostly beyond the years of Python
    pa.duration("ns"): st.integers(-(2**62), 2**62),
    pa.decimal128(38, 6): st.integers(-(10**12), 10**12).map(lambda n: Decimal(n) / 10**6),
    pa.list_(pa.float64()): st.lists(st.floats(0, 1), max_size=2),
}
NUMERIC = [kind for kind in TYPES if pa.types.is_primitive(kind) and not pa.types.is_temporal(kind)]


@st.composite
def columns_of(draw, kind, n_rows):
    """A column of one type: cells as they come, some missing, all the same, or ties among few."""
    pattern = draw(st.sampled_from(("any", "any", "some missing", "constant", "ties")))
    pool = [draw(TYPES[kind]) for _ in range({"constant": 1, "ties": 3}.get(pattern, n_rows))]
    cells = [pool[row % len(pool)] for row in range(n_rows)]
    if pattern == "some missing":
        cells = [None if draw(st.integers(0, 3)) == 0 else cell for cell in cells]
    if pa.types.is_dictionary(kind):
        return pa.array(cells, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(cells, kind)


@st.composite
def score_tables(draw, columns, kinds=tuple(NUMERIC), others=True):
    """Arrow tables of at most eight rows with the named columns, and others with odd names beside them."""
    n_rows = draw(st.integers(0, 8))
    # Mostly plain numbers: a table of which nothing can be read is soon refused.
    of_scores = st.sampled_from((pa.float64(), pa.float64(), *kinds))
    found = {name: draw(columns_of(draw(of_scores), n_rows)) for name in columns}
    for name in draw(st.lists(names, max_size=2)) if others else ():
        found.setdefault(name, draw(columns_of(draw(st.sampled_from(list(TYPES))), n_rows)))
    return pa.table(dict(sorted(found.items(), reverse=True) if draw(st.booleans()) else found))


LIBRARIES = ("pyarrow", "pandas", "polars", "numpy", "records", "columns")


def as_frame(table, library):
    """An Arrow table as what another library would hand over; an error where it has no place for it."""
    if library == "pandas":
        return table.to_pandas()
    if library == "polars":
        import polars as pl

        return pl.from_arrow(table)
    if library == "numpy":
        cells = [np.array(column.to_pylist()) for column in table.columns]  # to_numpy forgets missing categories
        if any(array.ndim != 1 for array in cells):
            raise TypeError
        # Beside text, NumPy would make text of bytes.
        return np.column_stack([array.astype(object) if array.dtype.kind == "S" else array for array in cells])
    if library == "records":
        return table.to_pylist()
    return table.to_pydict() if library == "columns" else table
