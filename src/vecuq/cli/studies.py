"""`vecuq reproduce`: the paper's tables and figures, computed again."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vecuq import workflows
from vecuq._check import one_of
from vecuq.cli.options import AsJson, Force
from vecuq.cli.talk import echo, friendly_errors, print_json, print_sheet, usage_errors, working

if TYPE_CHECKING:
    from vecuq.paper import Study

STUDIES = (*workflows.STUDY_NAMES, "all")


def reproduce(
    study: Annotated[
        str, typer.Argument(help=", ".join(STUDIES[:-1]) + " or all", metavar="STUDY", show_default=False)
    ],
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for tables (csv, Markdown, LaTeX), pictures and a page.")
    ] = Path("reproduced"),
    data_dir: Annotated[
        Path | None,
        typer.Option(help="text: folder with scores of larger models, for more tables.", show_default=False),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compute the paper's tables and figures again, beside the printed ones.

    The studies and their recorded data are packages of their own: `pip install ./packaging/vecuq-paper ./paper-data` in
    a clone. Toy, blobs and limits need no data.
    """
    with usage_errors():
        one_of("study", study, STUDIES)
    with friendly_errors():
        with working() as show:
            studies = workflows.reproduce(study, folder, data_dir=data_dir, force=force, progress=show)
        if as_json:
            figures = {done.name: done.figures for done in studies} if study == "all" else studies[0].figures
            print_json({"study": study, **figures})
            return
        for done in studies:
            _print_study(done)
        echo(f"tables, pictures and a page that shows them all -> {folder / 'index.html'}")


def _print_study(study: Study) -> None:
    echo(f"\n== {study.title} ==")
    for sheet, printed in zip_longest(study.sheets, study.printed):
        if sheet:
            print_sheet(sheet)
        if printed:
            echo("The paper prints:")
            print_sheet(printed)
    for claim in study.claims:
        echo(f"- {claim}")
    echo(f"Differs from the paper: {study.differs}")
