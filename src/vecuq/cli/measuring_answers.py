"""What `vecuq measure` does with answers of a language model, and says of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from vecuq import workflows
from vecuq._check import one_line, one_of, whole_number
from vecuq.cli.talk import friendly_errors, note, print_json, print_lines, usage_errors, watching
from vecuq.table import QUALITY
from vecuq.transport import MAX_COLUMNS
from vecuq.workflows import MeasuredAnswers, WantedOfAnswers

_JOINS_SAMPLES = (
    "degree_matrix",
    "eigenvalue_laplacian",
    "eccentricity",
    "semantic_entropy",
    "semantic_entropy_empirical",
)
_PROBLEMS_TOLD = 3


@dataclass(frozen=True)
class Asked:
    """What to compute of every answer, in the words of the command line."""

    measures: Sequence[str] | None
    similarity: str
    quality: str | None

    def checked(self) -> WantedOfAnswers:
        """Return the same as a workflow wants it; what cannot be is refused."""
        from vecuq.measures import text

        one_of("similarity", self.similarity, tuple(text.COMPARISONS))
        wanted = WantedOfAnswers(self.measures, text.TextSettings(similarity=self.similarity), self.quality)
        wanted.check()
        return wanted


@dataclass(frozen=True)
class Reading:
    """How files of answers are read and worked on."""

    samples: Sequence[Path]
    strict: bool
    renormalise: bool
    complete: bool
    jobs: int


def n_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measure_texts(answers: Sequence[Path], scores: Path, asked: Asked, reading: Reading, *, as_json: bool) -> None:
    """Measure files of answers and say what came of it."""
    with usage_errors():
        whole_number("jobs", reading.jobs, 1)
        wanted = asked.checked()
    with friendly_errors():
        with watching(rows="measuring") as watch:
            done = workflows.measure_answers(answers, scores, wanted, **vars(reading), watch=watch)
        _tell_notes(done, asked.similarity, reading.renormalise)
        if as_json:
            partly = {name: gap._asdict() for name, gap in done.partly.items()}
            print_json({"out": str(scores), **vars(done), "partly": partly})
            return
        left = f", {done.n_left_out:,} left out for missing measures" if done.n_left_out else ""
        typer.echo(f"{done.n_rows:,} answers measured{left} -> {scores}")
        typer.echo(f"columns: {', '.join(done.columns)}")
        _tell_gaps(done)


def _tell_gaps(done: MeasuredAnswers) -> None:
    lines: dict[str, str | None] = {f"absent: {name}": why for name, why in done.absent.items()}
    for name, gap in done.partly.items():
        lines[f"partly: {name}"] = f"missing in {gap.n_missing:,}, most often: {gap.reason}"
    if lines:
        print_lines(lines)


def _tell_notes(done: MeasuredAnswers, similarity: str, renormalise: bool) -> None:
    if done.n_skipped:
        many = "1 line was" if done.n_skipped == 1 else f"{done.n_skipped:,} lines were"
        note(f"{many} left out and could not be read:")
        for problem in done.problems[:_PROBLEMS_TOLD]:
            note(one_line(problem))
    for told in done.notes:
        note(told)
    _tell_entropies(done, renormalise)
    joined = [name for name in _JOINS_SAMPLES if name in done.columns]
    if joined:
        note(f"Without an NLI model, {', '.join(joined)} take samples for alike by {similarity}.")
    n_measures = len([name for name in done.columns if name != QUALITY])
    if n_measures > MAX_COLUMNS:
        note(
            f"{n_measures} columns of scores; `vecuq fit` takes up to {MAX_COLUMNS}. Name some there by --columns, or "
            f"here by --measures, say --measures cocoa."
        )


def _tell_entropies(done: MeasuredAnswers, renormalise: bool) -> None:
    if not done.entropy_top_k:
        return
    how = {
        True: "made to sum to 1",
        False: "as they are, not made to sum to 1",
        None: "some made to sum to 1, some not",
    }
    many = ", ".join(map(str, done.entropy_top_k))
    note(f"Entropies run over the likeliest {many} tokens, a part of all; {how[done.entropy_renormalised]}.")
    if renormalise and not done.entropy_renormalised:
        note("--renormalise changes nothing where a file holds entropies already, and not the tokens that make them.")
