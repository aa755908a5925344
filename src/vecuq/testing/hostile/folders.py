"""A folder in which one file is hostile: what a command is run on."""

from __future__ import annotations

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
from hypothesis import strategies as st

from vecuq.testing.examples import COLUMNS, workspace
from vecuq.testing.hostile.byte_level import damaged
from vecuq.testing.hostile.cells import names
from vecuq.testing.hostile.files import table_files
from vecuq.testing.hostile.json_level import altered, as_json
from vecuq.testing.hostile.saved import saved_files

# What else a table of the workspace holds besides the scores.
_MORE = {"labelled.csv": ("is_ood", "quality")}


@st.composite
def spoilt_files(draw: st.DrawFn, words: tuple[str, ...]) -> dict[str, bytes]:
    """Return a strategy of files to put over those of the workspace: one that a command line names, hostile."""
    named = sorted({word for word in words if word in workspace()})
    if not named:
        return {}
    name = draw(st.sampled_from(named))
    return {name: draw(_hostile(name))}


def _hostile(name: str) -> st.SearchStrategy[bytes]:
    stem, _, ending = name.partition(".")
    if ending == "vecuq":
        return saved_files(stem).map(lambda lie: lie[0])
    if ending in ("csv", "parquet"):
        return table_files(f".{ending}", (*COLUMNS, *_MORE.get(name, ()))) | _with_odd_names(name)
    return _altered_lines(name) if ending == "jsonl" else damaged(workspace()[name])


@st.composite
def _with_odd_names(draw: st.DrawFn, name: str) -> bytes:
    """Add columns with hostile names to a good table, so that a command has rows enough to print them."""
    content = pa.BufferReader(workspace()[name])
    table = pcsv.read_csv(content) if name.endswith(".csv") else pq.read_table(content)
    for odd in draw(st.lists(names, min_size=1, max_size=2, unique=True)):
        if odd not in table.column_names:
            cells = np.random.default_rng(draw(st.integers(0, 9))).gamma(1.0, size=len(table))
            table = table.append_column(odd, pa.array(cells))
    sink = io.BytesIO()
    pcsv.write_csv(table, sink) if name.endswith(".csv") else pq.write_table(table, sink)
    return sink.getvalue()


@st.composite
def _altered_lines(draw: st.DrawFn, name: str) -> bytes:
    lines = workspace()[name].splitlines()
    place = draw(st.integers(0, len(lines) - 1))
    changed, _ = draw(altered(json.loads(lines[place])))
    lines[place] = as_json(changed).encode("utf-8", "surrogatepass")
    return b"\n".join(lines) + b"\n"
