"""Which files a job may write, and which it may read as a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from vecuq._files import refuse_unwritable
from vecuq._load import load
from vecuq.errors import ModelFileError, SettingError, TableError
from vecuq.ranker import Ranker
from vecuq.table import PathLike, TableLike, is_stdio, is_table_name, kind_of, stands_for
from vecuq.workflows.contents import WORDS, kind_there

_PAGES = (".html", ".htm")
# What an AnswerPipeline is called.
ANSWERS = "pipeline of answers"


def refuse_place(
    out: PathLike, *, writes: str = "table", reads: Iterable[TableLike] = (), force: bool | None = False
) -> None:
    """Raise, before any long work, if ``out`` cannot be written, or would replace something that must stay.

    Parameters
    ----------
    out
        Where the job writes.
    writes
        What it writes, one of ``contents.WORDS``; only a table may have the name of one.
    reads
        What the job reads.
    force
        Whether a file that the job reads, or one of another kind, may be replaced; None for a job that never does.
    """
    if writes == "table" and is_stdio(out):
        return
    refuse_stdout(out, _capital(WORDS[writes]))
    if writes == "table":
        kind_of(out)
    elif is_table_name(out):
        raise TableError(
            f"{_capital(WORDS[writes])} is not a table, and {out} is the name of one; choose another name."
        )
    elif writes == "page" and Path(out).suffix.lower() not in _PAGES:
        raise SettingError(f"A report is a web page, and {out} does not end in .html; name it {_stem(out)}.html.")
    refuse_replacing(out, writes=writes, reads=reads, force=force)
    refuse_unwritable(out)


def refuse_folder_name(folder: PathLike) -> None:
    """Raise if a new folder would have the name of a table, a model or a page; one that is there may have any name."""
    like_a_file = is_table_name(folder) or Path(folder).suffix.lower() in (".vecuq", ".pdf", *_PAGES)
    if like_a_file and not Path(folder).is_dir():
        raise SettingError(
            f"Several files are written into a folder, and {folder} is the name of a file; name a folder, such as "
            f"{_stem(folder)}."
        )


def _stem(path: PathLike) -> Path:
    """Return a path without the endings of its name."""
    return Path(path).with_name(Path(path).name.partition(".")[0] or "out")


def refuse_replacing(
    out: PathLike, *, writes: str, reads: Iterable[TableLike] = (), force: bool | None = False
) -> None:
    """Raise if a job that writes one kind of file would replace a file that it reads, or a file of another kind."""
    if force:
        return
    remedy = "choose another name" + (", or replace it with force=True" if force is False else "")
    refuse_overwriting(out, reads, remedy=remedy)
    there = kind_there(out)
    if there not in (None, writes):
        raise SettingError(f"{out} holds {WORDS.get(there, f'a {there}')}, not {WORDS[writes]}; {remedy}.")


def refuse_names(
    folder: PathLike, names: Mapping[str, str], *, reads: Sequence[TableLike] = (), force: bool = False
) -> None:
    """Raise, before any long work, if one of the files that a job puts into a folder may not be replaced.

    ``names`` maps their names to their kinds.
    """
    for name, kind in names.items():
        place = Path(folder) / name
        refuse_replacing(place, writes=kind, reads=reads, force=force)
        if place.exists():
            refuse_unwritable(place)


def refuse_overwriting(out: PathLike, reads: Iterable[TableLike], *, remedy: str = "choose another name") -> None:
    """Raise if ``out`` is a file that the job reads, or lies in a folder that it reads."""
    if any(stands_for(where, out) for where in reads):
        raise SettingError(f"{out} is, or would be, one of the files that this job reads; {remedy}.")


def refuse_stdout(out: PathLike, what: str) -> None:
    """Raise if ``out`` is ``-``: only tables can be written to standard output."""
    if is_stdio(out):
        raise TableError(f"{what} cannot be written to standard output (-); give the name of a file or folder.")


def load_model(model: PathLike) -> Ranker:
    """Read a ranker; refuse a table in its place, and any other saved kind."""
    found = load_any_model(model)
    refuse_answers(found, model)
    if not isinstance(found, Ranker):
        raise ModelFileError(f"{model} holds a {kind_word(found)}; a model written by `vecuq fit` is needed here.")
    return found


def refuse_answers(found: Any, model: PathLike) -> None:
    """Raise if what was saved is a pipeline of answers, which some commands do not take."""
    if kind_word(found) == ANSWERS:
        raise ModelFileError(
            f"{model} holds a {ANSWERS}, which `vecuq score` and `vecuq audit` take. For this command measure the "
            f"answers (`vecuq measure`), and fit a model to the table."
        )


def kind_word(found: Any) -> str:
    """Return what a saved thing is, in a few words."""
    name = type(found).__name__.removeprefix("VecUQ")
    words = {
        "Ranker": "model",
        "LiveGate": "live gate",
        "AnswerPipeline": ANSWERS,
        "EstimatorPipeline": "pipeline around a classifier",
    }
    return words.get(name, name).lower()


def load_any_model(model: PathLike, **supplied: Any) -> Any:
    """Read what was saved; refuse a table in its place. ``supplied`` goes to :func:`vecuq.load`."""
    if is_table_name(model):
        raise TableError(f"{model} is a table; a model is needed here, and the table comes after it.")
    return load(model, **supplied)


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]
