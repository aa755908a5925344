"""Which files a job may write, and which it may read as a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vecuq._files import refuse_unwritable
from vecuq._load import load
from vecuq.errors import ModelFileError, SettingError, TableError
from vecuq.ranker import Ranker
from vecuq.table import PathLike, TableLike, is_stdio, is_table_name, kind_of, stands_for


def refuse_place(out: PathLike, *, what: str | None = None, reads: Iterable[TableLike] = ()) -> None:
    """Raise, before any long work, if ``out`` cannot be written, or would overwrite something that must stay.

    Parameters
    ----------
    out
        Where the job writes.
    what
        What it writes, if that is no table, such as ``"A model"``; the name of a table is then refused.
    reads
        What the job reads.
    """
    if what is None and is_stdio(out):
        return
    if what is None:
        kind_of(out)
    elif is_table_name(out):
        raise TableError(f"{what} is not a table, and {out} is the name of one; choose another name.")
    refuse_overwriting(out, reads)
    refuse_unwritable(out)


def refuse_overwriting(out: PathLike, reads: Iterable[TableLike]) -> None:
    """Raise if ``out`` is a file that the job reads, or lies in a folder that it reads."""
    for where in reads:
        if stands_for(where, out):
            raise SettingError(f"{out} is read by this job and would be overwritten; choose another name.")


def load_model(model: PathLike) -> Ranker:
    """Read a ranker; refuse a table in its place, and any other saved kind."""
    found = load_any_model(model)
    if not isinstance(found, Ranker):
        raise ModelFileError(f"{model} holds a {type(found).__name__}; a model written by `vecuq fit` is needed here.")
    return found


def load_any_model(model: PathLike) -> Any:
    """Read what was saved; refuse a table in its place."""
    if is_table_name(model):
        raise TableError(f"{model} is a table; a model is needed here, and the table comes after it.")
    return load(model)
