"""Options for folders of part files: one output per input, resumable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq._check import one_of
from vecuq.cli.options import choice, refuse_options
from vecuq.cli.talk import counted, note
from vecuq.errors import SettingError
from vecuq.table import is_table_name

PARTS = "Folders of part files"
ENGINES = ("dask",)
# Options that mean nothing where one file is written.
FOR_PARTS = ("resume", "skip_bad", "format")


class FolderPath(type(Path())):  # type: ignore[misc]
    """A path that was typed with a slash at its end, so it means a folder."""


def out_path(typed: Any) -> Path:
    """Return what `-o` names; `Path` alone would forget the slash at the end."""
    return FolderPath(typed) if str(typed).endswith(("/", "\\")) else Path(typed)


Parts = Annotated[
    bool,
    choice(
        "Write one output per input file into the folder -o. Also without this option if -o ends in / or is a folder.",
        PARTS,
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with a job that was stopped.", rich_help_panel=PARTS)]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="With parts or --engine: leave out input files that cannot be read, and list them.",
        rich_help_panel=PARTS,
    ),
]
Format = Annotated[str | None, choice("Ending of the outputs, such as parquet; without it, that of each input.", PARTS)]


EngineName = Annotated[
    str | None,
    choice("What does the work: dask. Without it, processes of this machine.", PARTS, metavar="dask"),
]
Scheduler = Annotated[
    str | None,
    choice(
        "Address of a Dask scheduler, such as tcp://host:8786; without it, --engine dask starts one here.",
        PARTS,
        metavar="ADDRESS",
    ),
]


def engine_named(given: Mapping[str, Any]) -> str | None:
    """Return the engine that does the work; raise for one that is not known, or an address without one."""
    engine: str | None = given["engine"]
    if engine is not None:
        one_of("engine", engine, ENGINES)
    elif given["scheduler"] is not None:
        raise SettingError("--scheduler is the address of an engine; add --engine dask.")
    return engine


@contextmanager
def making(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield who makes the parts: a cluster, which is closed in the end if it was started here, or this machine."""
    if given["engine"] is None:
        yield {"n_jobs": given["jobs"]}
        return
    from vecuq.cluster import dask

    with dask.part_engine(given["scheduler"]) as engine:
        yield {"engine": engine}


def into_folder(out: Path, given: Mapping[str, Any]) -> bool:
    """Whether a command writes part files; raise if options for part files are given for one file."""
    # A folder with the name of a table is more likely a slip than a wish.
    wanted = bool(given["parts"]) or isinstance(out, FolderPath) or (out.is_dir() and not is_table_name(out))
    wanted = wanted or workflows.address_of(out) is not None
    if str(out) == "-" and given["parts"]:
        raise SettingError("--parts writes a folder, and -o - is stdout; name a folder.")
    stray = [f"--{name.replace('_', '-')}" for name in FOR_PARTS if given[name]]
    if stray and not wanted:
        raise SettingError(f"{', '.join(stray)}: for a folder of part files; end -o in /, or add --parts.")
    if given["resume"] and given["force"]:
        raise SettingError("--resume goes on with a job and --force starts again; leave one out.")
    return wanted


def refuse_engine(given: Mapping[str, Any], *, in_folder: bool) -> None:
    """Raise if an engine is named for one file, or with options of this machine."""
    if engine_named(given) is None:
        return
    if not in_folder:
        raise SettingError("--engine writes part files into a folder; end -o in /, or add --parts.")
    if given["jobs"] is not None:
        raise SettingError("--jobs: for one machine only, and --engine has its own workers; leave one out.")


def folder_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a job over part files is told, by the options of a command."""
    return {name: given[name] for name in ("resume", "force", "skip_bad", "format")}


def refuse_together(context: typer.Context, names: Sequence[str]) -> None:
    """Raise if an option was given that works on one table only."""
    refuse_options(context, names, "one output file", "part files in a folder")


def parts_in_words(done: Any) -> str:
    """Return how many parts were made, earlier and now, and how many inputs were left out."""
    kept = f" ({done.n_kept:,} of them before)" if done.n_kept else ""
    skipped = f", {counted(len(done.skipped), 'input')} left out" if done.skipped else ""
    return f"{counted(done.n_parts, 'part')}{kept}{skipped}"


@contextmanager
def saying_how_to_go_on(out: Path) -> Iterator[None]:
    """Say on an interrupt that nothing finished is lost."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if (folder := workflows.job_folder(out)).is_dir():
            note(f"stopped; finished parts are kept in {folder}. Run again with --resume to go on.")
        raise
