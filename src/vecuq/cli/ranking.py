"""`vecuq score`, `rank`, `report` and `demo`: from new rows to an order and a page about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vecuq import workflows
from vecuq._check import in_range, one_of
from vecuq.cli.fitting import fit_as_dict, tell_fit
from vecuq.cli.options import (
    AsJson,
    Calibration,
    Columns,
    ErrorColumn,
    Flip,
    Folder,
    ModelFile,
    NewRows,
    OodColumn,
    Paper,
    counted,
    listed,
)
from vecuq.cli.talk import friendly_errors, print_json, print_table, usage_errors, watching
from vecuq.errors import SettingError


def score(
    model: ModelFile,
    new: NewRows,
    ranked: Annotated[Path, typer.Option("--out", "-o", help="Where to write the ranked table.")] = Path(
        "ranked.parquet"
    ),
    alpha: Annotated[
        float | None, typer.Option(help="Add a column `flagged`: rows whose p-value is at most this false-alarm rate.")
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Add `contribution_<column>`, and `why` for flagged rows (all, without --alpha)."
        ),
    ] = False,
    missing: Annotated[
        str,
        typer.Option(
            help="Rows with missing scores: nan (no uncertainty), error, or marginal (from the others; p-values are "
            "valid if what is missing does not depend on the values)."
        ),
    ] = "nan",
    select: Annotated[
        str | None,
        typer.Option(
            help="Add a column `selected`: the foreign rows of the whole file, of which a share of at most --alpha is "
            "wrong on average. bh (Benjamini-Hochberg) or by (Benjamini-Yekutieli). The file is scored twice.",
            metavar="bh|by",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score new rows with a saved model: the same rows, with `uncertainty` and `p_value` added.

    A saved pipeline (VecUQPipeline in Python) takes a file of a classifier's outputs instead of a table.
    """
    from vecuq.ranker import MISSING_CHOICES

    with usage_errors():
        if alpha is not None:
            in_range("alpha", alpha, 0.0, 1.0, ends="()")
        one_of("missing", missing, MISSING_CHOICES)
        if select is not None:
            one_of("select", select, workflows.SELECT)
            if alpha is None:
                raise SettingError("--select needs --alpha, the share of selected rows that may be wrong.")
    with friendly_errors():
        with watching(new) as watch:
            done = workflows.score(
                model, new, ranked, alpha=alpha, explain=explain, missing=missing, select=select, watch=watch
            )
        if as_json:
            print_json({"out": str(ranked), **done.to_dict()})
            return
        flagged = "" if done.n_flagged is None else f", {done.n_flagged:,} flagged at alpha {alpha:g}"
        selected = "" if done.n_selected is None else f", {done.n_selected:,} selected"
        typer.echo(f"{counted(done.n_rows, 'row')} scored{flagged}{selected} -> {ranked}")


def rank(
    calibration: Calibration,
    new: NewRows,
    folder: Folder = Path("ranked"),
    columns: Columns = None,
    flip: Flip = None,
    paper: Paper = False,
    error: ErrorColumn = None,
    ood: OodColumn = None,
    as_json: AsJson = False,
) -> None:
    """Fit, score and report in one go: from two tables to a folder with everything."""
    from vecuq.ranker import Settings

    with friendly_errors():
        with watching(new) as watch:
            done = workflows.rank(
                calibration,
                new,
                folder,
                Settings.paper() if paper else None,
                columns=listed(columns),
                flip=listed(flip) or (),
                labels=workflows.Labels(error, ood) if error or ood else None,
                watch=watch,
            )
        _tell_ranked(done, folder, as_json=as_json)


def _tell_ranked(done: workflows.Ranked, folder: Path, *, as_json: bool) -> None:
    if as_json:
        fitted = fit_as_dict(done.fitted, folder / "model.vecuq")
        print_json({**fitted, **done.scored.to_dict(), "evaluation": list(done.evaluation)})
        return
    tell_fit(done.fitted, folder / "model.vecuq")
    if done.evaluation:
        print_table("How well each score finds what it should", done.evaluation)
    typer.echo(f"{counted(done.scored.n_rows, 'row')} ranked; open {folder / 'report.html'}")


def report(
    model: ModelFile,
    new: NewRows,
    page: Annotated[Path, typer.Option("--out", "-o", help="Where to write the page.")] = Path("report.html"),
) -> None:
    """Write a self-contained HTML page about new rows and how the model ranks them."""
    with friendly_errors():
        workflows.report(model, new, page)
        typer.echo(f"report -> {page}")


def demo(folder: Folder = Path("demo"), as_json: AsJson = False) -> None:
    """Run the whole job on bundled example data: an ensemble on handwritten digits."""
    with friendly_errors():
        done = workflows.demo(folder)
        _tell_ranked(done, folder, as_json=as_json)
    if not as_json:
        calibration, new = folder / "calibration.csv", folder / "new.csv"
        typer.echo("\nTry next:")
        typer.echo(f"  vecuq doctor {calibration} {new}")
        typer.echo(f"  vecuq score {folder / 'model.vecuq'} {new} --alpha 0.05 --explain -o {folder / 'flagged.csv'}")
        typer.echo(f"  vecuq compare {calibration} {new} --ood is_ood --flip confidence")
