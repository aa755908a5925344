"""The commands: each parses its words, calls one workflow and says what came of it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq._check import in_range, one_of
from vecuq._version import __version__
from vecuq.cli.catalogue import catalogue, print_catalogue
from vecuq.cli.talk import friendly_errors, print_json, print_lines, print_table, usage_errors, watching
from vecuq.measures import find_measures
from vecuq.measures.compute import EMBEDDINGS
from vecuq.ranker import Settings

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Many uncertainty scores, one order you can trust.",
)

DEFAULTS = Settings()
STUDIES = ("toy", "extremes", "all")
METHOD = "The method"
SOLVER = "The solver"

Calibration = Annotated[
    Path,
    typer.Argument(
        help="In-distribution rows of scores: csv, parquet, npz or jsonl.", metavar="CALIBRATION", show_default=False
    ),
]
NewRows = Annotated[
    Path, typer.Argument(help="Rows to rank: csv, parquet, npz or jsonl.", metavar="NEW", show_default=False)
]
ModelFile = Annotated[Path, typer.Argument(help="Model written by `vecuq fit`.", metavar="MODEL", show_default=False)]
Columns = Annotated[
    str | None,
    typer.Option(help="Score columns, comma-separated; without it, the columns of decimal numbers.", metavar="A,B"),
]
Flip = Annotated[
    str | None,
    typer.Option(help="Score columns in which higher means more confident, comma-separated.", metavar="A,B"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
Paper = Annotated[
    bool, typer.Option("--paper", help="The paper's method and nothing else; options that you give still rule.")
]
Folder = Annotated[Path, typer.Option("--out", "-o", help="Folder for model, ranked table and report.")]


def main() -> None:
    """Run the command line."""
    # To be stopped is a failure like any other: clean up, leave nothing half-written.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    app()


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vecuq {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Hold the options that stand before any command."""


def _choice(text: str, panel: str, **more: Any) -> Any:
    return typer.Option(help=text, rich_help_panel=panel, **more)


@app.command()
def measure(
    outputs: Annotated[
        list[Path],
        typer.Argument(
            help="npz of logits or probs, perhaps embeddings, labels, ids; or npy of logits. Several: one per member.",
            metavar="OUTPUTS...",
            show_default=False,
        ),
    ],
    scores: Annotated[Path, typer.Option("--out", "-o", help="Where to write the scores.")] = Path("scores.parquet"),
    train: Annotated[
        list[Path] | None,
        typer.Option(help="Training outputs with labels, for densities; repeat it for one file per member."),
    ] = None,
    measures: Annotated[
        str, typer.Option(help="Measures or compositions, comma-separated; see `vecuq measures`.", metavar="A,B")
    ] = ",".join(workflows.DEFAULT_MEASURES),
    temperature: Annotated[float, typer.Option(help="What logits are divided by.")] = 1.0,
    embedding: Annotated[
        str, typer.Option(help="What densities look at: embeddings, logits, or auto for the first where there are any.")
    ] = "auto",
    as_json: AsJson = False,
) -> None:
    """Turn a classifier's outputs into a table of uncertainty scores; by default the paper's four."""
    with usage_errors():
        find_measures(_listed(measures) or ())
        in_range("temperature", temperature, 0.0, ends="()")
        one_of("embedding", embedding, EMBEDDINGS)
    with friendly_errors():
        with watching(rows="measuring") as watch:
            done = workflows.measure(
                outputs,
                scores,
                train=train or (),
                measures=_listed(measures) or (),
                temperature=temperature,
                embedding=embedding,
                watch=watch,
            )
        if as_json:
            print_json({"out": str(scores), **vars(done)})
            return
        wrong = "" if done.n_errors is None else f", {done.n_errors:,} predicted wrong"
        typer.echo(f"{done.n_rows:,} rows of {done.n_members} x {done.n_classes:,} outputs measured{wrong} -> {scores}")
        typer.echo(f"columns: {', '.join(done.columns)}")


@app.command(name="measures")
def list_measures(as_json: AsJson = False) -> None:
    """List everything that `vecuq measure` can compute."""
    with friendly_errors():
        if as_json:
            print_json(catalogue())
        else:
            print_catalogue()


@app.command()
def fit(
    context: typer.Context,
    calibration: Calibration,
    model: Annotated[Path, typer.Option("--out", "-o", help="Where to save the model.")] = Path("model.vecuq"),
    columns: Columns = None,
    flip: Flip = None,
    paper: Paper = False,
    holdback: Annotated[
        float, typer.Option(help="Share of the rows kept out of the map, for p-values; 0 for none.")
    ] = DEFAULTS.holdback,
    as_json: AsJson = False,
    reference: Annotated[
        str, _choice("beta, exponential or ball (signed scores); with parameters as in 'beta(2, 5)'.", METHOD)
    ] = "beta",
    scaling: Annotated[str, _choice("featurewise, global, identity or quantile.", METHOD)] = DEFAULTS.scaling,
    epsilon: Annotated[float, _choice("Entropic regularisation, on scaled scores.", METHOD)] = DEFAULTS.epsilon,
    anchors: Annotated[float, _choice("Distance of the outer anchors; 0 for none.", METHOD)] = DEFAULTS.anchors,
    anchor_mass: Annotated[float | None, _choice("Largest share of the mass on the anchors.", METHOD)] = None,
    overshoot: Annotated[
        float, _choice("Weight of the distance beyond the calibration box; 0 for none.", METHOD)
    ] = DEFAULTS.overshoot,
    alpha: Annotated[float, _choice("False-alarm rate of `predict` in Python.", METHOD)] = DEFAULTS.alpha,
    seed: Annotated[
        int | None, _choice("Seed of the split into map and held-back rows; without it, always the same.", METHOD)
    ] = None,
    grid: Annotated[str, _choice("midpoint or authors.", SOLVER)] = DEFAULTS.grid,
    n_targets: Annotated[str, _choice("Reference points: auto, rows or a number.", SOLVER)] = "auto",
    solver: Annotated[str, _choice("auto, separable, sketch or dense.", SOLVER)] = DEFAULTS.solver,
    tol: Annotated[float, _choice("Largest marginal error of the plan.", SOLVER)] = DEFAULTS.tol,
    max_iter: Annotated[int, _choice("Most sweeps.", SOLVER)] = DEFAULTS.max_iter,
    on_failure: Annotated[str, _choice("raise or warn when the plan misses tol.", SOLVER)] = DEFAULTS.on_failure,
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
    with usage_errors():
        settings = Settings.paper(**_asked_for(context, given)) if paper else Settings(**given)
    with friendly_errors():
        with watching() as watch:
            done = workflows.fit(
                calibration, model, settings, columns=_listed(columns), flip=_listed(flip) or (), watch=watch
            )
        if as_json:
            print_json(_fit_as_dict(done, model))
        else:
            _tell_fit(done, model)
            typer.echo(f"next: vecuq score {model} NEW")


def _asked_for(context: typer.Context, given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the user typed: these rule over the paper's."""
    typed = {
        name for name in context.params if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    return {name: value for name, value in given.items() if {"random_state": "seed"}.get(name, name) in typed}


def _fit_as_dict(done: workflows.Fitted, model: Path) -> dict[str, Any]:
    return {
        "model": str(model),
        "columns": list(done.ranker.columns),
        "flipped": sorted(done.ranker.flipped),
        "set_aside": list(done.set_aside),
        "settings": done.ranker.settings.to_dict(),
        "diagnostics": done.ranker.diagnostics.to_dict(),
    }


def _tell_fit(done: workflows.Fitted, model: Path) -> None:
    ranker, told = done.ranker, done.ranker.diagnostics
    held = f"{told.n_held:,} held back for p-values" if told.n_held else "none held back, so no p-values"
    print_lines(
        {
            "score columns": ", ".join(ranker.columns),
            "flipped": ", ".join(sorted(ranker.flipped)),
            "constant": ", ".join(told.constant_columns) and f"{', '.join(told.constant_columns)} (no influence)",
            "not scores": ", ".join(done.set_aside),
            "rows": f"{told.n_map:,} for the map, {held}",
            "plan": f"{told.solver} solver, {told.sweeps} sweeps, marginal error {told.marginal_error:.1e}",
            "model": str(model),
        }
    )


@app.command()
def score(
    model: ModelFile,
    new: NewRows,
    ranked: Annotated[Path, typer.Option("--out", "-o", help="Where to write the ranked table.")] = Path(
        "ranked.parquet"
    ),
    alpha: Annotated[
        float | None, typer.Option(help="Add a column `flagged`: rows whose p-value is at most this false-alarm rate.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score new rows with a saved model: the same rows, with `uncertainty` and `p_value` added.

    A saved pipeline (VecUQPipeline in Python) takes a file of a classifier's outputs instead of a table.
    """
    with usage_errors():
        if alpha is not None:
            in_range("alpha", alpha, 0.0, 1.0, ends="()")
    with friendly_errors():
        with watching(new) as watch:
            done = workflows.score(model, new, ranked, alpha=alpha, watch=watch)
        if as_json:
            print_json({"out": str(ranked), **vars(done)})
            return
        flagged = "" if done.n_flagged is None else f", {done.n_flagged:,} flagged at alpha {alpha:g}"
        typer.echo(f"{done.n_rows:,} rows scored{flagged} -> {ranked}")


@app.command()
def rank(
    calibration: Calibration,
    new: NewRows,
    folder: Folder = Path("ranked"),
    columns: Columns = None,
    flip: Flip = None,
    paper: Paper = False,
    error: Annotated[str | None, typer.Option(help="0/1 column of the new table: the model was wrong there.")] = None,
    ood: Annotated[
        str | None, typer.Option(help="0/1 column of the new table: the row is out of distribution.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Fit, score and report in one go: from two tables to a folder with everything."""
    with friendly_errors():
        with watching(new) as watch:
            done = workflows.rank(
                calibration,
                new,
                folder,
                Settings.paper() if paper else None,
                columns=_listed(columns),
                flip=_listed(flip) or (),
                labels=workflows.Labels(error, ood) if error or ood else None,
                watch=watch,
            )
        _tell_ranked(done, folder, as_json=as_json)


def _tell_ranked(done: workflows.Ranked, folder: Path, *, as_json: bool) -> None:
    if as_json:
        fitted = _fit_as_dict(done.fitted, folder / "model.vecuq")
        print_json({**fitted, **vars(done.scored), "evaluation": list(done.evaluation)})
        return
    _tell_fit(done.fitted, folder / "model.vecuq")
    if done.evaluation:
        print_table("How well each score finds what it should", done.evaluation)
    typer.echo(f"{done.scored.n_rows:,} rows ranked; open {folder / 'report.html'}")


@app.command()
def report(
    model: ModelFile,
    new: NewRows,
    page: Annotated[Path, typer.Option("--out", "-o", help="Where to write the page.")] = Path("report.html"),
) -> None:
    """Write a self-contained HTML page about new rows and how the model ranks them."""
    with friendly_errors():
        workflows.report(model, new, page)
        typer.echo(f"report -> {page}")


@app.command()
def demo(folder: Folder = Path("demo"), as_json: AsJson = False) -> None:
    """Run the whole job on bundled example data: an ensemble on handwritten digits."""
    with friendly_errors():
        done = workflows.demo(folder)
        _tell_ranked(done, folder, as_json=as_json)


@app.command()
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
