"""Options about files of answers, for commands that take such a file instead of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq._run import resolve_jobs
from vecuq.cli.options import choice

ANSWERS = "Answers of a language model, instead of a table"

Samples = Annotated[list[Path] | None, choice("Files with sampled answers only.", ANSWERS, metavar="FILE")]
Renormalise = Annotated[bool, typer.Option("--renormalise", help="As in `vecuq measure`.", rich_help_panel=ANSWERS)]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at a line that cannot be read.", rich_help_panel=ANSWERS)]
Jobs = Annotated[int | None, choice("Number of processes; -1 for all cores.", ANSWERS, show_default="all cores")]
Keep = Annotated[
    list[str] | None,
    choice("Fields of the lines to write as columns, such as a label; comma-separated.", ANSWERS, metavar="A,B"),
]
FOR_READING = ("samples", "renormalise", "strict", "jobs")


def reading_of(files: Sequence[Path], given: Mapping[str, Any]) -> workflows.AnswerFiles:
    """Return files of answers and how they are read, by the options of a command."""
    jobs = resolve_jobs(-1 if given["jobs"] is None else given["jobs"])
    how = {name: given[name] for name in ("strict", "renormalise")}
    return workflows.AnswerFiles(files, given["samples"] or (), **how, n_jobs=jobs)
