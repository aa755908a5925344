"""`vecuq fit`: from calibration rows to a saved model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq._check import one_of
from vecuq.cli import comparing
from vecuq.cli import fitting_answers as answers
from vecuq.cli.answer_options import Jobs, Kind, Map, Renormalise, Samples, Strict
from vecuq.cli.options import (
    METHOD,
    AsJson,
    CalibrationFiles,
    ColumnGroupsOption,
    Columns,
    Epsilon,
    Flip,
    Force,
    Group,
    HoldbackOrCross,
    Paper,
    ReferenceName,
    Scaling,
    by_group,
    choice,
    listed,
    refuse_options,
    typed_options,
)
from vecuq.cli.part_options import PARTS, EngineName, Scheduler, SkipBad, engine_named
from vecuq.cli.talk import counted, echo, friendly_errors, print_json, print_lines, usage_errors, watching
from vecuq.errors import SettingError
from vecuq.ranker import Settings, weights_line

DEFAULTS = Settings()
SOLVER = "The solver"
LABELS = "Weights"
_FOR_A_GATE = ("correct", "accuracy", "confidence", "by", "quality")
_CERTIFY_NEXT = "fit without it, then certify: vecuq gate MODEL LABELLED --wrong COLUMN --accuracy 0.95"


def fit(
    context: typer.Context,
    calibration: CalibrationFiles,
    model: Annotated[Path, typer.Option("--out", "-o", help="Where to save the model.")] = Path("model.vecuq"),
    columns: Columns = None,
    flip: Flip = None,
    paper: Paper = False,
    holdback: HoldbackOrCross = str(DEFAULTS.holdback),
    missing: Annotated[
        str, typer.Option(help="Rows with missing or infinite scores: error, or drop.", metavar="error|drop")
    ] = "error",
    force: Force = False,
    as_json: AsJson = False,
    reference: ReferenceName = "beta",
    scaling: Scaling = DEFAULTS.scaling,
    epsilon: Epsilon = DEFAULTS.epsilon,
    anchors: Annotated[float, choice("Distance of the outer anchors; 0 for none.", METHOD)] = DEFAULTS.anchors,
    anchor_mass: Annotated[float | None, choice("Largest share of the mass on the anchors.", METHOD)] = None,
    overshoot: Annotated[
        float, choice("Weight of the distance beyond the calibration box; 0 for none.", METHOD)
    ] = DEFAULTS.overshoot,
    alpha: Annotated[float, choice("False-alarm rate of `predict` in Python.", METHOD)] = DEFAULTS.alpha,
    seed: Annotated[
        int | None, choice("Seed of the split into map and held-back rows; without it, always the same.", METHOD)
    ] = None,
    grid: Annotated[str, choice("midpoint or authors.", SOLVER)] = DEFAULTS.grid,
    n_targets: Annotated[str, choice("Reference points: auto, rows or a number.", SOLVER)] = "auto",
    solver: Annotated[str, choice("auto, separable, sketch or dense.", SOLVER)] = DEFAULTS.solver,
    tol: Annotated[float, choice("Largest marginal error of the plan.", SOLVER)] = DEFAULTS.tol,
    max_iter: Annotated[int, choice("Most sweeps.", SOLVER)] = DEFAULTS.max_iter,
    on_failure: Annotated[str, choice("error or warn when the plan misses --tol.", SOLVER)] = DEFAULTS.on_failure,
    weights: Annotated[
        list[str] | None,
        choice("How much each score column counts; without it, all alike.", LABELS, metavar="A=1,B=0.5"),
    ] = None,
    column_groups: ColumnGroupsOption = None,
    labelled: Annotated[
        Path | None, choice("Table of other rows with labels, from which weights are learned.", LABELS)
    ] = None,
    wrong: Annotated[
        str | None,
        choice(
            "0/1 column of the --labelled table, or field of the answers: the answer was wrong.",
            LABELS,
            metavar="COLUMN",
        ),
    ] = None,
    group: Group = None,
    correct: answers.Correct = None,
    accuracy: answers.Accuracy = 0.95,
    confidence: answers.Confidence = 0.9,
    by: answers.By = None,
    measures: answers.Measures = None,
    quality: answers.Quality = None,
    samples: Samples = None,
    map: Map = None,
    kind: Kind = "auto",
    renormalise: Renormalise = False,
    strict: Strict = False,
    jobs: Jobs = None,
    similarity: comparing.Similarity = None,
    extract: comparing.Extract = None,
    strip_think: comparing.StripThink = False,
    answer: comparing.ChosenAnswer = "first",
    embed_url: comparing.EmbedUrl = None,
    embed_model: comparing.EmbedModel = None,
    nli: comparing.Nli = None,
    nli_model: comparing.NliModel = None,
    judge_url: comparing.JudgeUrl = None,
    judge_model: comparing.JudgeModel = None,
    api_key_env: comparing.ApiKeyEnv = None,
    engine: EngineName = None,
    scheduler: Scheduler = None,
    skip_bad: SkipBad = False,
    ids: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="With --engine: column with another text or whole number in every row, which says what is held back.",
            metavar="COLUMN",
            rich_help_panel=PARTS,
        ),
    ] = None,
) -> None:
    """Learn from in-distribution rows how their score vectors lie, and save the model.

    A file of a language model's answers, recognised by its content or read as `--map` says, is measured first. With
    labels (`--wrong`, `--correct` or `--quality`) its answers are split at random, some for the model and the others
    for a gate, and both are saved together as one pipeline.
    """
    of_answers = answers.are_answers(context, calibration)
    given: dict[str, Any] = {
        "reference": reference,
        "epsilon": epsilon,
        "scaling": scaling,
        "anchors": anchors,
        "anchor_mass": anchor_mass,
        "overshoot": overshoot,
        "holdback": _number_or_word(holdback),
        "grid": grid,
        "n_targets": int(n_targets) if n_targets.isdecimal() else n_targets,
        "solver": solver,
        "tol": tol,
        "max_iter": max_iter,
        "on_failure": on_failure,
        "alpha": alpha,
        "random_state": seed,
    }
    if of_answers:
        answers.fit_texts(context, calibration, model, given, context.params)
        return
    with usage_errors():
        whose = ("answers of a language model", "a table of scores")
        refuse_options(context, _FOR_A_GATE, *whose, remedy=_CERTIFY_NEXT)
        refuse_options(context, [name for name in answers.FOR_ANSWERS if name != "jobs"], *whose)
        given["weights"] = _by_column(listed(weights))
        given["column_groups"] = by_group(column_groups)
        rows = _labelled(labelled, wrong, weights, calibration)
        one_of("missing", missing, workflows.FIT_MISSING)
        settings = Settings.paper(**_typed(context, given)) if paper else Settings(**given)
        on_cluster = engine_named(context.params) is not None
        here, there = ("group", "labelled", "wrong", "jobs"), ("skip_bad", "ids")
        refuse_options(context, here if on_cluster else there, *_whose(on_cluster))
    with friendly_errors():
        with watching() as watch:
            how: dict[str, Any] = {"columns": listed(columns), "flip": listed(flip), "missing": missing}
            how |= {"force": force, "watch": watch}
            if on_cluster:
                done = _fit_on_dask(calibration, model, settings, context.params, how)
            else:
                n_jobs = -1 if jobs is None else jobs
                done = workflows.fit(calibration, model, settings, **how, labelled=rows, group=group, n_jobs=n_jobs)
        if as_json:
            print_json(fit_as_dict(done, model))
        else:
            print_fit(done, model)
            echo(f"next: vecuq score {model} NEW")


def _fit_on_dask(
    calibration: Sequence[Path], model: Path, settings: Settings, given: dict[str, Any], how: dict[str, Any]
) -> workflows.Fitted:
    """Fit to part files on a cluster, which is started here where no scheduler is named."""
    from vecuq.cluster import dask

    more = {name: given[name] for name in ("scheduler", "skip_bad", "ids")}
    return dask.fit_files(calibration, model, settings, **how, **more)


def _whose(on_cluster: bool) -> tuple[str, str]:
    """Return for what refused options are, and for what they are not."""
    return ("one machine", "--engine") if on_cluster else ("--engine dask", "one machine")


def _by_column(pairs: list[str] | None) -> dict[str, float] | None:
    """Return weights by column name, from texts such as ``knn=0.5``."""
    found = {}
    for pair in pairs or ():
        name, _, value = pair.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise SettingError(f"weights must be COLUMN=NUMBER, separated by commas; got {pair!r}.")
    return found or None


def _labelled(
    table: Path | None, wrong: str | None, weights: list[str] | None, calibration: list[Path]
) -> workflows.Labelled | None:
    if table is None and wrong is not None:
        raise SettingError(
            f"--wrong without --labelled is for answers, and {calibration[0]} holds no known kind of answers. Name its "
            f"fields: map='answer=FIELD,samples=FIELD'. With a table of scores, {_CERTIFY_NEXT}; or learn weights: "
            f"--labelled and --wrong go together, a table and its column of labels."
        )
    if table is not None and wrong is None:
        raise SettingError("--labelled and --wrong go together: a table, and its column of labels.")
    if table is None or wrong is None:
        return None
    if weights:
        raise SettingError("--weights gives the weights, --labelled learns them; leave one out.")
    return workflows.Labelled(table, wrong)


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _typed(context: typer.Context, given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the user typed: these override the paper's."""
    typed = typed_options(context)
    return {name: value for name, value in given.items() if {"random_state": "seed"}.get(name, name) in typed}


def fit_as_dict(done: workflows.Fitted, model: Path) -> dict[str, Any]:
    """Return what a fit came to, for programs."""
    return {
        "model": str(model),
        "columns": list(done.ranker.columns),
        "flipped": sorted(done.ranker.flipped),
        "set_aside": list(done.set_aside),
        "n_dropped": done.n_dropped,
        "settings": done.ranker.settings.to_dict(),
        "diagnostics": done.ranker.diagnostics.to_dict(),
        "held_back_groups": done.ranker.n_groups,
    }


def print_fit(done: workflows.Fitted, model: Path) -> None:
    """Print what a fit came to, for people."""
    ranker, went = done.ranker, done.ranker.diagnostics
    grouped = "" if ranker.n_groups is None else f" in {ranker.n_groups:,} groups"
    held = f"{went.n_held:,} held back{grouped} for p-values" if went.n_held else "none held back, so no p-values"
    if ranker.settings.holdback == "cross":
        held = "each held back once for p-values, from five more maps"
    print_lines(
        {
            "score columns": ", ".join(ranker.columns),
            "flipped": ", ".join(sorted(ranker.flipped)),
            "constant": ", ".join(went.constant_columns) and f"{', '.join(went.constant_columns)} (no influence)",
            "weights": weights_line(ranker.settings.weights),
            **{f"ranked together, {name}": ", ".join(group) for name, group in (went.column_groups or {}).items()},
            "not scores": ", ".join(done.set_aside),
            "rows": f"{went.n_map:,} for the map, {held}",
            "sample": f"{went.n_sampled:,} rows, drawn at random, stand for those of the map"
            if went.n_sampled
            else None,
            "dropped": f"{counted(done.n_dropped, 'row')} with missing or infinite scores" if done.n_dropped else None,
            "plan": f"{went.solver} solver, {went.sweeps} sweeps, marginal error {went.marginal_error:.1e}",
            "model": str(model),
        }
    )
