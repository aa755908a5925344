"""A folder in which one file is hostile: what a command is run on."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from vecuq.testing.examples import COLUMNS, workspace
from vecuq.testing.hostile.byte_level import damaged
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
        return table_files(f".{ending}", (*COLUMNS, *_MORE.get(name, ())))
    return _altered_lines(name) if ending == "jsonl" else damaged(workspace()[name])


@st.composite
def _altered_lines(draw: st.DrawFn, name: str) -> bytes:
    lines = workspace()[name].splitlines()
    place = draw(st.integers(0, len(lines) - 1))
    changed, _ = draw(altered(json.loads(lines[place])))
    lines[place] = as_json(changed).encode("utf-8", "surrogatepass")
    return b"\n".join(lines) + b"\n"
