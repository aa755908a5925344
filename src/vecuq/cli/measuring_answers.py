"""What `vecuq measure` does with answers of a language model, and prints about them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq import workflows
from vecuq._check import one_line
from vecuq.cli.talk import counted, echo, friendly_errors, note, print_json, watching
from vecuq.table import QUALITY
from vecuq.transport import MAX_GROUPED

if TYPE_CHECKING:
    from vecuq.workflows import MeasuredAnswers, WantedOfAnswers

_PROBLEMS_PRINTED = 3
_NAMES_PRINTED = 6
# What the measures of workflows.UNUSUAL come from.
_FROM = {
    "non_contradiction": "--nli",
    "cosine": "--similarity embedding",
    "p_true": "`vecuq ask --confidence`",
    "verbalised_confidence": "`vecuq ask --confidence`",
    "linguistic_confidence": "`vecuq ask --confidence`",
}


def measure_texts(
    answers: Sequence[Path],
    scores: Path,
    wanted: WantedOfAnswers,
    reading: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Measure files of answers and print what was found; ``reading`` goes to ``workflows.measure_answers``."""
    with friendly_errors():
        with watching(rows="measuring") as watch:
            done = workflows.measure_answers(answers, scores, wanted, **reading, watch=watch)
        print_notes(done, reading["renormalise"])
        _print_many_columns(done)
        if as_json:
            partly = {name: gap._asdict() for name, gap in done.partly.items()}
            print_json({"out": str(scores), **vars(done), "partly": partly})
            return
        left = f", {done.n_left_out:,} left out for missing measures" if done.n_left_out else ""
        echo(f"{counted(done.n_rows, 'answer')} measured{left} -> {scores}")
        echo(f"columns: {', '.join(done.columns)}")
        if done.compared:
            echo(f"texts compared: {workflows.compared_in_words(done)}")
        print_gaps(done)


def print_gaps(done: MeasuredAnswers, *, only: Sequence[str] | None = None) -> None:
    """Print which measures are missing, everywhere or in some answers, and why; ``only`` these, if given."""
    absent = _some(done.absent, only)
    for why, names in workflows.by_reason({name: why for name, why in absent.items() if name not in _FROM}).items():
        echo(f"absent: {_listed(names)}: {why}")
    if only is None and (unusual := {name: _FROM[name] for name in absent if name in _FROM}):
        more = [f"{', '.join(names)} with {option}" for option, names in workflows.by_reason(unusual).items()]
        echo(f"possible: {'; '.join(more)}")
    for gap, names in workflows.by_reason(_some(done.partly, only)).items():
        echo(f"partly: {_listed(names)}: missing in {gap.n_missing:,}, most often: {gap.reason}")


def _listed(names: Sequence[str]) -> str:
    """Return names, of many the first few and how many more; --json has all."""
    kept = names if len(names) <= _NAMES_PRINTED + 1 else names[:_NAMES_PRINTED]
    return ", ".join(kept) + (f" and {len(names) - len(kept)} more" if len(kept) < len(names) else "")


def _some(gaps: dict[str, Any], only: Sequence[str] | None) -> dict[str, Any]:
    return {name: gap for name, gap in gaps.items() if only is None or name in only}


def print_notes(done: MeasuredAnswers, renormalise: bool) -> None:
    """Print what a reader decided: lines left out, lines joined, truncated entropies, thoughts."""
    if done.n_skipped:
        many = "1 line was" if done.n_skipped == 1 else f"{done.n_skipped:,} lines were"
        shown = min(_PROBLEMS_PRINTED, len(done.problems))
        which = "" if shown == done.n_skipped else f". The first {shown}"
        note(f"{many} left out; could not be read{which}:")
        for problem in done.problems[:_PROBLEMS_PRINTED]:
            note(one_line(problem))
    for sentence in done.notes:
        note(sentence)
    _print_entropies(done, renormalise)
    if done.n_unfound:
        note(
            f"--extract found nothing in {counted(done.n_unfound, 'answer')} of {done.n_rows + done.n_left_out:,}; "
            f"such an answer differs from all in which it found something."
        )
    if done.n_thinking:
        note(
            f"{counted(done.n_thinking, 'question')} with <think> or the like in the answers; --strip-think compares "
            f"what comes after it."
        )


def _print_many_columns(done: MeasuredAnswers) -> None:
    n_measures = len([name for name in done.columns if name != QUALITY])
    if n_measures > MAX_GROUPED:
        note(
            f"{n_measures} columns of scores; `vecuq fit` takes up to {MAX_GROUPED}. Choose some with --columns there, "
            f"or here with --measures, such as --measures cocoa, white_box or black_box."
        )


def _print_entropies(done: MeasuredAnswers, renormalise: bool) -> None:
    if not done.entropy_top_k:
        return
    how = {True: "renormalised", False: "not renormalised", None: "some renormalised, some not"}
    many = ", ".join(map(str, done.entropy_top_k))
    note(f"Entropies run over the {many} most likely tokens, not the vocabulary; {how[done.entropy_renormalised]}.")
    if renormalise and not done.entropy_renormalised:
        note("--renormalise has no effect where a file has entropies instead of the probabilities of tokens.")
