"""`vecuq evaluate` and `vecuq compare`: how good scores are on rows whose labels are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vecuq import workflows
from vecuq.cli.options import (
    ONE_TABLE,
    TABLES,
    AsJson,
    Calibration,
    Columns,
    CorrectColumn,
    ErrorColumn,
    Flip,
    Force,
    NoFormulas,
    OodColumn,
    listed,
    table_argument,
)
from vecuq.cli.talk import echo, friendly_errors, note, print_json, print_sheet, usage_errors, working

if TYPE_CHECKING:
    from vecuq.evaluation import Evaluation

# What a label says of a row if it is right, by task.
_ONE_MEANS = {
    "error": "1 must mean that the prediction is wrong",
    "ood": "1 must mean that the row is out of distribution",
    "generation": "a higher quality must mean a better answer",
}
QualityColumn = Annotated[
    str | None, typer.Option("--quality", help="Column that says how good each answer is; higher is better.")
]
Tables = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write the tables too: csv, md (Markdown) or tex (LaTeX).")
]
Curves = Annotated[
    Path | None,
    typer.Option(
        "--curves",
        help="Write risk-coverage curves (with --error) and rejection curves (with --quality): a picture (png, svg) or "
        "every number (csv).",
        metavar="FILE",
    ),
]
Resamples = Annotated[int, typer.Option(help="Bootstrap resamples behind the intervals; 0 for none.")]
Level = Annotated[float, typer.Option(help="Share of resamples inside an interval.")]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        help="Column that says which rows come together (session, document): intervals and wins then draw whole "
        "groups.",
        metavar="COLUMN",
    ),
]
Seed = Annotated[int | None, typer.Option(help="Seed of the resamples; without it, always the same.")]


def evaluate(
    table: Annotated[list[Path], table_argument(f"Rows with scores and labels: {TABLES}.", "TABLE")],
    error: ErrorColumn = None,
    correct: CorrectColumn = None,
    ood: OodColumn = None,
    quality: QualityColumn = None,
    columns: Columns = None,
    flip: Flip = None,
    group: Group = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(help="Metrics, comma-separated, such as roc_auc; without it, all.", metavar="A,B"),
    ] = None,
    out: Tables = None,
    curves: Curves = None,
    no_formulas: NoFormulas = False,
    force: Force = False,
    resamples: Resamples = 500,
    level: Level = 0.95,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well each score, and `uncertainty`, does on labelled rows.

    Every number comes with its interval, or the reason why it has none. A column `p_wrong` is compared with --error.
    """
    from vecuq.evaluation import Bootstrap, find_metrics, task_sheets

    labels = _labels(error, correct, ood, quality)
    if curves is not None and not (error or correct or quality):
        raise typer.BadParameter("--curves needs --error or --quality, the column that the curves are about.")
    with usage_errors():
        bootstrap = Bootstrap(resamples, level, seed)
        find_metrics(listed(metrics))
        if out is not None:
            workflows.table_ending(out)
        if curves is not None:
            workflows.curves_ending(curves, beside=out)
    with friendly_errors():
        with working() as show:
            show("evaluating")
            found = workflows.evaluate(
                table,
                labels,
                columns=listed(columns),
                flip=listed(flip),
                metrics=listed(metrics),
                bootstrap=bootstrap,
                group=group,
                out=out,
                curves=curves,
                formulas=not no_formulas,
                force=force,
            )
        if as_json:
            print_json(_evaluated_as_dict(found))
            return
        for sheet in task_sheets(found):
            print_sheet(sheet)
        _print_calibration(found)
        if found.flipped:
            echo(f"flipped{'' if flip else ', as in the scoring'}: {', '.join(found.flipped)}.")
        _print_intervals(found, level if resamples else None)
        _print_gaps(found, columns=found.methods)


def compare(
    calibration: Calibration,
    test: Annotated[Path, table_argument(f"Rows with the same scores, and labels: {ONE_TABLE}.", "TEST")],
    error: ErrorColumn = None,
    correct: CorrectColumn = None,
    ood: OodColumn = None,
    quality: QualityColumn = None,
    columns: Columns = None,
    flip: Flip = None,
    group: Group = None,
    out: Tables = None,
    no_formulas: NoFormulas = False,
    force: Force = False,
    resamples: Resamples = 500,
    level: Level = 0.95,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Compare vecuq with every other way to combine the scores, on labelled rows.

    All are fitted on the calibration rows alone. A verdict says which is best, and whether by more than chance.
    """
    from vecuq.evaluation import Bootstrap

    labels = _labels(error, correct, ood, quality)
    with usage_errors():
        bootstrap = Bootstrap(resamples, level, seed)
        if out is not None:
            workflows.table_ending(out)
    with friendly_errors():
        with working() as show:
            show("fitting and comparing")
            done = workflows.compare(
                calibration,
                test,
                labels,
                columns=listed(columns),
                flip=listed(flip) or (),
                bootstrap=bootstrap,
                group=group,
                out=out,
                formulas=not no_formulas,
                force=force,
            )
        if as_json:
            print_json(_compared_as_dict(done))
            return
        print_sheet(done.sheet)
        echo("name() is a baseline, see vecuq.baselines.")
        if resamples:
            echo(
                "wins, losses, verdicts: differences larger than chance explains, all pairs judged at once. "
                f"If all methods were equal, a table would show any with probability {1 - level:.2g}."
            )
        _print_verdicts(done)
        for name, reason in done.failed.items():
            note(f"{name} is missing: {reason}")
        _print_intervals(done.evaluation, level if resamples else None)
        _print_gaps(done.evaluation, columns=done.components, keys=[verdict.metric for verdict in done.verdicts])


def _labels(error: str | None, correct: str | None, ood: str | None, quality: str | None) -> workflows.Labels:
    """Return the label columns that were named; one at least is needed."""
    if not (error or correct or ood or quality):
        raise typer.BadParameter(
            "There are no labels to evaluate with. Name a column with --error, --correct, --ood or --quality."
        )
    with usage_errors():
        return workflows.Labels(error, ood, quality, correct)


def _print_verdicts(done: workflows.Compared) -> None:
    """Print who is best on each metric, and where vecuq stands if it is not."""
    for verdict in done.verdicts:
        echo(f"verdict: {verdict}")
        if verdict.level is None or verdict.best is None or verdict.best.startswith("vecuq"):
            continue
        gap = done.evaluation.comparison(verdict.metric).difference(verdict.best, "vecuq")
        how = "no more than chance explains" if "vecuq" in verdict.not_separated else "more than chance explains"
        echo(f"         vecuq is {abs(gap.value):.3f} behind, {how}.")


def _evaluated_as_dict(found: Evaluation) -> dict[str, Any]:
    from vecuq.evaluation import inverted_labels

    return {
        "n_rows": found.n_rows,
        "n_left_out": found.n_left_out,
        "flipped": list(found.flipped),
        "doubted": list(found.doubted),
        "n_groups": found.n_groups,
        "inverted_labels": list(inverted_labels(found)),
        "calibration": found.calibration.to_dict() if found.calibration else None,
        "estimates": found.rows(),
    }


def _compared_as_dict(done: workflows.Compared) -> dict[str, Any]:
    return {
        "components": list(done.components),
        "failed": done.failed,
        "n_left_out": done.evaluation.n_left_out,
        "verdicts": [verdict.to_dict() for verdict in done.verdicts],
        "comparison": _plain(done),
        "estimates": done.evaluation.rows(),
    }


def _plain(done: workflows.Compared) -> list[dict[str, Any]]:
    """Return the lines of a comparison with plain numbers; intervals are among the estimates."""
    from vecuq._draw import Ranged

    return [
        {head: float(cell) if isinstance(cell, Ranged) else cell for head, cell in row.items()}
        for row in done.sheet.rows
    ]


def _print_calibration(found: Evaluation) -> None:
    """Print how far a probability of being wrong is off, beside what chance makes of a right one."""
    known = found.calibration
    if known is None or not known.n:
        return
    chance = "" if math.isnan(known.ece_by_chance) else f" (up to {known.ece_by_chance:.3f} by chance if it is right)"
    echo(
        f"p_wrong: expected calibration error {known.ece:.3f}{chance}; Brier score {known.brier:.3f} "
        f"({known.brier_of_constant:.3f} for the same probability on all rows)."
    )


def _print_intervals(found: Evaluation, level: float | None) -> None:
    """Print what the intervals are."""
    if level is None:
        return
    drawn = "" if found.n_groups is None else f" over {found.n_groups:,} groups of rows"
    echo(f"[low, high]: {100 * level:g} % interval{drawn}, Newcombe's of roc_auc, else by bootstrap.")


def _print_gaps(found: Evaluation, *, columns: Sequence[str], keys: Sequence[str] | None = None) -> None:
    """Print which rows were left out, what is missing (of the metrics shown), and what looks upside down."""
    from vecuq.evaluation import below_chance, inverted_labels

    if found.n_left_out:
        who = ", ".join(f"{name} ({count:,})" for name, count in found.without_score.items())
        note(f"{found.n_left_out:,} of {found.n_rows:,} rows were left out for all, having no score from {who}.")
    absent: dict[str, dict[str, None]] = {}
    for row in found.rows():
        if row["reason"] and (keys is None or f"{row['task']} {row['metric']}" in keys):
            absent.setdefault(f"{row['task']}: {row['reason']}", {})[row["method"]] = None
    for reason, methods in absent.items():
        note(f"{reason}: {', '.join(methods)}")
    for task in inverted_labels(found):
        note(f"{task}: all scores are worse than chance. Perhaps the labels are inverted: {_ONE_MEANS[task]}.")
    for name in [name for name in below_chance(found) if name in columns]:
        remedy = f"leave it out of --flip {name}" if name in found.flipped else f"add --flip {name}"
        note(f"{name}: worse than chance. If its direction is wrong, {remedy}.")
    if found.doubted:
        note(
            "No score is marked as the best while the direction of one is in doubt. --flip settles it; --flip '' says "
            "that no column is flipped."
        )
