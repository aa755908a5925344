"""What `vecuq fit` does with answers of a language model, and prints about them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vecuq import workflows
from vecuq.cli import comparing
from vecuq.cli.answer_options import ANSWERS, FOR_READING, reading_of
from vecuq.cli.gating import print_targets
from vecuq.cli.measuring_answers import print_gaps, print_notes
from vecuq.cli.options import choice, listed, refuse_options, typed_options
from vecuq.cli.talk import counted, echo, friendly_errors, note, print_json, print_lines, usage_errors, watching
from vecuq.errors import SettingError
from vecuq.table import QUALITY

if TYPE_CHECKING:
    from vecuq.workflows import FittedAnswers, LabelColumns

# Options that only answers take, and those that only tables take.
FOR_ANSWERS = (
    *("correct", "accuracy", "confidence", "by", "measures", "quality"),
    *FOR_READING,
    *comparing.NAMES,
)
FOR_TABLES = ("columns", "flip", "paper", "missing", "weights", "column_groups", "labelled")

Correct = Annotated[
    str | None,
    choice("Field with 1 for a right answer; or a rule, 'quality>=0.7'.", ANSWERS, metavar="FIELD"),
]
Accuracy = Annotated[float, choice("With labels: accuracy of accepted answers.", ANSWERS)]
Confidence = Annotated[float, choice("With labels: with which probability this holds.", ANSWERS)]
By = Annotated[str | None, choice("Field of categories: a certificate for each.", ANSWERS, metavar="FIELD")]
Measures = Annotated[
    str | None,
    choice(
        "Measures or compositions, comma-separated; without it, up to five that the answers allow.",
        ANSWERS,
        metavar="A,B",
    ),
]
Quality = Annotated[
    str | None,
    choice(
        "Label by the references: exact_match or numeric_match; others with a rule, --correct 'quality>=0.7'.",
        ANSWERS,
        metavar="KIND",
    ),
]


def are_answers(context: typer.Context, files: Sequence[Path]) -> bool:
    """Whether files hold answers; a note says so where texts stand in what is read as a table of scores."""
    typed = typed_options(context)
    if typed & {"columns", "labelled"}:
        return False
    if typed & {"map", "kind"}:
        return True
    with friendly_errors():
        if workflows.hold_answers(files, asked=bool(typed & {"wrong", *FOR_ANSWERS})):
            return True
        for path, name in workflows.texts_beside_scores(files).items():
            note(f"{path} is read as a table of scores. If {name!r} holds answers to measure: map='answer={name}'.")
        return False


def fit_texts(
    context: typer.Context, files: Sequence[Path], out: Path, method: dict[str, Any], given: dict[str, Any]
) -> None:
    """Fit a pipeline to files of answers and print what became of them; ``given`` are the options by name."""
    from vecuq.pipeline import AnswerPipeline
    from vecuq.ranker import VecUQ

    with usage_errors():
        refuse_options(context, FOR_TABLES, "a table of scores", "answers of a language model")
        labels = _labels(context, given)
        settings = comparing.text_settings({name: given[name] for name in comparing.NAMES})
        wanted = workflows.WantedOfAnswers(listed(given["measures"]), settings, given["quality"])
        reading = reading_of(files, given)
        pipeline = AnswerPipeline(
            measures=wanted.measures,
            settings=wanted.settings,
            estimator=VecUQ(missing="marginal", **method),
            accuracy=given["accuracy"],
            confidence=given["confidence"],
            random_state=method["random_state"],
        )
    with friendly_errors():
        with watching(rows="measuring") as watch:
            done = workflows.fit_answers(
                reading, out, pipeline, labels, quality=given["quality"], force=given["force"], watch=watch
            )
        if given["as_json"]:
            print_json(_as_dict(done, out))
        else:
            _print(done, out, given)


def _labels(context: typer.Context, given: dict[str, Any]) -> LabelColumns:
    labels = workflows.LabelColumns(given["correct"], given["wrong"], None, given["group"], given["by"])
    unlabelled = not (given["correct"] or given["wrong"] or given["quality"])
    promised = typed_options(context) & {"accuracy", "confidence"}
    if unlabelled and promised:
        raise SettingError(f"--{min(promised)} needs labels: name their field with --wrong or --correct.")
    return labels


def _as_dict(done: FittedAnswers, out: Path) -> dict[str, Any]:
    measured = {**vars(done.measured), "partly": {name: gap._asdict() for name, gap in done.measured.partly.items()}}
    about = {"out": str(out), "format": done.read_as, "n_labels": done.n_labels}
    return {**about, **done.pipeline.describe(), "reading": measured}


def _print(done: FittedAnswers, out: Path, given: dict[str, Any]) -> None:
    fitted, counts = done.pipeline, done.pipeline.split_
    print_notes(done.measured, given["renormalise"])
    held = fitted.ranker_.diagnostics.n_held
    part = f"{counts['map']:,} for the map ({held:,} of them held back for p-values)"
    if counts["weights"]:
        part += f", {counts['weights']:,} for weights"
    part += f", {counts['gate']:,} for the gate" if fitted.gate_ else ", none for a gate, which needs labels"
    left = counts["incomplete"]
    print_lines(
        {
            "answers": f"{done.measured.n_rows:,}, read as {done.read_as}",
            "measures": ", ".join(fitted.measures_),
            "texts compared": workflows.compared_in_words(done.measured) if done.measured.compared else None,
            "labels": f"{done.n_labels:,}" if done.n_labels else "none, so nothing is accepted or deferred",
            "split": part,
            **{name: fitted.describe()[name] for name in ("samples per answer", "answers with a question")},
            "left out": f"{counted(left, 'answer')} of the map without a measure" if left else None,
        }
    )
    print_gaps(done.measured, only=fitted.measures_)
    if fitted.gate_ is not None:
        echo(str(fitted.certificate()))
        print_targets(fitted.gate_)
    echo(f"pipeline -> {out}")
    if fitted.gate_ is None:
        echo(_how_to_label(done))
    echo(f"next: vecuq score {out} NEW")


def _how_to_label(done: FittedAnswers) -> str:
    """Say how a pipeline without a gate gets one."""
    if QUALITY in done.measured.columns:
        return "to decide as well: the file has verdicts on its answers; fit again with --correct quality"
    return (
        "to decide as well: add a field to lines, 1 for a wrong answer and 0 for a right one, and fit again with "
        "--wrong FIELD; or --quality exact_match, if the lines have reference answers"
    )
