"""Score tables as nobody wants them: hostile names, any type beside the scores, ties, one row, no rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from vecuq.testing.hostile.cells import NUMERIC, TYPES, draw_column, names

# What a table can be handed over as; "records" is a list of dicts, "columns" a dict of arrays.
LIBRARIES = ("pyarrow", "pandas", "polars", "numpy", "records", "columns")
_few_names = st.lists(names, min_size=1, max_size=3)
_more_names = st.lists(names, max_size=2)
_any_type = st.sampled_from(tuple(TYPES))


@st.composite
def score_tables(
    draw: st.DrawFn,
    columns: Sequence[str] | None = None,
    *,
    kinds: Sequence[str] = NUMERIC,
    others: bool = True,
    max_rows: int = 8,
) -> pa.Table:
    """Return a strategy of pyarrow tables that hold the named score columns, and whatever else.

    Parameters
    ----------
    columns
        Names of the score columns, by default one to three hostile ones.
    kinds
        Types that score columns may have, by default all that hold numbers; see ``vecuq.testing.TYPES``.
    others
        Whether there are other columns too: ids, labels, dates, texts, lists, with hostile names.
    max_rows
        Most rows; there may be one, or none.

    Examples
    --------
    >>> from hypothesis import given, settings
    >>> @settings(database=None)
    ... @given(score_tables(["entropy", "knn"]))
    ... def every_table_has_both(table):
    ...     assert {"entropy", "knn"} <= set(table.column_names)
    >>> every_table_has_both()
    """
    n_rows = draw(st.integers(0, max_rows))
    scores = list(dict.fromkeys(draw(_few_names) if columns is None else columns))
    # Mostly plain numbers: a table of which nothing can be read is soon refused.
    of_scores = st.sampled_from(("float64", "float64", *kinds))
    found = {name: draw_column(draw, draw(of_scores), n_rows) for name in scores}
    beside = draw(_more_names) if others else []
    found |= {name: draw_column(draw, draw(_any_type), n_rows) for name in beside if name not in found}
    order = sorted(found, reverse=draw(st.booleans()), key=list(found).index)
    return pa.table({name: found[name] for name in order})


def as_frame(table: pa.Table, library: str) -> Any:
    """Return a pyarrow table as what another library would hand over.

    Parameters
    ----------
    table
        The rows.
    library
        One of ``LIBRARIES``: pyarrow, pandas, polars, numpy, records or columns.
    """
    if library == "pandas":
        return table.to_pandas()
    if library == "polars":
        import polars as pl

        # polars panics at what it has no type for.
        known = [
            name
            for name, kind in zip(table.column_names, table.schema.types, strict=True)
            if not pa.types.is_decimal256(kind)
        ]
        return pl.from_arrow(table.select(known))
    if library == "numpy":
        import numpy as np

        # pyarrow's own to_numpy forgets what is missing in a dictionary.
        cells = [np.array(column.to_pylist()) for column in table.columns]
        if any(array.ndim != 1 for array in cells):
            raise TypeError("a matrix has no place for lists")
        # Beside text, NumPy would make text of bytes.
        return np.column_stack([array.astype(object) if array.dtype.kind == "S" else array for array in cells])
    if library == "records":
        return table.to_pylist()
    return table.to_pydict() if library == "columns" else table
