"""The recorder of a worker: it sends everything to the keeper, and repeats what was not answered when that comes back.

Repeating is safe: a row that was decided keeps its decision, and feedback carries a token by which the keeper knows
that it has written it before.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import msgspec

from vecuq.service.keeping import frames
from vecuq.service.keeping.findings import checked
from vecuq.service.keeping.rows import Tally, joined, pieces, tally
from vecuq.service.keeping.sample import Sample
from vecuq.service.keeping.writer import unavailable
from vecuq.service.recorder import Feedback, FeedbackTaken, Recorded, ScoredRows
from vecuq.service.refusal import Refusal

# Seconds until a request is given up: long enough for a keeper to be started again.
PATIENCE = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_MOST_WAITING, _MOST_BYTES = 4_096, 256 * 2**20
# Seconds between two messages with rows to watch.
_FLUSH = 0.25


class RemoteRecorder:
    """A Recorder whose keeper is another process."""

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        self._address, self._patience = address, patience
        self._numbers, self._name = count(), secrets.token_hex(8)
        self._asked: dict[int, tuple[bytes, asyncio.Future[Any]]] = {}  # not answered yet, in their order
        self._bytes = 0
        self._writer: asyncio.StreamWriter | None = None
        self._seen: dict[tuple[str, str], tuple[Sample, Tally]] = {}
        self._flushing: asyncio.TimerHandle | None = None

    async def decided(self, rows: ScoredRows) -> Recorded:
        """Take rows that have ids; they are on disk when this returns."""
        sent = [self._ask(frames.DECIDED, frames.packed_rows(piece)) for piece in pieces(rows)]
        return joined([frames.unpacked_decided(one) for one in await asyncio.gather(*sent)])

    def watched(self, rows: ScoredRows) -> None:
        """Take rows for the drift monitor and the live view: a bounded sample of them is sent."""
        key = rows.model, rows.checksum
        sample, counted = self._seen.get(key) or (Sample(), Tally())
        sample.add(rows.columns, rows.values)
        self._seen[key] = sample, counted.plus(tally(rows))
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().call_later(_FLUSH, self._flush)

    async def feedback(self, found: Sequence[Feedback]) -> list[FeedbackTaken]:
        """Take feedback, all or none of it; it is on disk when this returns."""
        usable = msgspec.to_builtins(checked(found))
        token = f"{self._name}.{next(self._numbers)}"
        return msgspec.convert(await self._ask(frames.FEEDBACK, [usable, token]), list[FeedbackTaken])

    async def query(self, what: str, **about: Any) -> Any:
        """Answer a question of the page or of a client."""
        return await self._ask(frames.QUERY, [what, about])

    async def run(self, connected: asyncio.Event) -> None:
        """Stay connected, whatever becomes of the keeper."""
        pause = _FIRST_PAUSE
        while True:
            try:
                reader, writer = await asyncio.open_unix_connection(self._address)
            except OSError:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            pause = _FIRST_PAUSE
            connected.set()
            await self._talk(reader, writer)

    def close(self) -> None:
        """Send the last rows to watch, and give up what was not answered."""
        self._flush()
        for _, done in list(self._asked.values()):
            if not done.done():
                done.set_exception(unavailable())

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Ask again what was not answered, and hand out answers until the keeper goes."""
        self._writer = writer
        try:
            for body, _ in list(self._asked.values()):
                writer.write(body)
            while True:
                self._answered(*await frames.read_frame(reader))
        except (OSError, EOFError):
            pass
        finally:
            self._writer = None
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _answered(self, number: int, well: bool, answer: Any) -> None:
        if number not in self._asked:
            return
        done = self._asked[number][1]
        if not done.done():
            if well:
                done.set_result(answer)
            else:
                status, error, message, retry_after = answer
                done.set_exception(Refusal(status, error, message, retry_after=retry_after))

    async def _ask(self, what: int, payload: Any) -> Any:
        number = next(self._numbers)
        body = frames.frame([number, what, payload])
        if len(self._asked) >= _MOST_WAITING or self._bytes + len(body) > _MOST_BYTES:
            raise Refusal(429, "busy", "The store has too many requests to write; try again.", retry_after=1)
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[number] = body, done
        self._bytes += len(body)
        if self._writer is not None:
            self._writer.write(body)
        try:
            async with asyncio.timeout(self._patience):
                return await done
        except TimeoutError:
            raise unavailable() from None
        finally:
            del self._asked[number]
            self._bytes -= len(body)

    def _flush(self) -> None:
        """Send the rows to watch; if the keeper is away, or does not read, they are dropped."""
        if self._flushing is not None:
            self._flushing.cancel()
        self._flushing, seen = None, self._seen
        self._seen = {}
        ready = self._writer is not None and self._writer.transport.get_write_buffer_size() < frames.MOST_BYTES
        if self._writer is None or not ready or not seen:
            return
        parts = [[*key, *_sampled(sample), counted, counted.rows] for key, (sample, counted) in seen.items()]
        with suppress(Refusal):  # more columns than fit
            self._writer.write(frames.frame([next(self._numbers), frames.WATCHED, parts]))


def _sampled(sample: Sample) -> tuple[tuple[str, ...], bytes | None]:
    columns, values = sample.take()
    return columns, frames.packed(values)


@asynccontextmanager
async def remote_recorder(address: str, *, patience: float = PATIENCE) -> AsyncIterator[RemoteRecorder]:
    """Send everything to the keeper at an address; for a service of several workers."""
    recorder = RemoteRecorder(address, patience)
    connected = asyncio.Event()
    task = asyncio.create_task(recorder.run(connected))
    try:
        with suppress(TimeoutError):  # the keeper may come later
            await asyncio.wait_for(connected.wait(), patience)
        yield recorder
    finally:
        recorder.close()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
