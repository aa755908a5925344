"""From a pipeline of answers and files of new ones to a table of decisions, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._files import saved_kind
from vecuq._load import load
from vecuq.decide import Deciding
from vecuq.errors import SettingError
from vecuq.options import PLAIN, ScoreOptions
from vecuq.table import PathLike
from vecuq.workflows.answer_rows import MAKING, AnswerFiles, AnswerRows, answer_rows, making_in
from vecuq.workflows.decided_tables import ALONE, Beside
from vecuq.workflows.measuring_answers import WantedOfAnswers
from vecuq.workflows.places import refuse_place
from vecuq.workflows.scored_rows import Scored
from vecuq.workflows.scoring import write_scored
from vecuq.workflows.tally_of_answers import MeasuredAnswers
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    from vecuq.pipeline import AnswerPipeline


def holds_judge(model: PathLike) -> bool:
    """Whether a file holds a pipeline of answers; it is not loaded."""
    return Path(model).is_file() and saved_kind(Path(model)) == "answer_pipeline"


def load_answers(model: PathLike, **supplied: Any) -> AnswerPipeline | None:
    """Read a pipeline of answers; None if the file holds something else. ``supplied`` goes to :func:`vecuq.load`."""
    if not holds_judge(model):
        return None
    found: AnswerPipeline = load(model, **supplied)
    return found


def score_answers(
    pipeline: AnswerPipeline,
    files: AnswerFiles,
    out: PathLike,
    asked: ScoreOptions = PLAIN,
    *,
    keep: Sequence[str] = (),
    stdout_format: str = "jsonl",
    force: bool = False,
    watch: Watch = NOBODY,
) -> tuple[Scored, MeasuredAnswers]:
    """Measure and decide answers in files: ``id``, fields to ``keep``, measures, ``uncertainty`` and what a gate adds.

    The numbers are those of :meth:`vecuq.AnswerPipeline.judge`, to the bit. An answer that lacks a measure is scored
    as the pipeline does it, unless ``missing`` refuses such answers. ``by`` is the field with the category of an
    answer. Fields that held the labels when the pipeline was fitted are kept too, if these files have them.
    """
    refuse_place(out, reads=[*files.paths, *files.samples], force=force)
    with answers_to_score(pipeline, files, asked, keep=keep, watch=watch) as made:
        how: dict[str, Any] = {"beside": made.beside, "stdout_format": stdout_format, "watch": watch}
        done = write_scored(made.deciding, made.rows, out, **how)
        pipeline.warn_of(made.rows.making())
    return done, made.rows.measured


@dataclass(frozen=True)
class AnswersToScore:
    """Measured answers as rows of a table, and how they are decided."""

    rows: AnswerRows
    deciding: Deciding
    beside: Beside


@contextmanager
def answers_to_score(
    pipeline: AnswerPipeline,
    files: AnswerFiles,
    asked: ScoreOptions = PLAIN,
    *,
    keep: Sequence[str] = (),
    watch: Watch = NOBODY,
) -> Iterator[AnswersToScore]:
    """Measure answers in files, and say how their rows are decided; see :func:`score_answers`."""
    by, has_gate = asked.by, pipeline.gate_ is not None
    if by is not None and not has_gate:
        raise SettingError("by= is for a gate with categories; this pipeline was fitted without labels.")
    deciding = replace(pipeline.deciding(asked), n_jobs=-1)
    deciding.refuse_by([] if by is None else [by])
    measures = WantedOfAnswers(pipeline.measures_, pipeline.settings_)
    about: dict[str, Any] = {"texts": [by], "perhaps": pipeline.fields_, "watch": replace(watch, rows=None)}
    beside = Beside(making_of=making_in, hidden=MAKING) if has_gate else ALONE
    with answer_rows(files, measures, keep, **about) as measured:
        yield AnswersToScore(replace(measured, with_making=has_gate), deciding, beside)
