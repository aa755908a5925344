"""`vecuq report`: a page about new rows that one can act on."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from vecuq import workflows
from vecuq.cli.evaluating import QualityColumn
from vecuq.cli.options import (
    ONE_TABLE,
    AsJson,
    CorrectColumn,
    ErrorColumn,
    Force,
    Missing,
    ModelOrGate,
    NewFiles,
    NoFormulas,
    OodColumn,
)
from vecuq.cli.talk import counted, echo, friendly_errors, print_json, usage_errors, working
from vecuq.options import ScoreOptions

Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        help="Column that says which new rows come together (session, document): intervals then count groups.",
        metavar="COLUMN",
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        help="Column of categories: each is counted by itself; a gate with a certificate per category needs it.",
        metavar="COLUMN",
    ),
]


def report(
    model: ModelOrGate,
    new: NewFiles,
    page: Annotated[Path, typer.Option("--out", "-o", help="Where to write the page.")] = Path("report.html"),
    alpha: Annotated[
        float | None, typer.Option(help="False-alarm rate of the threshold; without it, that of the model.")
    ] = None,
    missing: Missing = "nan",
    error: ErrorColumn = None,
    correct: CorrectColumn = None,
    ood: OodColumn = None,
    quality: QualityColumn = None,
    group: Group = None,
    by: By = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            help=f"The calibration rows, to compare with other combiners and to check them: {ONE_TABLE}.",
            show_default=False,
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            help="Write all rows that call for a look too (flagged; of a gate, not accepted), with reasons: a table.",
            show_default=False,
        ),
    ] = None,
    no_formulas: NoFormulas = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write one HTML page about new rows: what was found among them, why, and what to do now.

    The page works offline. It shows the flagged rows, or those that a gate does not accept, the worst 1,000 of many;
    `--table` writes all of them. Labels, categories and calibration rows each add their part.
    """
    with usage_errors():
        ScoreOptions(alpha=alpha, missing=missing)
        labels = workflows.Labels(error, ood, quality, correct)
    about = workflows.About(labels, group, by, calibration, command=_typed())
    with friendly_errors():
        with working() as show:
            show("writing the report")
            done = workflows.report(
                model,
                new,
                page,
                alpha=alpha,
                missing=missing,
                about=about,
                table=table,
                formulas=not no_formulas,
                force=force,
            )
        if as_json:
            print_json({"out": str(page), **({} if table is None else {"table": str(table)}), **done.to_dict()})
        else:
            _say(done, page, table)


def _say(done: workflows.Reported, page: Path, table: Path | None) -> None:
    unscored = f", {done.n_unscored:,} without a score" if done.n_unscored else ""
    if done.is_gate:  # rows without a score are not accepted either
        what = f"{done.n_such + done.n_unscored:,} of {counted(done.n_rows, 'row')} not accepted"
        unscored = f", {done.n_unscored:,} of these without a score" if done.n_unscored else ""
    else:
        what = f"{done.n_such:,} of {counted(done.n_rows, 'row')} flagged"
    echo(f"{what}{unscored}; report -> {page}")
    if table is not None:
        echo(f"{counted(done.n_written or 0, 'row')} with reasons -> {table}")


def _typed() -> str | None:
    """Return what was typed in the shell; None where this runs inside of another program."""
    program = Path(sys.argv[0]).name
    return shlex.join(["vecuq", *sys.argv[1:]]) if program in ("vecuq", "vecuq.exe", "__main__.py") else None
