"""Selective generation: CoCoA scores and MSP of a language model's answers, and their Monge-Kantorovich rank."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vecuq._draw import Sheet, Spread
from vecuq.paper import generations
from vecuq.paper.drawings import dots
from vecuq.paper.generations import text_scores
from vecuq.paper.images import best_or_second, worse_than_worst
from vecuq.paper.larger import LargerTable, absent_files, larger_tables
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
_NOT_HERE = (
    "Cannot be had here: answers of the paper's models to TriviaQA, CoQA, XSum, WMT14 and WMT19 (neither the models "
    "nor these data sets are within reach without a model hub), and their quality by AlignScore and COMET (networks "
    "that a hub would have to give as well). Whoever has them puts scores and quality into an npz file: "
    "docs/evaluate.md says how."
)


def reproduce_text(data_dir: Path | None = None) -> Study:
    """Compute PRR of every measure and of the rank of four, on answers of two models to three tasks.

    More tables, on scores of larger models, are there if ``data_dir`` holds their files (not ours to bundle).
    """
    larger = () if data_dir is None else larger_tables(data_dir)  # first: a file that cannot be read costs no time
    subjects = text_scores()
    ratios = over_splits({column: (judged,) for column, judged in subjects.items()}, generations.COMPONENTS)
    found = {table: over_splits(table.sets.subjects, table.sets.components) for table in larger}
    title = f"PRR at 50 % of two models on three tasks, mean and deviation over {N_SPLITS} splits"
    return Study(
        name="text",
        title="Text: CoCoA scores and MSP of a language model's answers, and their Monge-Kantorovich rank",
        sheets=(
            ratios.sheet("text", title),
            *(more.sheet(table.name, table.title) for table, more in found.items()),
        ),
        figures=ratios.means()
        | {
            f"{table.name}: {column}": figures
            for table, more in found.items()
            for column, figures in more.means().items()
        },
        differs=f"{_differs(subjects)} {_larger_models(larger, data_dir)} {_NOT_HERE}",
        printed=tuple(_printed(name, title) for name, title in _PRINTED.items()),
        pictures=(
            _picture("prr", "PRR of the rank and of its components", ratios, generations.COMPONENTS),
            *(
                _picture(table.name.removeprefix("text_"), table.title, more, table.sets.components)
                for table, more in found.items()
            ),
        ),
        claims=(
            *_claims(ratios, generations.COMPONENTS, "answers"),
            *(_larger_claim(table, more) for table, more in found.items()),
        ),
    )


def _printed(name: str, title: str) -> Sheet:
    sheet = printed_table(name, title)
    columns = [head for head in sheet.heads if head != "Method"]
    return Sheet(sheet.name, title, sheet.rows, down=dict.fromkeys(columns, True))


def _picture(name: str, what: str, ratios: Ratios, components: Sequence[str]) -> Picture:
    what = what.partition(", mean and deviation")[0]
    caption = f"{what}; bars are one deviation over {N_SPLITS} splits."
    return Picture(name, caption, partial(_draw, ratios, components))


def _differs(subjects: Mapping[str, JudgedScores]) -> str:
    kept, left = sum(map(len, subjects.values())), sum(judged.n_left_out for judged in subjects.values())
    anchors, fitted = 2 ** len(generations.COMPONENTS) - 1, FITTED_SHARE * kept / len(subjects)
    return (
        "Models and data: SmolLM2-135M and Gemma-3-270M on 220 questions of Natural Questions, 220 sentences of "
        "Multi30k (German to English) and 220 word problems of SVAMP, six samples each, instead of models of 7-8 "
        "billion parameters. A quarter of the rows fits the map and the rest evaluates, "
        f"{N_SPLITS} times; beside {fitted:.0f} rows the {anchors} anchors carry {anchors / (anchors + fitted):.0%} of "
        "the mass. Quality: token F1, ROUGE-L, and closeness of the number (1 less its relative error, at least 0). "
        "Texts are compared by ROUGE-L, also where the paper uses an NLI model (DegMat, EigValLaplacian, Semantic "
        "Entropy). "
        f"Of {kept + left:,} answers, {left:,} lack a measure, most often since a sample is empty, and are left out."
    )


def _larger_models(tables: Sequence[LargerTable], folder: Path | None) -> str:
    """Return what is shown of larger models, and which files would show more."""
    absent = ", ".join(absent_files(folder))
    lacking = f" Not computed, since these files were not given: {absent}." if absent else ""
    if not tables:
        return f"No table of larger models.{lacking}"
    left = sum(run.n_left_out for table in tables for runs in table.sets.subjects.values() for run in runs)
    incomplete = f" {left:,} of their answers lack a value and are left out." if left else ""
    return (
        "The tables of larger models have other scores than the paper's, and the quality that their files hold (1 for "
        "a right answer and 0 for a wrong one in the known files); the rank combines all columns that vary."
        f"{incomplete}{lacking}"
    )


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


def _larger_claim(table: LargerTable, ratios: Ratios) -> str:
    """Return the paper's three claims in one line, for one table of larger models."""
    means, components = ratios.means(), table.sets.components
    average = {name: ratios.average(name).mean for name in ratios.methods}
    best = max(components, key=average.__getitem__)
    worse = " and ".join(str(worse_than_worst(means, name, components)) for name in OURS)
    good = " and ".join(str(best_or_second(means, name, components)) for name in OURS)
    return (
        f"{table.title.partition(',')[0]}: the rank (Beta and Exp) is below the worst score on {worse} of {len(means)} "
        f"columns, best or second best on {good}; on average it has {average[BETA]:.3f} and "
        f"{average[EXPONENTIAL]:.3f}, the best score ({best}, known only afterwards) {average[best]:.3f}."
        f"{_without_signal(ratios, components)}"
    )


def _without_signal(ratios: Ratios, components: Sequence[str]) -> str:
    """Return which columns are noise: no score has a PRR that is two deviations above 0."""
    spreads = {column: [Spread.of(list(lines[name])) for name in components] for column, lines in ratios.values.items()}
    noise = [column for column, found in spreads.items() if all(one.mean <= 2.0 * one.std for one in found)]
    return f" No score is two deviations above 0 on {', '.join(noise)}: chance decides there." if noise else ""


def _draw(ratios: Ratios, components: Sequence[str]) -> Figure:
    shown = (BETA, EXPONENTIAL, *components)
    lines = {column: {name: Spread.of(list(found[name])) for name in shown} for column, found in ratios.values.items()}
    lines[MEAN] = {name: ratios.average(name) for name in shown}
    return dots(lines, "PRR at 50 %")
