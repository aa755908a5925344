"""Many rows as JSON, scored in pieces in a thread, so that memory is bounded by the body and not by what it claims."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from vecuq.service.answers_out import rows_out
from vecuq.service.decoding import bad_body, decoded
from vecuq.service.jobs import Job, no_rows, refuse_many
from vecuq.service.options import merged
from vecuq.service.refusal import Refusal
from vecuq.service.row_scoring import RowScorer
from vecuq.service.wire import AnyBody, decode_any, encode, given_in

# Cells that are decoded at once.
_CELLS = 2**20


def score_json(job: Job, query: dict[str, Any]) -> None:
    """Score the rows of a JSON body, and write the answer as JSON."""
    body = read_any(job)
    job.options = merged(query, given_in(body))
    scorer = job.snapshot.served.scorer(job.options)
    pieces = partial(_pieces, body.rows, scorer)
    _refuse_absent(scorer, pieces)
    before, after = job.snapshot.envelope
    with job.answer.open("wb") as file:
        file.write(before + b"[")
        for k, rows in enumerate(pieces()):
            job.pass_rows(len(rows))
            file.write(b"," * (k > 0) + _scored(job, scorer, rows)[1:-1])
        file.write(b"]" + after)


def read_any(job: Job) -> AnyBody:
    """Return a body with its rows as they came; refuse one that claims more rows than it may."""
    with job.body.open("rb") as file:
        if not file.seek(0, 2):
            raise bad_body("it is empty")
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    # Every row has a brace, so there are not more rows than braces, and Python objects are made of so many at most.
    limit = job.service.settings.limits.rows
    if _braces(content, 4 * limit) > 4 * limit:
        refuse_many(limit + 1, limit)
    body: AnyBody = decoded(decode_any, content)
    refuse_many(len(body.rows), limit)
    if not body.rows:
        raise no_rows()
    return body


def _braces(content: mmap.mmap, most: int) -> int:
    found, step = 0, 2**24
    for start in range(0, len(content), step):
        found += content[start : start + step].count(b"{")
        if found > most:
            break
    return found


def _pieces(rows: Sequence[msgspec.Raw], scorer: RowScorer) -> Iterator[list[Any]]:
    """Yield the rows decoded, some at a time; all at once where a gate decides them together."""
    step = max(1, _CELLS // len(scorer.ranker.columns))
    if scorer.deciding.by_batch:
        if len(rows) > 64 * step:
            raise Refusal(413, "too_many_rows", f"This gate decides rows together, at most {64 * step:,} at once.")
        step = max(len(rows), 1)
    decode = scorer.coder.decode_row
    for first in range(0, len(rows), step):
        yield [decoded(decode, row, row=first + k) for k, row in enumerate(rows[first : first + step])]


def _refuse_absent(scorer: RowScorer, pieces: Any) -> None:
    """Refuse a column that no row has; the pieces are looked at until every column was seen."""
    unseen = set(range(len(scorer.ranker.columns)))
    for rows in pieces():
        unseen &= scorer.absent_from(rows)
        if not unseen:
            return
    scorer.refuse_absent(unseen)


def _scored(job: Job, scorer: RowScorer, rows: Sequence[Any]) -> bytes:
    """Return some rows of the answer."""
    values, by, ids = scorer.values_of(rows), scorer.categories_of(rows), scorer.ids_of(rows)
    scored, audit = job.keep(scorer.decided(values, by), ids, lambda: (values, by, None))
    return encode(rows_out(scored, ids, job.snapshot.columns, audit))
