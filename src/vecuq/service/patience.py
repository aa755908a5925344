"""Patience: how long requests may wait for their bodies, with one timer for all of them.

``asyncio.timeout`` sets a timer for each, which takes 5 of the 60 microseconds that a request has.
"""

from __future__ import annotations

import asyncio
import time

_LOOKS = 8  # in the time of a wait; so much later than asked may it be given up


class Patience:
    """Tasks that wait for something, since when, and a timer that runs while there are any."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._since: dict[asyncio.Task[object], float] = {}
        self._given_up: set[asyncio.Task[object]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None  # in which the timer runs

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        if task is not None:
            self._since[task] = time.monotonic()
        if self._loop is not loop:
            self._loop = loop
            loop.call_later(self._seconds / _LOOKS, self._look, loop)

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        task = asyncio.current_task()
        if task is None:
            return
        self._since.pop(task, None)
        if task in self._given_up:
            self._given_up.discard(task)
            if task.uncancel() == 0 and kind is asyncio.CancelledError:
                raise TimeoutError

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel what has waited too long, and look again if others wait."""
        latest = time.monotonic() - self._seconds
        for task, since in list(self._since.items()):
            if since <= latest and task not in self._given_up:
                self._given_up.add(task)
                task.cancel()
        self._loop = loop if self._since else None
        if self._since:
            loop.call_later(self._seconds / _LOOKS, self._look, loop)
