"""Selective generation: CoCoA scores and MSP of a language model's answers, and their Monge-Kantorovich rank."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vecuq._draw import Sheet, Spread
from vecuq.paper import choices, generations
from vecuq.paper.drawings import dots
from vecuq.paper.generations import text_scores
from vecuq.paper.images import best_or_second, worse_than_worst
from vecuq.paper.splits import FITTED_SHARE, MEAN, N_SPLITS, OURS, JudgedScores, Ratios, over_splits
from vecuq.paper.study import Picture, Study, printed_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

BETA, EXPONENTIAL = OURS
_PRINTED = {
    "text": "PRR at 50 % of three models on three data sets",
    "text_llama": "PRR at 50 % of LLaMA-8B",
    "text_mistral": "PRR at 50 % of Mistral-7B",
    "text_falcon": "PRR at 50 % of Falcon-7B",
}


def reproduce_text(data_dir: Path | None = None) -> Study:
    """Compute PRR of every measure and of the rank of four, on answers of two models to three tasks.

    The second table, on multiple-choice questions, is there if ``data_dir`` holds the models' confidences (not ours to
    bundle).
    """
    subjects = text_scores()
    ratios = over_splits(subjects, generations.COMPONENTS)
    chosen = None if data_dir is None else choices.choice_scores(data_dir)
    chosen_ratios = None if chosen is None else over_splits(chosen, choices.COMPONENTS)
    sheets = [
        ratios.sheet("text", f"PRR at 50 % of two models on three tasks, mean and deviation over {N_SPLITS} splits")
    ]
    figures = ratios.means()
    if chosen_ratios is not None:
        title = f"PRR at 50 % of three models on multiple-choice questions, mean and deviation over {N_SPLITS} splits"
        sheets.append(chosen_ratios.sheet("text_choices", title))
        figures |= chosen_ratios.means()
    return Study(
        name="text",
        title="Text: CoCoA scores and MSP of a language model's answers, and their Monge-Kantorovich rank",
        sheets=tuple(sheets),
        figures=figures,
        differs=_differs(subjects, with_choices=chosen is not None),
        printed=tuple(_printed(name, title) for name, title in _PRINTED.items()),
        pictures=(
            Picture(
                "prr",
                f"PRR of the rank and of its components; bars are one deviation over {N_SPLITS} splits.",
                partial(_draw, ratios),
            ),
        ),
        claims=(*_claims(ratios, generations.COMPONENTS, "answers"), *_choice_claims(chosen_ratios)),
    )


def _printed(name: str, title: str) -> Sheet:
    sheet = printed_table(name, title)
    columns = [head for head in sheet.heads if head != "Method"]
    return Sheet(sheet.name, title, sheet.rows, down=dict.fromkeys(columns, True))


def _differs(subjects: Mapping[str, JudgedScores], *, with_choices: bool) -> str:
    kept, left = sum(map(len, subjects.values())), sum(judged.n_left_out for judged in subjects.values())
    anchors, fitted = 2 ** len(generations.COMPONENTS) - 1, FITTED_SHARE * kept / len(subjects)
    what = (
        "Models and data: SmolLM2-135M and Gemma-3-270M on 220 questions of Natural Questions, 220 sentences of "
        "Multi30k (German to English) and 220 word problems of SVAMP, six samples each, instead of models of 7-8 "
        "billion parameters. A quarter of the rows fits the map and the rest evaluates, "
        f"{N_SPLITS} times; beside {fitted:.0f} rows the {anchors} anchors carry {anchors / (anchors + fitted):.0%} of "
        "the mass. Quality: token F1, ROUGE-L, and closeness of the number (1 less its relative error, at least 0). "
        "Texts are compared by ROUGE-L, also where the paper uses an NLI model (DegMat, EigValLaplacian, Semantic "
        "Entropy). "
        f"Of {kept + left:,} answers, {left:,} lack a measure, most often since a sample is empty, and are left out."
    )
    if with_choices:
        return what + " The multiple-choice table is not in the paper: four confidences under two prompts."
    return f"{what} No table of multiple-choice questions: no data_dir with {choices.CHOICES_FILE} was given."


def _claims(ratios: Ratios, components: Sequence[str], where: str) -> tuple[str, ...]:
    means, columns = ratios.means(), len(ratios.values)
    average = {name: ratios.average(name).mean for name in ratios.methods}
    order = sorted(average, key=average.__getitem__, reverse=True)
    worse = " and ".join(f"{worse_than_worst(means, name, components)} ({name})" for name in OURS)
    others = [name for name in ratios.methods if name not in OURS]
    good = " and ".join(f"{best_or_second(means, name, others)} ({name})" for name in OURS)
    return (
        f"Never worse than the worst component ({where}): worse on {worse} of {columns} columns.",
        f"Best or second best beside all {len(others)} single scores ({where}): on {good} of {columns} columns.",
        f"Best on average ({where}): {BETA} is number {order.index(BETA) + 1} and {EXPONENTIAL} number "
        f"{order.index(EXPONENTIAL) + 1} of {len(order)} ({average[BETA]:.3f}, {average[EXPONENTIAL]:.3f}; the first "
        f"is {order[0]} with {average[order[0]]:.3f}).",
    )


def _choice_claims(ratios: Ratios | None) -> tuple[str, ...]:
    return () if ratios is None else _claims(ratios, choices.COMPONENTS, "multiple choice")


def _draw(ratios: Ratios) -> Figure:
    shown = (BETA, EXPONENTIAL, *generations.COMPONENTS)
    lines = {column: {name: Spread.of(list(found[name])) for name in shown} for column, found in ratios.values.items()}
    lines[MEAN] = {name: ratios.average(name) for name in shown}
    return dots(lines, "PRR at 50 %")
