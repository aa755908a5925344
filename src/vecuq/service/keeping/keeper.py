"""Keeper: the recorder that owns the database, the live gates, the monitors and the series."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.service.keeping.answers import Answers
from vecuq.service.keeping.desk import Desk, unknown_model
from vecuq.service.keeping.drift import Drift
from vecuq.service.keeping.findings import checked
from vecuq.service.keeping.rows import Tally, joined, pieces, tally
from vecuq.service.keeping.series import Series
from vecuq.service.keeping.writer import Work, Writer
from vecuq.service.recorder import Feedback, FeedbackTaken, Recorded, ScoredRows
from vecuq.service.settings import ServeSettings


class Keeper:
    """Keeps what was scored and found out, in this process; a Recorder."""

    def __init__(self, settings: ServeSettings) -> None:
        self.drift = Drift(self._save_monitor)
        self.desk = Desk(settings, self.drift)
        self.writer = Writer(self.desk)
        self.series = {name: Series() for name in settings.models}
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="vecuq-read")
        self.answers = Answers(self.desk, self.drift, self.series)
        self.desk.each_tick = self.answers.note_levels

    def start(self) -> None:
        """Open the store; raise what prevents it."""
        self.writer.start()
        self.drift.start()

    def stop(self) -> None:
        """Write all states and close the store."""
        self.drift.stop()
        self._reader.shutdown()
        self.answers.close()  # before the writer: the last connection that closes removes the write-ahead log
        self.writer.stop()

    async def decided(self, rows: ScoredRows) -> Recorded:
        """Take rows that have ids; they are on disk when this returns."""
        if self.desk.is_of_another_file(rows):  # by itself: what begins with a new file stays, whatever is refused
            await self._written(lambda: self.desk.look(rows.model))
        found = []
        for piece in pieces(rows):
            at = time.time()
            outcome = await self._written(lambda piece=piece, at=at: self.desk.decide(piece, at))  # type: ignore[misc]
            fresh = np.asarray(piece.values, dtype=float)[outcome.fresh]
            self.saw(piece.model, piece.checksum, piece.columns, fresh, tally(piece), len(fresh))
            found.append(outcome.decided)
        return joined(found)

    def watched(self, rows: ScoredRows) -> None:
        """Take rows for the drift monitor and the live view; never waits."""
        self.saw(rows.model, rows.checksum, rows.columns, np.asarray(rows.values), tally(rows), len(rows.uncertainty))

    def saw(
        self, model: str, checksum: str, columns: Sequence[str], values: Array, counted: Tally, arrived: int
    ) -> None:
        """Count rows and watch them, or a sample of those that arrived."""
        if model in self.series:
            self.series[model].add(time.time(), counted)
            self.drift.add(model, checksum, columns, values, arrived)

    async def feedback(self, found: Sequence[Feedback], *, token: str = "") -> list[FeedbackTaken]:
        """Take feedback, all or none of it; it is on disk when this returns."""
        usable, at, name = checked(found), time.time(), token or secrets.token_hex(8)
        taken: list[FeedbackTaken] = await self._written(lambda: self.desk.take(usable, name, at))
        return taken

    async def query(self, what: str, **about: Any) -> Any:
        """Answer a question of the page or of a client."""
        name = about.get("model")
        if name is not None and name not in self.series:
            raise unknown_model(name)
        if what in self.answers.at_the_desk:
            return await self._written(lambda: self.answers.of(what, about))
        return await asyncio.get_running_loop().run_in_executor(self._reader, self.answers.of, what, about)

    async def _written(self, work: Work) -> Any:
        done: Future[Any] = self.writer.submit(work)
        return await asyncio.wrap_future(done)

    def _save_monitor(self, name: str, checksum: str, state: bytes) -> None:
        self.writer.submit(lambda: self.desk.save_monitor(name, checksum, state)).result()


@asynccontextmanager
async def local_recorder(settings: ServeSettings) -> AsyncIterator[Keeper]:
    """Keep everything in this process: for a service of one worker."""
    keeper = Keeper(settings)
    await asyncio.to_thread(keeper.start)
    try:
        yield keeper
    finally:
        await asyncio.to_thread(keeper.stop)
