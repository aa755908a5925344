"""POST /score: from the body of a request to the answer, on the shortest way that its size allows."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import Any

import msgspec

from vecuq._files import temporary_folder
from vecuq.errors import VecuqError
from vecuq.service.asgi import Answer, Request
from vecuq.service.batching import Batcher
from vecuq.service.bodies import body_to_file, whole_body
from vecuq.service.context import Service
from vecuq.service.decoding import SHAPE, decoded
from vecuq.service.errors_said import refusal_of, refusing
from vecuq.service.formats import CSV, JSON, LINES, Format, format_in, format_out
from vecuq.service.jobs import Job, no_rows
from vecuq.service.json_rows import read_any, score_json
from vecuq.service.options import merged, query_options
from vecuq.service.patience import Patience
from vecuq.service.refusal import Refusal
from vecuq.service.row_scoring import MOST_INLINE, RowScorer
from vecuq.service.served import Snapshot
from vecuq.service.table_bodies import score_table
from vecuq.service.wire import PLAIN, given_in
from vecuq.service.work import Work, too_slow

# Larger bodies are worked on in a thread.
_SMALL = 64 * 2**10


class ScoreRoute:
    """What answers requests to score rows, tables and answers."""

    def __init__(self, service: Service, work: Work) -> None:
        self._service, self._work, self._batcher = service, work, Batcher(service)
        self._limits = service.settings.limits
        self._patience = Patience(self._limits.seconds)

    async def __call__(self, request: Request) -> Answer:
        """Return the answer to a request; raise a refusal."""
        snapshot = self._service.shelf.get(request.name)
        query = query_options(request.scope["query_string"])
        came = format_in(request)
        out = format_out(request, came)
        is_rows = snapshot.served.takes == "rows"
        if came is JSON and out is JSON and is_rows and request.length is not None and request.length <= _SMALL:
            return await self._small(request, snapshot, query)
        return await self._large(request, snapshot, query, came, out)

    async def _small(self, request: Request, snapshot: Snapshot, query: dict[str, Any]) -> Answer:
        """Answer some rows together with those of other requests, or in a thread if they take long."""
        body = await whole_body(request, self._limits, self._patience)
        try:
            scorer, rows = _read(snapshot, body, query)
        except VecuqError as error:
            raise refusal_of(error) from None
        request.n_rows = len(rows)
        is_slow = scorer.options.missing == "marginal" or len(rows) * scorer.scores_per_row > MOST_INLINE
        if is_slow or len(rows) > self._limits.rows:
            return await self._in_thread(request, snapshot, query, JSON, JSON, body)
        answer = self._batcher.submit(snapshot, scorer, rows)
        if self._service.recorder is None:
            return Answer(await answer)
        try:
            async with asyncio.timeout(self._limits.seconds):
                return Answer(await answer)
        except TimeoutError:
            raise too_slow(self._limits.seconds) from None

    async def _large(
        self, request: Request, snapshot: Snapshot, query: dict[str, Any], came: Format, out: Format
    ) -> Answer:
        return await self._in_thread(request, snapshot, query, came, out, None)

    async def _in_thread(
        self, request: Request, snapshot: Snapshot, query: dict[str, Any], came: Format, out: Format, body: bytes | None
    ) -> Answer:
        """Keep the body in a private file, work on it in a thread, and send the answer from a file."""
        with ExitStack() as stack:
            deadline = stack.enter_context(self._work.place())
            folder = await asyncio.to_thread(stack.enter_context, temporary_folder())
            with refusing():
                options = merged(query, {})
            loop = asyncio.get_running_loop()
            job = Job(self._service, snapshot, options, folder, came, out, deadline, loop)
            if body is None:
                await body_to_file(request, job.body, self._limits)
            else:
                job.body.write_bytes(body)
            deadline.begin()
            try:
                with refusing(hide=str(folder)):
                    await self._work.run_until(deadline, lambda: _worked(job, query))
            finally:
                request.n_rows = job.n_rows
            return Answer.of_file(job.answer, job.out.media.encode(), stack.pop_all())


def _read(snapshot: Snapshot, body: bytes, query: dict[str, Any]) -> tuple[RowScorer, list[Any]]:
    """Return decoded rows, and what scores them; names of id and category may stand in the body itself."""
    served = snapshot.served
    asked = merged(query, {}) if query else PLAIN
    coder = served.coder(asked)
    found = decoded(coder.decode, body)
    given = given_in(found)
    if given:
        asked = merged(query, given)
        if served.coder(asked) is not coder:
            found = decoded(served.coder(asked).decode, body)
    if not found.rows:
        raise no_rows()
    return served.scorer(asked), found.rows


def _worked(job: Job, query: dict[str, Any]) -> None:
    """Score the body of a job, in a thread."""
    takes = job.snapshot.served.takes
    if job.came is JSON and job.out is JSON and takes == "rows":
        score_json(job, query)
        return
    if job.came is JSON:
        _as_lines(job, query)
    job.snapshot.served.refuse_format(job.came)
    try:
        score_table(job)
    except VecuqError:
        _refuse_json(job)
        raise


def _refuse_json(job: Job) -> None:
    """Say so if a body that cannot be read as csv looks like JSON."""
    with job.body.open("rb") as file:
        start = file.read(_SMALL).lstrip()[:1]
    if job.came is CSV and start in (b"{", b"["):
        raise Refusal(
            422,
            "content_type",
            f"The body came as {CSV.media} and looks like JSON. Send {SHAPE} with Content-Type: {JSON.media}, or one "
            f"record per line with {LINES.media}.",
        )


def _as_lines(job: Job, query: dict[str, Any]) -> None:
    """Write the rows of a JSON body as lines: answers, or rows that are answered as a table."""
    body = read_any(job)
    job.options = merged(query, given_in(body))
    lines = b"\n".join(msgspec.json.format(bytes(row), indent=-1) for row in body.rows)
    job.came = LINES
    job.body.write_bytes(lines + b"\n")
