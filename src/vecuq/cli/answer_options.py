"""Options about files of answers, for commands that take such a file instead of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq._run import resolve_jobs
from vecuq.cli import comparing
from vecuq.cli.explaining_answers import mapped
from vecuq.cli.options import choice, refuse_options

ANSWERS = "Answers of a language model, instead of a table"

Samples = Annotated[list[Path] | None, choice("Files with sampled answers only.", ANSWERS, metavar="FILE")]
Renormalise = Annotated[bool, typer.Option("--renormalise", help="As in `vecuq measure`.", rich_help_panel=ANSWERS)]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at a line that cannot be read.", rich_help_panel=ANSWERS)]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map", help="Names or paths of fields, as in `vecuq measure`.", metavar="KEY=FIELD", rich_help_panel=ANSWERS
    ),
]
Kind = Annotated[str, choice("The format, if it should not be recognised.", ANSWERS)]
Jobs = Annotated[
    int | None, choice("Number of processes; -1 for all cores. Also for part files.", ANSWERS, show_default="all cores")
]
Keep = Annotated[
    list[str] | None,
    choice("Fields of the lines to write as columns, such as a label; comma-separated.", ANSWERS, metavar="A,B"),
]
FOR_READING = ("samples", "map", "kind", "renormalise", "strict", "jobs")


def for_judge(
    context: typer.Context, model: Path, files: Sequence[Path]
) -> tuple[Sequence[Path] | workflows.AnswerFiles, dict[str, Any]]:
    """Return labelled rows as a saved model takes them, and the models that a pipeline of answers only names."""
    if not workflows.holds_judge(model):
        refuse_options(context, (*FOR_READING, *comparing.MODELS), "a pipeline of answers", "a model of a table")
        return files, {}
    models = comparing.supplied_models({name: context.params[name] for name in comparing.MODELS})
    return reading_of(files, context.params), models


def reading_of(files: Sequence[Path], given: Mapping[str, Any]) -> workflows.AnswerFiles:
    """Return files of answers and how they are read, by the options of a command."""
    jobs = resolve_jobs(-1 if given["jobs"] is None else given["jobs"])
    how = {name: given[name] for name in ("kind", "strict", "renormalise")}
    named = mapped(given["map"], given["kind"])
    return workflows.AnswerFiles(files, given["samples"] or (), map=named, **how, n_jobs=jobs)
