"""From files of a language model's answers to a table of scores, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vecuq.errors import TableError
from vecuq.table import PathLike, write_batches
from vecuq.workflows.answer_rows import AnswerFiles, AnswerRows, answer_rows
from vecuq.workflows.measuring_answers import WantedOfAnswers
from vecuq.workflows.places import refuse_place
from vecuq.workflows.tally_of_answers import MeasuredAnswers
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa


def measure_answers(
    answers: Sequence[PathLike],
    out: PathLike,
    wanted: WantedOfAnswers | None = None,
    *,
    samples: Sequence[PathLike] = (),
    kind: str = "auto",
    map: Mapping[str, str] | None = None,
    strict: bool = False,
    renormalise: bool = False,
    complete: bool = False,
    keep: Sequence[str] = (),
    n_jobs: int | None = None,
    formulas: bool = True,
    force: bool = False,
    watch: Watch = NOBODY,
) -> MeasuredAnswers:
    """Measure the answers in some files and write the scores as a table: ``id``, the measures, perhaps ``quality``.

    ``samples``, ``kind``, ``map``, ``strict`` and ``renormalise`` are those of :func:`vecuq.answers.read_answers`.
    Without ``wanted.quality``, ``quality`` is the verdict that the file has. A column that no answer allows is not
    written. Single values may be missing; ``complete`` leaves such rows out. ``keep`` names fields of the lines, such
    as a label, that become columns after ``id``. ``n_jobs`` processes share the work (None: 1, -1: all cores); the
    rows keep their order. ``force`` replaces also a file that the job reads, or one that holds no table; for
    ``formulas`` see :func:`measure`.
    """
    wanted = WantedOfAnswers() if wanted is None else wanted
    files = AnswerFiles(answers, samples, kind, map, strict, renormalise, n_jobs)
    refuse_place(out, reads=[*answers, *samples], force=force)
    with answer_rows(files, wanted, keep, watch=watch) as rows:
        needed = [measure.name for measure in wanted.found if complete and measure.name in rows.measured.columns]
        left_out = _write_kept(rows, out, needed, formulas=formulas)
    return replace(rows.measured, n_rows=rows.measured.n_rows - left_out, n_left_out=left_out)


def _write_kept(rows: AnswerRows, out: PathLike, needed: Sequence[str], *, formulas: bool) -> int:
    """Write the columns that have values, and the rows that have all needed ones; return how many were left out."""
    n_before, n_after = 0, 0
    columns = list(dict.fromkeys(["id", *rows.fields, *rows.measured.columns]))

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal n_before, n_after
        for batch in rows.batches():
            whole = _complete(batch.select(columns), needed)
            n_before, n_after = n_before + len(batch), n_after + len(whole)
            yield whole.replace_schema_metadata(rows.metadata)
        if not n_after:
            raise TableError(
                f"None of the {n_before:,} answers has all measures; request fewer `measures`, or leave out `complete`."
            )

    write_batches(out, batches(), formulas=formulas)
    return n_before - n_after


def _complete(batch: pa.RecordBatch, needed: Sequence[str]) -> pa.RecordBatch:
    """Return the rows that have a number in every needed column."""
    import pyarrow as pa

    whole = np.ones(len(batch), dtype=bool)
    for name in needed:
        whole &= np.isfinite(batch[name].to_numpy(zero_copy_only=False))
    return batch if whole.all() else batch.filter(pa.array(whole))
