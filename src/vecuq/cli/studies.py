"""`vecuq reproduce`: the paper's tables and figures, computed anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vecuq import workflows
from vecuq._check import one_of
from vecuq.cli.options import AsJson
from vecuq.cli.talk import friendly_errors, print_json, print_table, usage_errors

__all__ = ["reproduce"]

STUDIES = ("toy", "extremes", "all")


def reproduce(
    study: Annotated[str, typer.Argument(help="Which one.", metavar="|".join(STUDIES), show_default=False)],
    folder: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the tables as csv.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compute tables of the paper anew and print them beside the printed figures."""
    with usage_errors():
        one_of("study", study, STUDIES)
    with friendly_errors():
        studies = workflows.reproduce(study, folder)
        if as_json:
            figures = {done.name: done.figures for done in studies} if study == "all" else studies[0].figures
            print_json({"study": study, **figures})
            return
        for done in studies:
            print_table(done.title, done.rows)
            typer.echo(f"Differs from the paper: {done.differs}\n")
