"""Micro-batching: requests that arrive in one turn of the event loop are ranked together, without a timer.

A row's numbers depend on that row alone, so a batch gives every request the bits that it would have got by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.decide import Decided
from vecuq.errors import VecuqError
from vecuq.service.answers_out import Flags, rows_out
from vecuq.service.context import Service
from vecuq.service.errors_said import refusal_of
from vecuq.service.keeping_rows import counted, kept
from vecuq.service.refusal import Refusal
from vecuq.service.row_scoring import RowScorer
from vecuq.service.served import Snapshot
from vecuq.service.wire import encode

# Scores that are computed before the event loop looks at other requests again; a row with an explanation takes many.
_MOST_SCORES = 8_192


class Waiting:
    """The rows of one request, and who waits for the answer."""

    __slots__ = ("answer", "rows")

    def __init__(self, rows: Sequence[Any], answer: asyncio.Future[bytes]) -> None:
        self.rows, self.answer = rows, answer


Group = list[Waiting]


class Batcher:
    """Gathers requests of one turn of the loop, by model and options, and answers each group at once."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._groups: dict[RowScorer | int, tuple[Snapshot, RowScorer, Group]] = {}
        self._flush_is_due = False
        self._keeping: set[asyncio.Task[None]] = set()

    def submit(self, snapshot: Snapshot, scorer: RowScorer, rows: Sequence[Any]) -> asyncio.Future[bytes]:
        """Return the body of the answer, which comes with the next turn of the loop."""
        loop = asyncio.get_running_loop()
        waiting = Waiting(rows, loop.create_future())
        # A gate that decides a batch decides the rows of one request.
        key = scorer if not scorer.deciding.by_batch else id(waiting)
        group = self._groups.get(key)
        if group is None:
            self._groups[key] = (snapshot, scorer, [waiting])
        else:
            group[2].append(waiting)
        if not self._flush_is_due:
            self._flush_is_due = True
            loop.call_soon(self._flush)
        return waiting.answer

    def _flush(self) -> None:
        """Answer requests, up to some scores in all; the others come with the turn after."""
        n_scores = 0
        while self._groups and n_scores < _MOST_SCORES:
            key = next(iter(self._groups))
            snapshot, scorer, group = self._groups.pop(key)
            now, later = _split(group, (_MOST_SCORES - n_scores) // scorer.scores_per_row)
            if later:
                self._groups[key] = (snapshot, scorer, later)
            n_scores += self._answer(snapshot, scorer, now) * scorer.scores_per_row
        self._flush_is_due = bool(self._groups)
        if self._flush_is_due:
            asyncio.get_running_loop().call_soon(self._flush)

    def _answer(self, snapshot: Snapshot, scorer: RowScorer, group: Group) -> int:
        """Rank the rows of a group; if that fails, rank each request by itself, so that none fails for another."""
        try:
            return self._answer_together(snapshot, scorer, group)
        except Exception as error:
            if len(group) == 1:
                _fail(group[0], error)
                return len(group[0].rows)
            return sum(self._answer(snapshot, scorer, [one]) for one in group)

    def _answer_together(self, snapshot: Snapshot, scorer: RowScorer, group: Group) -> int:
        rows = group[0].rows if len(group) == 1 else [row for one in group for row in one.rows]
        values = scorer.values_of(rows)
        if np.isnan(values).any():
            for one, part in _parts(group):
                if np.isnan(values[part]).any():
                    scorer.refuse_absent(scorer.absent_from(one.rows))
        by, ids = scorer.categories_of(rows), scorer.ids_of(rows)
        scored = scorer.decided(values, by)
        self._service.counts.batch(len(rows))
        counted(self._service, snapshot, scored)
        if self._service.recorder is None or not scorer.options.record:
            _deliver(snapshot, group, scored, ids, None)
        else:
            task = asyncio.get_running_loop().create_task(self._keep(snapshot, group, values, scored, ids, by))
            self._keeping.add(task)
            task.add_done_callback(self._keeping.discard)
        return len(rows)

    async def _keep(
        self,
        snapshot: Snapshot,
        group: Group,
        values: Array,
        scored: Decided,
        ids: Sequence[str | None],
        by: Sequence[Any] | None,
    ) -> None:
        """Hand the rows to the recorder, and answer when it has them; what it refuses is the fault of one request."""
        try:
            held, audit = await kept(self._service, snapshot, values, scored, ids, by=by)
            _deliver(snapshot, group, held, ids, audit)
        except Exception as error:
            if len(group) == 1 or not isinstance(error, Refusal) or error.status >= 500:
                for one in group:
                    _fail(one, error)
                return
            for one, part in _parts(group):
                about = (values[part], scored.some(part), ids[part], None if by is None else by[part])
                await self._keep(snapshot, [one], *about)


def _split(group: Group, most: int) -> tuple[Group, Group]:
    """Return the first requests of a group, at least one and about so many rows, and the others."""
    n_rows = 0
    for k, one in enumerate(group):
        n_rows += len(one.rows)
        if n_rows >= most:
            return group[: k + 1], group[k + 1 :]
    return group, []


def _parts(group: Group) -> Iterator[tuple[Waiting, slice]]:
    """Yield the requests of a group, and where the rows of each are."""
    start = 0
    for one in group:
        yield one, slice(start, start + len(one.rows))
        start += len(one.rows)


def _deliver(snapshot: Snapshot, group: Group, scored: Decided, ids: Sequence[str | None], audit: Flags | None) -> None:
    """Give every request its rows of the answer."""
    rows = rows_out(scored, ids, snapshot.columns, audit)
    before, after = snapshot.envelope
    for one, part in _parts(group):
        if not one.answer.done():  # the client may be gone
            one.answer.set_result(before + encode(rows[part]) + after)


def _fail(one: Waiting, error: Exception) -> None:
    if not one.answer.done():
        one.answer.set_exception(refusal_of(error) if isinstance(error, VecuqError) else error)
