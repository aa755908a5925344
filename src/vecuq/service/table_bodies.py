"""Tables as bodies: csv, parquet, Arrow, lines of JSON, outputs of a classifier; scored as `vecuq score` does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vecuq._check import Array
from vecuq._files import BATCH_BYTES
from vecuq._run import ahead
from vecuq.errors import TableError
from vecuq.service.answers_out import rows_out
from vecuq.service.errors_said import BODY
from vecuq.service.formats import CSV, JSON, LINES
from vecuq.service.jobs import Job, no_rows
from vecuq.service.recorder import Decided
from vecuq.service.refusal import Refusal
from vecuq.service.row_scoring import ScoredColumns
from vecuq.service.wire import LONGEST_ID, encode, texts_of
from vecuq.table import CONTRIBUTION, PartFile, TableReader, TableSource, unfolded, write_batches
from vecuq.workflows import BatchScorer, Judge, MeasuredOutputs, Rows, Wanted

if TYPE_CHECKING:
    import pyarrow as pa

# A text may be written in every row that stands once in the body.
_TEXTS, _TIMES_BODY = (CSV, LINES), 4


class Beside(NamedTuple):
    """What a batch of answers has beside its rows: texts as JSON, and ids; None where a line has none of its own."""

    texts: list[str | None]
    ids: list[str | None]


@dataclass(frozen=True)
class TableToScore:
    """Rows of a body, and how they are scored."""

    rows: Rows
    wanted: Wanted
    judge: Judge | None
    beside: Iterator[Beside] | None = None  # of every batch


def score_table(job: Job) -> None:
    """Score the rows of a table, and write them with columns added, or as the rows of a JSON answer."""
    with _opened(job) as table:
        _refuse_wide(job, table.rows.schema)
        batches = ahead(_scored(job, table))
        if job.out == JSON:
            _write_json(job, batches)
        else:
            write_batches(job.answer, _bounded(job, (_decided(batch, decided) for batch, _, _, decided in batches)))


@contextmanager
def _opened(job: Job) -> Iterator[TableToScore]:
    """Open the body as what the model takes."""
    served, options = job.snapshot.served, job.options
    if served.answers is not None:
        from vecuq.service.answer_bodies import opened_answers

        with opened_answers(job, served.answers) as table:
            yield table
        return
    scorer = served.scorer(options)
    if served.classifier is not None:
        rows: Rows = MeasuredOutputs(served.classifier, job.body)
    else:
        # From csv to csv, the other columns stay the very text that they are.
        source = TableSource(BODY, (PartFile(job.body, job.came.ending, BODY),))
        rows = TableReader(source, columns=served.ranker.columns, typed=job.out != CSV)
    # What a gate has seen belongs to one table.
    yield TableToScore(rows, scorer.wanted, None if served.gate is None else Judge(served.gate, options.by))


def _refuse_wide(job: Job, schema: pa.Schema) -> None:
    most = job.service.settings.limits.columns
    if len(schema) > most:
        raise Refusal(422, "bad_columns", f"The body has {len(schema):,} columns; at most {most:,} are read.")


Scored = tuple[Any, ScoredColumns, list[str | None], Decided | None]


def _scored(job: Job, table: TableToScore) -> Iterator[Scored]:
    """Yield every batch with its scores, its ids, and what the recorder decided; reading overlaps."""
    ranker, judge = job.snapshot.served.ranker, table.judge
    id_name = None if job.options.id in ranker.columns else job.options.id
    scoring = replace(BatchScorer.of(ranker, table.wanted, table.rows.schema.names, judge), n_jobs=1)
    if judge is not None and judge.needs_all_rows:
        scoring = scoring.with_limits(_passed(job, ahead(table.rows.batches())))
        job.n_rows = 0
    for batch in _passed(job, ahead(table.rows.batches())):
        ranked = scoring.ranked(batch)
        scored = _columns_of(ranked, ranker.columns)
        beside = None if table.beside is None else next(table.beside)
        ids = _ids_of(batch, id_name) if beside is None else _short(beside.ids)
        job.count(scored)
        decided = None
        if job.is_recorded:
            by = None if judge is None or judge.by is None else batch[judge.by].to_pylist()
            decided = job.keep(
                _as_they_came(job, batch), scored, ids, by=by, texts=None if beside is None else beside.texts
            )
        yield ranked, scored, ids, decided
    if not job.n_rows:
        raise no_rows()


def _passed(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        job.pass_rows(len(batch))
        yield batch


def _as_they_came(job: Job, batch: pa.RecordBatch) -> Array:
    matching = replace(job.snapshot.served.ranker.matching, named=True, flipped=frozenset())
    return matching.values_of(batch, fill=True)


def _ids_of(batch: pa.RecordBatch, name: str | None) -> list[str | None]:
    """Return the ids of a batch as texts; None for all where there is no column of texts or whole numbers."""
    import pyarrow.types as pt

    if name is None or name not in batch.schema.names:
        return [None] * len(batch)
    kind = batch.schema.field(name).type
    named = pt.is_integer(kind) or pt.is_string(kind) or pt.is_large_string(kind)
    ids: list[str | None] = texts_of(batch[name].to_pylist()) if named else [None] * len(batch)
    return _short(ids)


def _short(ids: list[str | None]) -> list[str | None]:
    """Return ids; refuse those that are too long."""
    if any(one is not None and len(one) > LONGEST_ID for one in ids):
        raise TableError(f"Ids have at most {LONGEST_ID} characters; some are longer.")
    return ids


def _columns_of(ranked: pa.RecordBatch, columns: Iterable[str]) -> ScoredColumns:
    """Return what was added to a batch as arrays."""
    names = set(ranked.schema.names)

    def column(name: str) -> Any:
        return ranked[name].to_numpy(zero_copy_only=False) if name in names else None

    contributions = [column(CONTRIBUTION + name) for name in columns] if "why" in names else None
    return ScoredColumns(
        column("uncertainty"),
        column("p_value"),
        column("flagged"),
        column("accept"),
        column("p_wrong"),
        ranked["why"].to_pylist() if contributions is not None else None,
        None if contributions is None else np.stack(contributions, axis=1),
    )


def _decided(batch: pa.RecordBatch, decided: Decided | None) -> pa.RecordBatch:
    """Return a batch with what the recorder decided: rows that came before keep their decision."""
    import pyarrow as pa

    if decided is None:
        return batch
    if decided.accept is not None:
        batch = batch.set_column(batch.schema.names.index("accept"), "accept", pa.array(decided.accept))
    return batch if decided.audit is None else batch.append_column("audit", pa.array(decided.audit))


def _bounded(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches as they are written; refuse an answer that is many times larger than any body."""
    most, n_bytes = _TIMES_BODY * job.service.settings.limits.body, 0
    for batch in batches:
        for piece in unfolded(batch, BATCH_BYTES) if job.out in _TEXTS else (batch,):
            job.deadline.check()
            n_bytes += piece.nbytes
            if n_bytes > most:
                raise Refusal(413, "too_large", f"The answer has more than {most:,} bytes. Send fewer rows at a time.")
            yield piece


def _write_json(job: Job, batches: Iterable[Scored]) -> None:
    """Write what was added, and the ids, as the rows of a JSON answer."""
    before, after = job.snapshot.envelope
    with job.answer.open("wb") as file:
        file.write(before + b"[")
        for k, (_, scored, ids, decided) in enumerate(batches):
            file.write(b"," * (k > 0) + encode(rows_out(scored, ids, job.snapshot.columns, decided))[1:-1])
        file.write(b"]" + after)
