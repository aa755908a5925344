"""From files of answers, with labels or without, to a saved pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vecuq.errors import SettingError, TableError
from vecuq.measures import text
from vecuq.pipeline import AnswerPipeline
from vecuq.table import QUALITY, PathLike, ScoreTable
from vecuq.workflows.answer_rows import AnswerFiles, answer_rows
from vecuq.workflows.labelled_rows import LabelColumns, LabelledRows, correct_in, label_column, values_in
from vecuq.workflows.measuring_answers import WantedOfAnswers
from vecuq.workflows.places import refuse_place
from vecuq.workflows.tally_of_answers import MeasuredAnswers
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class FittedAnswers:
    """A pipeline on disk, and how the files of answers were read and measured."""

    pipeline: AnswerPipeline
    measured: MeasuredAnswers
    n_labels: int
    read_as: str


def fit_answers(
    files: AnswerFiles,
    out: PathLike,
    pipeline: AnswerPipeline,
    labels: LabelColumns | None = None,
    *,
    quality: str | None = None,
    force: bool = False,
    watch: Watch = NOBODY,
) -> FittedAnswers:
    """Measure answers, fit a pipeline to them and save it; memory holds their measures, not the answers.

    Parameters
    ----------
    files
        The answers, a random sample of those to be decided.
    out
        Where the pipeline goes.
    pipeline
        What to fit, unfitted.
    labels
        Which fields of the lines hold labels, groups and categories; ``quality`` is the verdict that a file holds, or
        what ``quality`` computes. None: no labels, so no gate.
    quality
        How answers are judged against their references, one of ``vecuq.measures.QUALITIES``; without a column of
        labels, an answer is right where it is 1.
    force
        Whether ``out`` may replace a file that the job reads, or one of another kind.
    watch
        Called as answers are read and measured.
    """
    refuse_place(out, writes="answer_pipeline", reads=[*files.paths, *files.samples], force=force)
    labels = _settled(labels or LabelColumns(), quality)
    names = [pipeline.measures] if isinstance(pipeline.measures, str) else pipeline.measures
    wanted = WantedOfAnswers(names, pipeline.settings or text.TextSettings(), quality)
    with answer_rows(files, wanted, _fields(labels), texts=_texts(labels), watch=watch) as rows:
        table, making = rows.whole(), rows.making()
    correct = correct_in(table, labels) if label_column(labels) else None
    columns = [measure.name for measure in wanted.found]
    about = {"groups": values_in(table, labels.group, "group="), "by": values_in(table, labels.by, "by=")}
    pipeline.fit_measured(_scores(table, columns), correct=correct, **about, making=making)
    pipeline.fields_ = (*_fields(labels), *filter(None, _texts(labels)))
    pipeline.save(out)
    n_labels = 0 if correct is None else int(np.isfinite(correct).sum())
    return FittedAnswers(pipeline, rows.measured, n_labels, rows.read_as)


def labelled_answers(
    pipeline: AnswerPipeline, files: AnswerFiles, labels: LabelColumns, *, watch: Watch = NOBODY
) -> LabelledRows:
    """Read answers with labels as the model inside a pipeline takes them; answers without a label are left out."""
    wanted = WantedOfAnswers(pipeline.measures_, pipeline.settings_)
    with answer_rows(files, wanted, _fields(labels), texts=_texts(labels), watch=watch) as rows:
        table, making = rows.whole(), rows.making()
    correct = correct_in(table, labels)
    known = np.isfinite(correct)
    if not known.any():
        raise TableError(f"None of the {len(table):,} answers has a label.")
    table = table.filter(known)
    groups, by = values_in(table, labels.group, "group="), values_in(table, labels.by, "by=")
    return LabelledRows(_scores(table, pipeline.measures_), correct[known], groups, by, making.some(known))


def unlabelled_answers(pipeline: AnswerPipeline, files: AnswerFiles) -> ScoreTable:
    """Read answers as the model inside a pipeline takes them."""
    wanted = WantedOfAnswers(pipeline.measures_, pipeline.settings_)
    with answer_rows(files, wanted) as rows:
        return _scores(rows.whole(), pipeline.measures_)


def _settled(labels: LabelColumns, quality: str | None) -> LabelColumns:
    """Return the columns of labels; a computed quality is one where no other is named."""
    if label_column(labels) is None and quality is not None:
        return LabelColumns(QUALITY, group=labels.group, by=labels.by)
    if label_column(labels) is None and labels.by is not None:
        raise SettingError("by= names categories with a certificate each, which need labels: give wrong= or correct=.")
    return labels


def _fields(labels: LabelColumns) -> list[str]:
    """Return the field of the labels, if one is named."""
    name = label_column(labels)
    return [] if name is None else [name]


def _texts(labels: LabelColumns) -> tuple[str | None, ...]:
    """Return the fields that name groups and categories."""
    return labels.group, labels.by


def _scores(table: pa.Table, columns: Sequence[str]) -> ScoreTable:
    values = np.column_stack([table[name].to_numpy(zero_copy_only=False) for name in columns])
    return ScoreTable(tuple(columns), np.asarray(values, dtype=float))
