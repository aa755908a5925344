"""Links between the parent and its processes: a pipe with JSON lines both ways, whose end says that a side is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import msgspec

from vecuq.service.counts import Counts, Snapshot

_EVERY = 1.0  # seconds between two reports of a worker
_PATIENCE = 1.0  # seconds that a worker waits for the sum of all


def tell(link: Connection, **what: Any) -> None:
    """Send a message; a side that is gone hears nothing."""
    with suppress(OSError):
        link.send_bytes(msgspec.json.encode(what))


def heard(link: Connection) -> dict[str, Any] | None:
    """Return the next message, or None if the other side is gone."""
    try:
        found: dict[str, Any] = msgspec.json.decode(link.recv_bytes())
    except (EOFError, OSError):
        return None
    return found


class WorkerLink:
    """A worker's side: reports its counts, has the sum of all workers, and notices when the parent is gone."""

    def __init__(self, link: Connection, counts: Counts, *, on_gone: Callable[[], None]) -> None:
        self._link, self._counts, self._on_gone = link, counts, on_gone
        self._answer: asyncio.Future[Snapshot] | None = None
        asyncio.get_running_loop().add_reader(link.fileno(), self._read)

    async def total(self) -> Snapshot:
        """Return the counts of all workers; its own, if the parent does not answer."""
        # One question at a time: a parent that sleeps must not fill the pipe, or this worker would wait for it.
        if self._answer is None or self._answer.done():
            self._answer = asyncio.get_running_loop().create_future()
            tell(self._link, counts=self._counts.snapshot())
        try:
            return await asyncio.wait_for(asyncio.shield(self._answer), _PATIENCE)
        except TimeoutError:
            return self._counts.snapshot()

    async def report(self) -> None:
        """Report for ever, so that the others can be asked for the sum."""
        while True:
            await self.total()
            await asyncio.sleep(_EVERY)

    def close(self) -> None:
        """Report a last time, and listen no more."""
        asyncio.get_running_loop().remove_reader(self._link.fileno())
        tell(self._link, counts=self._counts.snapshot())

    def _read(self) -> None:
        message = heard(self._link)
        if message is None:
            asyncio.get_running_loop().remove_reader(self._link.fileno())
            self._on_gone()
        elif self._answer is not None and not self._answer.done():
            self._answer.set_result(message["total"])
