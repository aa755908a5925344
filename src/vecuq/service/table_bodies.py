"""Tables as bodies: csv, parquet, Arrow, lines of JSON, outputs of a classifier; scored as `vecuq score` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from vecuq._files import BATCH_BYTES
from vecuq._run import ahead
from vecuq.decide import Deciding
from vecuq.errors import TableError
from vecuq.service.answers_out import rows_out
from vecuq.service.errors_said import BODY
from vecuq.service.formats import CSV, JSON, LINES
from vecuq.service.jobs import AsTheyCame, Job, no_rows
from vecuq.service.refusal import Refusal
from vecuq.service.wire import LONGEST_ID, RowOut, encode, texts_of
from vecuq.table import PartFile, TableReader, TableSource, unfolded, write_batches
from vecuq.workflows import Beside, DecidedTable, MeasuredOutputs, Rows

if TYPE_CHECKING:
    import pyarrow as pa

# A text may be written in every row that stands once in the body.
_TEXTS, _TIMES_BODY = (CSV, LINES), 4


class Texts(NamedTuple):
    """What a batch of answers has beside its rows: texts as JSON, and ids; None where a line has none of its own."""

    texts: list[str | None]
    ids: list[str | None]


@dataclass(frozen=True)
class TableToScore:
    """Rows of a body, and how they are decided."""

    rows: Rows
    deciding: Deciding
    beside: Beside = field(default_factory=Beside)
    texts: Iterator[Texts] | None = None  # of every batch


def score_table(job: Job) -> None:
    """Score the rows of a table, and write them with columns added, or as the rows of a JSON answer."""
    with _opened(job) as table:
        _refuse_wide(job, table.rows.schema)
        batches = ahead(_decided(job, table))
        if job.out == JSON:
            _write_json(job, batches)
        else:
            write_batches(job.answer, _bounded(job, (ranked for ranked, _ in batches)))


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
    yield TableToScore(rows, scorer.deciding)


def _refuse_wide(job: Job, schema: pa.Schema) -> None:
    most = job.service.settings.limits.columns
    if len(schema) > most:
        raise Refusal(422, "bad_columns", f"The body has {len(schema):,} columns; at most {most:,} are read.")


# A batch with its columns, and the rows of a JSON answer.
_Done = tuple[Any, Callable[[], list[RowOut]]]


def _decided(job: Job, table: TableToScore) -> Iterator[_Done]:
    """Yield every batch with what was decided; reading overlaps."""
    columns, name = table.deciding.ranker.columns, job.options.id
    scoring = DecidedTable.of(replace(table.deciding, n_jobs=1), table.rows.schema.names, table.beside)
    if table.deciding.needs_all_rows:
        scoring = scoring.settled(_passed(job, ahead(table.rows.batches())))
        job.n_rows = 0
    for batch in _passed(job, ahead(table.rows.batches())):
        beside = None if table.texts is None else next(table.texts)
        ids = _short(_ids_of(batch, None if name in columns else name) if beside is None else beside.ids)
        came = partial(_as_they_came, job, batch, None if beside is None else beside.texts)
        found, audit = job.keep(scoring.decide(batch), ids, came)
        ranked = scoring.with_columns(batch, found, {"audit": audit})
        yield ranked, partial(rows_out, found, ids, columns, audit)
    if not job.n_rows:
        raise no_rows()


def _passed(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        job.pass_rows(len(batch))
        yield batch


def _as_they_came(job: Job, batch: pa.RecordBatch, texts: list[str | None] | None) -> AsTheyCame:
    matching = replace(job.snapshot.served.ranker.matching, named=True, flipped=frozenset())
    by = job.options.by
    return matching.values_of(batch, fill=True), None if by is None else batch[by].to_pylist(), texts


def _ids_of(batch: pa.RecordBatch, name: str | None) -> list[str | None]:
    """Return the ids of a batch as texts; None for all where there is no column of texts or whole numbers."""
    import pyarrow.types as pt

    if name is None or name not in batch.schema.names:
        return [None] * len(batch)
    kind = batch.schema.field(name).type
    named = pt.is_integer(kind) or pt.is_string(kind) or pt.is_large_string(kind)
    return texts_of(batch[name].to_pylist()) if named else [None] * len(batch)


def _short(ids: list[str | None]) -> list[str | None]:
    """Return ids; refuse those that are too long."""
    if any(one is not None and len(one) > LONGEST_ID for one in ids):
        raise TableError(f"Ids have at most {LONGEST_ID} characters; some are longer.")
    return ids


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


def _write_json(job: Job, batches: Iterable[_Done]) -> None:
    """Write what was added, and the ids, as the rows of a JSON answer."""
    before, after = job.snapshot.envelope
    with job.answer.open("wb") as file:
        file.write(before + b"[")
        for k, (_, rows) in enumerate(batches):
            file.write(b"," * (k > 0) + encode(rows())[1:-1])
        file.write(b"]" + after)
