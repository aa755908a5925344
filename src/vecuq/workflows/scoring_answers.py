"""From a pipeline of answers and files of new ones to a table of decisions, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._files import saved_kind
from vecuq._load import load
from vecuq.errors import SettingError
from vecuq.table import PathLike
from vecuq.workflows.answer_rows import MAKING, AnswerFiles, AnswerRows, answer_rows, making_in
from vecuq.workflows.judging import Judge
from vecuq.workflows.measuring_answers import WantedOfAnswers
from vecuq.workflows.places import refuse_place
from vecuq.workflows.scored_batches import PLAIN, Wanted
from vecuq.workflows.scoring import Scored, write_scored
from vecuq.workflows.tally_of_answers import MeasuredAnswers
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from vecuq.gate import Gate
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
    wanted: Wanted = PLAIN,
    *,
    keep: Sequence[str] = (),
    by: str | None = None,
    stdout_format: str = "jsonl",
    force: bool = False,
    watch: Watch = NOBODY,
) -> tuple[Scored, MeasuredAnswers]:
    """Measure and decide answers in files: ``id``, fields to ``keep``, measures, ``uncertainty`` and what a gate adds.

    The numbers are those of :meth:`vecuq.AnswerPipeline.judge`, to the bit. An answer that lacks a measure is scored
    as the pipeline does it, unless ``wanted`` refuses such answers. ``by`` is the field with the category of an answer.
    Fields that held the labels when the pipeline was fitted are kept too, if these files have them.
    """
    refuse_place(out, reads=[*files.paths, *files.samples], force=force)
    with answers_to_score(pipeline, files, wanted, keep=keep, by=by, watch=watch) as made:
        how: dict[str, Any] = {"stdout_format": stdout_format, "judge": made.judge, "watch": watch}
        done = write_scored(pipeline.ranker_, made.rows, out, made.wanted, **how)
        pipeline.coverage().warn(made.rows.making())
    return done, made.rows.measured


@dataclass(frozen=True)
class AnswersToScore:
    """Measured answers as rows of a table, and how they are scored."""

    rows: AnswerRows
    wanted: Wanted
    judge: Judge | None


@contextmanager
def answers_to_score(
    pipeline: AnswerPipeline,
    files: AnswerFiles,
    wanted: Wanted = PLAIN,
    *,
    keep: Sequence[str] = (),
    by: str | None = None,
    watch: Watch = NOBODY,
) -> Iterator[AnswersToScore]:
    """Measure answers in files, and say how their rows are scored; see :func:`score_answers`."""
    judge = None if pipeline.gate_ is None else _judge_of(pipeline, pipeline.gate_, by)
    if judge is None and by is not None:
        raise SettingError("by= is for a gate with categories; this pipeline was fitted without labels.")
    if wanted.missing == "nan":
        wanted = replace(wanted, missing=pipeline.estimator_.missing)
    wanted.refuse(pipeline.ranker_)
    if judge is not None:
        judge.refuse([] if by is None else [by])
    measures = WantedOfAnswers(pipeline.measures_, pipeline.settings_)
    about: dict[str, Any] = {"texts": [by], "perhaps": pipeline.fields_, "watch": replace(watch, rows=None)}
    with answer_rows(files, measures, keep, **about) as measured:
        yield AnswersToScore(replace(measured, with_making=judge is not None), wanted, judge)


def _judge_of(pipeline: AnswerPipeline, gate: Gate, by: str | None) -> Judge:
    """Return the gate of a pipeline, which accepts no answer with another number of samples than the labelled ones."""
    coverage = pipeline.coverage()

    def covers(batch: pa.RecordBatch) -> NDArray[np.bool_]:
        return coverage.covers(making_in(batch))

    return Judge(gate, by, covers=covers, hidden=MAKING)
