"""The keeper as a process of its own: workers send frames over a local socket; each is answered after its commit."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from vecuq.errors import SettingError
from vecuq.service.keeping import frames
from vecuq.service.keeping.keeper import Keeper, local_recorder
from vecuq.service.keeping.rows import Tally
from vecuq.service.recorder import Feedback
from vecuq.service.refusal import Refusal
from vecuq.service.settings import ServeSettings

LOG = logging.getLogger("vecuq.service.keeping")
# Requests of one worker that are in work; beyond that nothing is read from it.
_MOST_IN_WORK = 1_024
_PAUSE = 0.1


def run_keeper(
    settings: ServeSettings,
    address: str,
    *,
    on_ready: Callable[[], None] = lambda: None,
    stop: threading.Event | None = None,
) -> None:
    """Own the store until it is asked to stop; with a clean checkpoint at the end.

    Parameters
    ----------
    settings
        Those of the service.
    address
        Path of the socket, in a folder that nobody else may enter.
    on_ready
        Called once workers may connect.
    stop
        Ends the keeper once it is set. Without it, SIGTERM and SIGINT do, and so does the end of the parent process.
    """
    asyncio.run(_keep(settings, address, on_ready, stop))


async def _keep(
    settings: ServeSettings, address: str, on_ready: Callable[[], None], stop: threading.Event | None
) -> None:
    ended = _signals() if stop is None else stop
    parent = os.getppid() if stop is None else None
    _refuse_open_folder(address)
    async with local_recorder(settings) as keeper:
        Path(address).unlink(missing_ok=True)  # of a keeper that was killed: the store is ours now
        clients = _Clients(keeper)
        server = await asyncio.start_unix_server(clients.serve, address)
        os.chmod(address, 0o600)
        on_ready()
        while not ended.is_set() and parent in (None, os.getppid()):
            await asyncio.sleep(_PAUSE)
        server.close()
        await clients.finish()
    Path(address).unlink(missing_ok=True)


def _signals() -> threading.Event:
    """Return what SIGTERM and SIGINT set."""
    ended = threading.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, ended.set)
    return ended


def _refuse_open_folder(address: str) -> None:
    if os.stat(Path(address).parent).st_mode & 0o077:
        raise SettingError("The socket of the keeper needs a folder that only this user may enter (mode 0700).")


class _Clients:
    """The workers that are connected."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._streams: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one worker until it goes; its requests are worked on side by side."""
        self._streams.add(writer)
        turn = asyncio.Semaphore(_MOST_IN_WORK)
        try:
            while True:
                message = await frames.read_frame(reader)
                if len(message) != 3:
                    raise ConnectionError("a frame holds no request")
                await turn.acquire()
                task = asyncio.create_task(self._answer(message, writer))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                task.add_done_callback(lambda _: turn.release())
        except (OSError, EOFError) as error:
            if not isinstance(error, EOFError | ConnectionResetError):
                LOG.error("A worker was cut off: %s.", error)
        finally:
            self._streams.discard(writer)
            writer.close()

    async def finish(self) -> None:
        """Answer what has come, and let the workers go."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=10.0)
        for writer in list(self._streams):
            writer.close()
        await asyncio.sleep(0)

    async def _answer(self, message: list[Any], writer: asyncio.StreamWriter) -> None:
        number, what, payload = message
        try:
            answer = frames.frame([number, True, await self._done(what, payload)])
        except Refusal as error:
            answer = _refused(number, error)
        except Exception:
            LOG.exception("The keeper failed at a request of a worker.")
            answer = _refused(number, Refusal(500, "internal", "The store failed; its log says more."))
        if what != frames.WATCHED and not writer.is_closing():
            writer.write(answer)
            with suppress(OSError):  # whoever asked has gone, and asks again
                await writer.drain()

    async def _done(self, what: int, payload: Any) -> Any:
        keeper = self._keeper
        if what == frames.DECIDED:
            return frames.packed_decided(await keeper.decided(frames.unpacked_rows(payload)))
        if what == frames.FEEDBACK:
            found, token = payload
            return await keeper.feedback(msgspec.convert(found, list[Feedback]), token=token)
        if what == frames.WATCHED:
            for model, checksum, columns, values, counted, arrived in payload:
                rows = frames.unpacked(values).reshape(-1, len(columns))
                keeper.saw(model, checksum, columns, rows, Tally(*counted), arrived)
            return None
        name, about = payload
        return await keeper.query(name, **about)


def _refused(number: int, error: Refusal) -> bytes:
    return frames.frame([number, False, [error.status, error.error, error.message, error.retry_after]])
