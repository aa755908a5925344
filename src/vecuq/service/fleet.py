"""Several workers: the parent binds the address, starts the processes, watches them, and ends them in order."""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from typing import Any

from vecuq.errors import VecuqError
from vecuq.service import logs
from vecuq.service.counts import Snapshot, ended, summed
from vecuq.service.links import heard, tell
from vecuq.service.listening import one_each, one_more
from vecuq.service.processes import keeper_main, worker_main
from vecuq.service.settings import ServeSettings

_log = logging.getLogger(logs.NAME)
_SPAWN = get_context("spawn")
_AT_ONCE = 10.0  # a process that ends before it was ready for so many seconds did so at once
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 10.0  # seconds before it is started again
_MOST_DEATHS = 5  # at once, one after the other, with no other worker left: then the parent gives up
_SLACK = 5.0  # seconds beyond the grace in which a worker must end


class ProcessesError(VecuqError):
    """The processes of the service do not stay alive."""


@dataclass
class Place:
    """The place of one process: whoever has it, and how those before it fared."""

    name: str
    sock: socket.socket | None = None
    process: Any = None
    link: Connection | None = None
    began: float = 0.0  # when it was ready
    again_at: float = 0.0
    deaths: int = 0  # at once, one after the other
    ready: bool = False
    reason: str | None = None  # why it could not start
    counts: Snapshot | None = None

    @property
    def alive(self) -> bool:
        """Whether a process is in it."""
        return self.process is not None


@dataclass
class Fleet:
    """The processes of one service, seen from their parent."""

    settings: ServeSettings
    sock: socket.socket
    on_ready: Callable[[dict[str, str]], None]
    address: str | None = None  # of the keeper; None: nothing is kept
    workers: list[Place] = field(default_factory=list)
    past: Snapshot = field(default_factory=dict)  # the counts of workers that have ended
    announced: bool = False
    stops: int = 0  # signals that came

    def run(self) -> bool:
        """Start all, watch until a stop signal, end all; return whether there was time to end in order."""
        sockets = one_each(self.sock, self.settings.workers)
        self.workers = [Place(f"worker {k + 1}", sock) for k, sock in enumerate(sockets)]
        self.keeper = Place("keeper") if self.address else None
        # Whoever holds the writing end may still need the keeper; when all are gone, the keeper reads the end of it.
        self._life, self._lifeline = _SPAWN.Pipe(duplex=False)
        with self._signals() as self._woken:
            try:
                self._watch()
            finally:
                self._end()
        return self.stops < 2

    @property
    def _places(self) -> list[Place]:
        return [*([self.keeper] if self.keeper else []), *self.workers]

    def _watch(self) -> None:
        while not self.stops:
            self._start_missing()
            self._hear(self._wait_seconds())

    def _start_missing(self) -> None:
        for place in self._places:
            waits_for_keeper = self.keeper is not None and place is not self.keeper and not self.keeper.ready
            if not place.alive and time.monotonic() >= place.again_at and not (waits_for_keeper and not self.announced):
                self._start(place)

    def _start(self, place: Place) -> None:
        ours, theirs = _SPAWN.Pipe()
        if place is self.keeper:
            main: Any = keeper_main
            with_what: tuple[Any, ...] = (self.settings, self.address, self._life, theirs)
        else:
            main = worker_main
            place.sock = place.sock or one_more(next(one.sock for one in self.workers if one.sock))
            with_what = (self.settings, place.sock, self.address, self._lifeline, theirs)
        process = _SPAWN.Process(target=main, args=with_what, name=f"vecuq {place.name}")
        # Ctrl-C reaches the whole group: it is the parent's alone, and a blocked signal stays blocked in a child.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        theirs.close()
        place.process, place.link, place.ready, place.reason = process, ours, False, None

    def _wait_seconds(self) -> float | None:
        """Return how long nothing is to be done unless a process says something."""
        due = [place.again_at for place in self._places if not place.alive]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _hear(self, seconds: float | None) -> None:
        """Wait for messages, ends and signals, and react."""
        by_link = {place.link: place for place in self._places if place.alive}
        for found in connection.wait([*by_link, self._woken], timeout=seconds):  # type: ignore[list-item]
            if found == self._woken:
                os.read(self._woken, 64)
                continue
            place = by_link[found]  # type: ignore[index]
            message = heard(place.link) if place.link else None
            if message is None:
                self._buried(place)
            else:
                self._took(place, message)

    def _took(self, place: Place, message: dict[str, Any]) -> None:
        if "failed" in message:
            place.reason = message["failed"]
        if "counts" in message:
            place.counts = message["counts"]
            if place.link:
                tell(place.link, total=summed([self.past, *(one.counts for one in self.workers if one.counts)]))
        if "ready" in message:
            place.ready, place.began = True, time.monotonic()
            if not self.announced and all(one.ready for one in self._places):
                self.announced = True
                self.on_ready(message["ready"])

    def _buried(self, place: Place) -> None:
        """Take leave of a process that has ended, and say when the next one comes."""
        place.process.join(_SLACK)
        code = place.process.exitcode
        if place.link:
            place.link.close()
        if place.counts:
            self.past, place.counts = summed([self.past, ended(place.counts)]), None
        lived = time.monotonic() - place.began if place.ready else 0.0
        place.deaths = place.deaths + 1 if lived < _AT_ONCE else 0
        place.again_at = time.monotonic() + min(_FIRST_WAIT * 2 ** max(place.deaths - 1, 0), _LONGEST_WAIT)
        place.process = place.link = None
        if self.stops:
            return
        if not self.announced:
            raise ProcessesError(place.reason or f"The {place.name} ended before it was ready, with code {code}.")
        self._give_up_if_hopeless(place)
        self._hand_over(place)
        why = place.reason or f"exit code {code}"
        _log.warning("The %s ended (%s) and is started again.", place.name, why)

    def _hand_over(self, place: Place) -> None:
        """Close the socket of a worker that dies again and again, so that connections go to the others."""
        if place.deaths > 1 and place.sock and any(one.sock for one in self.workers if one is not place):
            place.sock.close()
            place.sock = None

    def _give_up_if_hopeless(self, place: Place) -> None:
        others = self.workers if place is not self.keeper else []
        if place.deaths >= _MOST_DEATHS and not any(one.ready and one.alive for one in others):
            raise ProcessesError(
                f"The {place.name} ended {place.deaths} times right after its start; the service gives up. "
                f"The last reason: {place.reason or 'none was given; see the lines above'}."
            )

    def _end(self) -> None:
        """End the workers, which finish what they are at, and then the keeper."""
        self.stops = max(self.stops, 1)
        for place in self.workers:
            if place.sock:
                place.sock.close()  # or new connections would wait here for nobody
        for place in self.workers:
            if place.alive and place.link:
                place.link.close()
        self._join(self.workers, self.settings.grace + _SLACK)
        self._lifeline.close()
        if self.keeper is not None:
            self._join([self.keeper], _SLACK)
        self._life.close()

    def _join(self, places: list[Place], seconds: float) -> None:
        """Wait for processes to end; kill those that do not, and all at the second signal."""
        end = time.monotonic() + seconds
        while (left := [one for one in places if one.alive and one.process.is_alive()]) and self.stops < 2:
            if time.monotonic() > end:
                break
            connection.wait([one.process.sentinel for one in left], timeout=0.1)
        for place in left:
            if self.stops < 2:
                _log.warning("The %s did not end in time and is killed.", place.name)
            place.process.kill()
        for place in places:
            if place.alive:
                place.process.join()

    @contextmanager
    def _signals(self) -> Iterator[int]:
        """Count stop signals, and yield what can be waited for until one comes."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)

        def note(number: int, frame: object) -> None:
            self.stops += 1
            os.write(writing, b"x")

        names = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {one: signal.getsignal(one) for one in names}
        for one in names:
            if before[one] is not signal.SIG_IGN:
                signal.signal(one, note)
        try:
            yield reading
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
            os.close(reading)
            os.close(writing)
