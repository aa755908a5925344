"""Which files a job may write, and which it may read as a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vecuq._files import refuse_unwritable
from vecuq._load import load
from vecuq.errors import ModelFileError, TableError
from vecuq.ranker import Ranker
from vecuq.table import EXTENSIONS
from vecuq.workflows.watch import PathLike


def refuse_place(path: PathLike, what: str) -> None:
    """Raise, before any long work, if ``path`` cannot be written or would overwrite a table."""
    if Path(path).suffix.lower() in EXTENSIONS:
        raise TableError(f"{what} is not a table, and {path} is the name of one; choose another name.")
    refuse_unwritable(path)


def load_model(model: PathLike) -> Ranker:
    """Read a ranker; refuse a table in its place, and any other saved kind."""
    found = load_any_model(model)
    if not isinstance(found, Ranker):
        raise ModelFileError(f"{model} holds a {type(found).__name__}; a model written by `vecuq fit` is needed here.")
    return found


def load_any_model(model: PathLike) -> Any:
    """Read what was saved; refuse a table in its place."""
    if Path(model).suffix.lower() in EXTENSIONS:
        raise TableError(f"{model} is a table; a model is needed here, and the table comes after it.")
    return load(model)
