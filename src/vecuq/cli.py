"""The command line: parse, call, say. All work is done in vecuq.workflows."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from vecuq import workflows
from vecuq._version import __version__
from vecuq.errors import VecuqError, VecuqWarning
from vecuq.ranker import Settings
from vecuq.table import count_rows

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Many uncertainty scores, one order you can trust.",
)
out = Console()
err = Console(stderr=True, highlight=False)

DEFAULTS = Settings()
TableFile = Annotated[Path, typer.Argument(help="Table of scores: csv, parquet, npz or jsonl.", show_default=False)]
ModelFile = Annotated[Path, typer.Argument(help="Model written by `vecuq fit`.", show_default=False)]
Columns = Annotated[str | None, typer.Option(help="Score columns, comma-separated. Default: the float columns.")]
Flip = Annotated[str | None, typer.Option(help="Columns in which higher means more confident, comma-separated.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Paper = Annotated[bool, typer.Option("--paper", help="The paper's method and nothing else.")]


def main() -> None:
    """Run the command line."""
    app()


@contextmanager
def friendly_errors() -> Iterator[None]:
    """Turn what we refuse into one line on stderr and exit code 1; show warnings as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VecuqWarning)
        try:
            yield
        except (VecuqError, OSError, MemoryError) as error:
            _say("error", "[bold red]error:[/]", error)
            raise typer.Exit(1) from None
        finally:
            for note in caught:
                if issubclass(note.category, VecuqWarning):
                    _say("note", "[yellow]note:[/]", note.message)
                else:
                    warnings.showwarning(note.message, note.category, note.filename, note.lineno)


def _say(plain: str, coloured: str, what: object) -> None:
    text = " ".join(str(what).split())
    if err.is_terminal:
        err.print(coloured, end=" ")
        err.print(text, markup=False)
    else:
        sys.stderr.write(f"{plain}: {text}\n")


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vecuq {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Hold the options that stand before any command."""


@app.command()
def fit(
    context: typer.Context,
    calibration: TableFile,
    model: Annotated[Path, typer.Option("--out", "-o", help="Where to save the model.")] = Path("model.vecuq"),
    columns: Columns = None,
    flip: Flip = None,
    paper: Paper = False,
    reference: Annotated[
        str, typer.Option(help="beta, exponential or ball; with parameters as in 'beta(2, 5)'.")
    ] = "beta",
    epsilon: Annotated[float, typer.Option(help="Entropic regularisation, on scaled scores.")] = DEFAULTS.epsilon,
    scaling: Annotated[str, typer.Option(help="featurewise, global, identity or quantile.")] = DEFAULTS.scaling,
    anchors: Annotated[float, typer.Option(help="Distance of the outer anchors; 0 for none.")] = DEFAULTS.anchors,
    anchor_mass: Annotated[float | None, typer.Option(help="Largest share of the mass on anchors.")] = None,
    overshoot: Annotated[float, typer.Option(help="Weight of the distance beyond the box.")] = DEFAULTS.overshoot,
    holdback: Annotated[float, typer.Option(help="Share of rows kept for p-values.")] = DEFAULTS.holdback,
    grid: Annotated[str, typer.Option(help="midpoint or authors.")] = DEFAULTS.grid,
    n_targets: Annotated[str, typer.Option(help="Reference points: auto, rows or a number.")] = "auto",
    solver: Annotated[str, typer.Option(help="auto, separable or dense.")] = DEFAULTS.solver,
    tol: Annotated[float, typer.Option(help="Largest marginal error of the plan.")] = DEFAULTS.tol,
    max_iter: Annotated[int, typer.Option(help="Most sweeps of the solver.")] = DEFAULTS.max_iter,
    on_failure: Annotated[str, typer.Option(help="raise or warn when the plan misses tol.")] = DEFAULTS.on_failure,
    alpha: Annotated[float, typer.Option(help="False-alarm rate that `predict` keeps.")] = DEFAULTS.alpha,
    seed: Annotated[int | None, typer.Option(help="Seed of the split into map and held-back rows.")] = None,
    as_json: AsJson = False,
) -> None:
    """Learn from in-distribution rows how their score vectors lie, and save the model."""
    given: dict[str, Any] = {
        "reference": reference,
        "epsilon": epsilon,
        "scaling": scaling,
        "anchors": anchors,
        "anchor_mass": anchor_mass,
        "overshoot": overshoot,
        "holdback": holdback,
        "grid": grid,
        "n_targets": int(n_targets) if n_targets.isdecimal() else n_targets,
        "solver": solver,
        "tol": tol,
        "max_iter": max_iter,
        "on_failure": on_failure,
        "alpha": alpha,
        "random_state": seed,
    }
    with friendly_errors():
        settings = Settings.paper(**_asked_for(context, given)) if paper else Settings(**given)
        done = workflows.fit(calibration, model, settings, columns=_listed(columns), flip=_listed(flip) or ())
        _tell_fit(done, model, as_json)


def _asked_for(context: typer.Context, given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the user typed; --paper rules over the others."""
    typed = {
        name for name in context.params if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    return {name: value for name, value in given.items() if {"random_state": "seed"}.get(name, name) in typed}


def _tell_fit(done: workflows.Fitted, model: Path, as_json: bool) -> None:
    ranker, told = done.ranker, done.ranker.diagnostics
    if as_json:
        _print_json(
            {
                "model": str(model),
                "columns": list(ranker.columns),
                "flipped": sorted(ranker.flipped),
                "set_aside": list(done.set_aside),
                "settings": ranker.settings.to_dict(),
                "diagnostics": told.to_dict(),
            }
        )
        return
    out.print(f"score columns  {', '.join(ranker.columns)}", markup=False, highlight=False)
    if ranker.flipped:
        out.print(f"flipped        {', '.join(sorted(ranker.flipped))}", markup=False, highlight=False)
    if done.set_aside:
        out.print(f"set aside      {', '.join(done.set_aside)}", markup=False, highlight=False)
    if told.constant_columns:
        out.print(f"constant       {', '.join(told.constant_columns)} (no influence)", markup=False, highlight=False)
    out.print(
        f"rows           {told.n_map:,} for the map, {told.n_held:,} held back for p-values\n"
        f"plan           {told.solver}, {told.sweeps} sweeps, marginal error {told.marginal_error:.1e}\n"
        f"model          {model}",
        markup=False,
        highlight=False,
    )


@app.command()
def score(
    model: ModelFile,
    new: TableFile,
    ranked: Annotated[Path, typer.Option("--out", "-o", help="Where to write the ranked table.")] = Path(
        "ranked.parquet"
    ),
    alpha: Annotated[float | None, typer.Option(help="Flag rows at this false-alarm rate.")] = None,
    as_json: AsJson = False,
) -> None:
    """Score new rows with a saved model: the same rows, with uncertainty and p-value added."""
    with friendly_errors():
        with _progress("scoring", new) as advance:
            done = workflows.score(model, new, ranked, alpha=alpha, advance=advance)
        if as_json:
            _print_json({"out": str(ranked), **vars(done)})
            return
        flagged = "" if done.n_flagged is None else f", {done.n_flagged:,} flagged at alpha {alpha:g}"
        missing = f", {done.n_missing:,} without a score (missing values)" if done.n_missing else ""
        out.print(f"{done.n_rows:,} rows{flagged}{missing} -> {ranked}", markup=False, highlight=False)


@app.command()
def rank(
    calibration: TableFile,
    new: TableFile,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for model, ranked table and report.")] = Path(
        "ranked"
    ),
    columns: Columns = None,
    flip: Flip = None,
    paper: Paper = False,
    labels: Annotated[str | None, typer.Option(help="0/1 columns of the new table to evaluate against.")] = None,
) -> None:
    """Fit, score and report in one go: from two tables to a folder with everything."""
    with friendly_errors():
        done = workflows.rank(
            calibration,
            new,
            folder,
            Settings.paper() if paper else None,
            columns=_listed(columns),
            flip=_listed(flip) or (),
            labels=_listed(labels) or (),
        )
        _tell_fit(done.fitted, folder / "model.vecuq", as_json=False)
        _tell_ranked(done, folder)


def _tell_ranked(done: workflows.Ranked, folder: Path) -> None:
    if done.evaluation:
        _print_table("How well each score tells the labels apart (ROC-AUC)", done.evaluation)
    out.print(f"{done.scored.n_rows:,} rows ranked; open {folder / 'report.html'}", markup=False, highlight=False)


@app.command()
def report(
    model: ModelFile,
    new: TableFile,
    page: Annotated[Path, typer.Option("--out", "-o", help="Where to write the page.")] = Path("report.html"),
) -> None:
    """Write a self-contained HTML page about new rows and how the model ranks them."""
    with friendly_errors():
        workflows.report(model, new, page)
        out.print(f"report -> {page}", markup=False, highlight=False)


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for model, ranked table and report.")] = Path(
        "demo"
    ),
) -> None:
    """Run the whole job on bundled example data: an ensemble on handwritten digits."""
    with friendly_errors():
        done = workflows.demo(folder)
        _tell_fit(done.fitted, folder / "model.vecuq", as_json=False)
        _tell_ranked(done, folder)


@app.command()
def reproduce(
    study: Annotated[str, typer.Argument(help="toy, extremes or all.", show_default=False)],
    folder: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the tables as csv.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compute tables of the paper anew and print them beside the printed figures."""
    with friendly_errors():
        studies = workflows.reproduce(study, folder)
        if as_json:
            _print_json(
                {"study": study, **(studies[0].figures if study != "all" else {s.name: s.figures for s in studies})}
            )
            return
        for done in studies:
            _print_table(done.title, done.rows)
            out.print(f"Differs from the paper: {done.differs}\n", markup=False, highlight=False)


def _print_json(value: dict[str, Any]) -> None:
    typer.echo(json.dumps(value, indent=2, default=str))


def _print_table(title: str, rows: Sequence[dict[str, Any]]) -> None:
    table = Table(title=title, title_justify="left", header_style="bold")
    for name in rows[0]:
        table.add_column(name, justify="left" if isinstance(rows[0][name], str) else "right")
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    out.print(table)


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.6f}".rstrip("0").ljust(5, "0") if isinstance(value, float) else str(value)


@contextmanager
def _progress(what: str, path: Path) -> Iterator[Callable[[int], None] | None]:
    """Yield a function that moves a bar on stderr; None when nobody is watching."""
    if not err.is_terminal or not path.is_file():
        yield None
        return
    parts = (TextColumn(what), BarColumn(), TextColumn("{task.completed:,.0f} rows"), TimeRemainingColumn())
    with Progress(*parts, console=err, transient=True) as progress:
        task = progress.add_task(what, total=count_rows(path))
        yield lambda n: progress.advance(task, n)
