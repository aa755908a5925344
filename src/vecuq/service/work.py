"""Work: what takes longer than a turn of the event loop, in a few threads, with room for a bounded number of jobs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from vecuq.service.refusal import Refusal
from vecuq.service.settings import Limits

P = ParamSpec("P")
T = TypeVar("T")
# They share one interpreter. Two keep a core busy; with two more, a reply is not judged behind two large tables.
_THREADS = 4


class Deadline:
    """Until when a job must be done; a job looks at it between two pieces."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.end = seconds, time.monotonic() + seconds
        self.given_up = False

    def begin(self) -> None:
        """Count from now on, when the body is here."""
        self.end = time.monotonic() + self.seconds

    def check(self) -> None:
        """Raise if the time is over, or nobody waits any more."""
        if self.given_up or time.monotonic() > self.end:
            raise too_slow(self.seconds)


def too_slow(seconds: float) -> Refusal:
    """Return the refusal of a request that takes too long."""
    return Refusal(503, "timeout", f"The answer was not ready within {seconds:g} seconds. Send fewer rows at a time.")


class Work:
    """A few threads; as many jobs as the limits allow are in work or waiting, and further ones are refused."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._jobs = limits, 0
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="vecuq-work")

    @contextmanager
    def place(self) -> Iterator[Deadline]:
        """Hold one place from the first byte of a large body to the last byte of its answer."""
        if self._jobs >= self._limits.tables:
            raise Refusal(
                429,
                "busy",
                f"{self._jobs} large requests are in work, and that is the limit. Try again in a second.",
                retry_after=1,
            )
        self._jobs += 1
        deadline = Deadline(self._limits.seconds)
        try:
            yield deadline
        finally:
            deadline.given_up = True
            self._jobs -= 1

    async def run(self, function: Callable[P, T], *args: P.args, **how: P.kwargs) -> T:
        """Return what a function gives, called in a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: function(*args, **how))

    async def run_until(self, deadline: Deadline, function: Callable[[], T]) -> T:
        """Return what a function gives, or refuse when the time is over; the thread ends at its next look."""
        left = max(deadline.end - time.monotonic(), 0.0)
        try:
            async with asyncio.timeout(left):
                return await self.run(function)
        except TimeoutError:
            raise too_slow(deadline.seconds) from None

    def close(self) -> None:
        """Let jobs in work end, and take no more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
