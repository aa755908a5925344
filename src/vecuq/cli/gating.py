"""`vecuq gate`, `sample` and `audit`: which answers may be trusted, which rows to label, and whether it held."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq.cli import comparing
from vecuq.cli.answer_options import Jobs, Kind, Map, Renormalise, Samples, Strict, for_judge
from vecuq.cli.keeping import say_store_audit
from vecuq.cli.options import KINDS, TABLES, AsJson, Force, table_argument
from vecuq.cli.talk import echo, friendly_errors, print_json, print_table, usage_errors, working
from vecuq.service import keeping

_TARGET, _LABELS = "The target (one of these)", "The labels"


def _target(text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=_TARGET, show_default=False, **more)


def _label(text: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=_LABELS, show_default=False)


Correct = Annotated[
    str | None,
    _label("Column with 1 for a right answer and 0 for a wrong one; or a rule, 'quality>=0.7'.", "--correct"),
]
Wrong = Annotated[str | None, _label("Or: column with 1 for a wrong answer.", "--wrong", "--error")]
Group = Annotated[
    str | None, _label("Column of rows that come together (sessions, documents): groups are the evidence.", "--group")
]
By = Annotated[str | None, _label("Column of categories: a certificate for each.", "--by")]


def gate(
    context: typer.Context,
    model: Annotated[
        Path, typer.Argument(help="Model or pipeline written by vecuq.", metavar="MODEL", show_default=False)
    ],
    labelled: Annotated[
        list[Path] | None,
        table_argument(
            f"Labelled rows, a random sample of the rows to decide, none of which fitted the model: {TABLES}.",
            "LABELLED",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the gate.")] = Path("gate.vecuq"),
    correct: Correct = None,
    wrong: Wrong = None,
    graded: Annotated[
        str | None, _label("Or: column with a quality between 0 and 1, for --quality.", "--quality-column")
    ] = None,
    group: Group = None,
    by: By = None,
    accuracy: Annotated[float | None, _target("Accuracy of accepted rows, such as 0.95.", "--accuracy")] = None,
    error_rate: Annotated[float | None, _target("Or: their error rate.", "--error-rate")] = None,
    quality: Annotated[float | None, _target("Or: their mean quality.", "--quality")] = None,
    flag_precision: Annotated[
        float | None, _target("Or: share of flagged (not accepted) rows that are wrong.", "--flag-precision")
    ] = None,
    flag_recall: Annotated[float | None, _target("Or: share of wrong rows that are flagged.", "--flag-recall")] = None,
    cost_wrong: Annotated[float | None, _target("Or: price of a wrong answer ...", "--cost-wrong")] = None,
    cost_review: Annotated[float | None, _target("... beside the price of a review.", "--cost-review")] = None,
    budget: Annotated[
        float | None, _target("Or: what can be reviewed, a share or a number of rows per file.", "--budget")
    ] = None,
    confidence: Annotated[float, typer.Option(help="With which probability the promise holds.")] = 0.9,
    promise: Annotated[
        str, typer.Option(help="About one threshold, or about one file on average.", metavar="confidence|average")
    ] = "confidence",
    guard: Annotated[
        float | None, typer.Option(help="Never accept rows whose p-value is smaller, such as 0.01.")
    ] = None,
    order: Annotated[
        str, typer.Option(help="model, a column, or best (a quarter of the labels chooses).", metavar="ORDER")
    ] = "model",
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="With --by: all certificates hold together.")
    ] = False,
    unlabelled: Annotated[
        list[Path] | None,
        typer.Option(help=f"Rows whose scores set the thresholds, if the model keeps none: {KINDS}."),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only say how many labels the target is likely to need.")
    ] = False,
    picture: Annotated[
        Path | None,
        typer.Option(help="Draw coverage against certified accuracy, a line per order: png, svg, or csv."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the draws of thresholds from labelled rows.")] = None,
    force: Force = False,
    as_json: AsJson = False,
    samples: Samples = None,
    map: Map = None,
    kind: Kind = "auto",
    renormalise: Renormalise = False,
    strict: Strict = False,
    jobs: Jobs = None,
    embed_url: comparing.EmbedUrl = None,
    embed_model: comparing.EmbedModel = None,
    nli: comparing.Nli = None,
    nli_model: comparing.NliModel = None,
    judge_url: comparing.JudgeUrl = None,
    judge_model: comparing.JudgeModel = None,
    api_key_env: comparing.ApiKeyEnv = None,
) -> None:
    """Find with labelled rows which answers may be trusted, and save the proof as a gate.

    Prints the certificate: the promise in one sentence, what it assumes, and what the labels showed. If the labels
    cannot prove the target, no row is accepted, and the message says what is proven and how many labels are missing.
    `vecuq sample` draws rows to label; `vecuq score gate.vecuq new.parquet` adds `accept` and `p_wrong` to new rows.
    """
    with usage_errors():
        labels = workflows.LabelColumns(correct, wrong, graded, group, by)
        target: dict[str, Any] = {
            "accuracy": accuracy,
            "error": error_rate,
            "quality": quality,
            "flag_precision": flag_precision,
            "flag_recall": flag_recall,
            "cost_wrong": cost_wrong,
            "cost_review": cost_review,
            "budget": budget,
        }
        how: dict[str, Any] = {"confidence": confidence, "promise": promise, "guard": guard, "order": order}
        how["random_state"] = seed
        if not labelled and not plan:
            raise typer.BadParameter("Labelled rows are needed: vecuq gate MODEL LABELLED --correct COLUMN.")
        rows, how["supplied"] = for_judge(context, model, list(labelled or ()))
    with friendly_errors():
        if plan:
            planned = workflows.plan(model, rows if labelled else None, labels, **target, **how)
            _say_plan(planned, as_json=as_json)
            return
        with working() as show:
            show("fitting the gate")
            made = workflows.gate(
                model,
                rows,
                out,
                labels,
                simultaneous=simultaneous,
                unlabelled=unlabelled,
                picture=picture,
                force=force,
                **target,
                **how,
            )
        _say_gate(made, out, as_json=as_json)


def _say_plan(planned: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(planned.to_dict())
    else:
        echo(str(planned))


def _say_gate(made: Any, out: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"out": str(out), **made.describe()})
        return
    echo(str(made.certificate()))
    print_targets(made)
    others = ", ".join(f"{name} {share:.3f}" for name, share in made.orders_.items() if name != made.order_)
    if others:
        echo(f"Coverage of other orders, with the same labels{_otherwise(made)}: {others}")
    echo(f"gate -> {out}")


def print_targets(made: Any) -> None:
    """Print what the labels certify at several targets."""
    graded = made.target.kind == "quality"
    print_table(f"Certified with confidence {made.confidence:g}, all at once", _targets(made.table_, graded=graded))
    echo("These hold together, so each may cover fewer rows than as the only target.")


def _targets(table: list[dict[str, Any]], *, graded: bool) -> list[dict[str, str]]:
    """Return what is certified at several targets, in the words of an accuracy or of a graded quality."""
    target, lost = ("quality", "mean loss") if graded else ("accuracy", "wrong")

    def loss(line: dict[str, Any]) -> str:
        return f"{line['wrong'] / max(line['accepted'], 1):.4f}" if graded else f"{line['wrong']:,.0f}"

    return [
        {
            target: f"{line['accuracy']:g}",
            "coverage": f"{line['coverage']:.3f}",
            "accepted": f"{line['accepted']:,}",
            lost: loss(line) if line["accepted"] else "-",
        }
        for line in table
    ]


def _otherwise(made: Any) -> str:
    """Return how the other orders were certified, where the gate was not: with confidence, and without categories."""
    average = f", with confidence {made.confidence:g} instead of on average" if made.promise == "average" else ""
    return average + ", without categories" * bool(made.certificate().units)


def sample(
    new: Annotated[list[Path], table_argument(f"Rows to decide: {TABLES}.", "NEW")],
    n: Annotated[int, typer.Option("-n", "--rows", help="How many rows to draw.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write them.")] = Path("to_label.csv"),
    seed: Annotated[int | None, typer.Option(help="Seed of the draw; without it, always the same.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Draw rows at random, to be labelled: only such labels certify a gate.

    A column `row` holds the place of each row in the table, unless it has one.
    """
    with usage_errors():
        if n < 1:
            raise typer.BadParameter("-n must be at least 1.")
    with friendly_errors():
        done = workflows.sample(new, out, n, random_state=seed, force=force)
        if as_json:
            print_json({"out": str(out), "n_rows": done.n_rows, "n_drawn": done.n_drawn})
        else:
            echo(f"{done.n_drawn:,} of {done.n_rows:,} rows, drawn at random -> {out}")


def audit(
    context: typer.Context,
    gate_file: Annotated[
        Path, typer.Argument(help="Gate, or pipeline of answers.", metavar="GATE", show_default=False)
    ],
    later: Annotated[
        list[Path],
        table_argument(f"Later rows with labels, drawn at random: {TABLES}; or the store of a service.", "LATER"),
    ],
    correct: Correct = None,
    wrong: Wrong = None,
    graded: Annotated[str | None, _label("Or: column with a quality between 0 and 1.", "--quality-column")] = None,
    group: Group = None,
    by: By = None,
    as_json: AsJson = False,
    samples: Samples = None,
    map: Map = None,
    kind: Kind = "auto",
    renormalise: Renormalise = False,
    strict: Strict = False,
    jobs: Jobs = None,
    embed_url: comparing.EmbedUrl = None,
    embed_model: comparing.EmbedModel = None,
    nli: comparing.Nli = None,
    nli_model: comparing.NliModel = None,
    judge_url: comparing.JudgeUrl = None,
    judge_model: comparing.JudgeModel = None,
    api_key_env: comparing.ApiKeyEnv = None,
) -> None:
    """Check with later labels whether a gate has kept its promise.

    The labels must be a random sample of the rows that were decided, not those that somebody found suspicious. The exit
    code is 0 whatever the verdict: kept, broken, or open (too few labels to say). `vecuq score --state` draws such rows
    by itself, and `vecuq live` takes their labels; a service with `--store` does both, and its store is read as it is.
    """
    with usage_errors():
        labels = workflows.LabelColumns(correct, wrong, graded, group, by)
        if len(later) == 1 and keeping.is_store(later[0]):
            say_store_audit(gate_file, later[0], labels, as_json=as_json)
            return
        rows, supplied = for_judge(context, gate_file, later)
    with friendly_errors():
        _say_audit(workflows.audit(gate_file, rows, labels, supplied=supplied), as_json=as_json)


def _say_audit(done: workflows.Audited, *, as_json: bool) -> None:
    if as_json:
        print_json(done.to_dict())
        return
    rate, lost = f"{done.n_errors:g} of {done.n_accepted:,} wrong", "error rate"
    if done.graded:
        rate, lost = f"{done.n_accepted:,}, with a mean loss of {done.error_rate or 0.0:.4f}", "mean loss"
    words = {
        "kept": "The promise was kept",
        "open": "Too few labels to say",
    }
    on_average = "The promise is about the average over batches and labels, which one audit cannot settle"
    where = " in " + ", ".join(done.broken_in) if done.broken_in else ""
    words["broken"] = f"The promise was broken{where}: fit a new gate"
    if done.open_in and done.verdict == "open":
        words["open"] = f"Too few labels to say in {', '.join(done.open_in)}; the promise is about each category"
    echo(
        f"{on_average if done.promise == 'average' else words[done.verdict]}. Accepted rows: "
        f"{'no row was accepted' if done.error_rate is None else rate}; {lost} {done.lower:.4f} to {done.upper:.4f} "
        f"(each end with confidence {done.confidence:g}), {done.allowed:g} is allowed."
    )
