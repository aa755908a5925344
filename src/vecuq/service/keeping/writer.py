"""Writer: one thread that owns the database. All that came while the last commit ran goes into the next one."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

from vecuq.errors import VecuqError
from vecuq.service.refusal import Refusal

LOG = logging.getLogger("vecuq.service.keeping")
# So many requests may wait for their commit; beyond that they are refused.
MOST_WAITING = 4_096
# So many share one commit: a batch that never ends would never be acknowledged.
_MOST_TOGETHER = 1_024
# Seconds between two rounds of housekeeping.
TICK = 1.0

Work = Callable[[], Any]
Waiting = list[tuple[Work, Future[Any]]]


class Owner(Protocol):
    """What lives in the thread of the writer."""

    connection: sqlite3.Connection

    def open(self) -> None:
        """Lock and open the database; called first."""

    def tick(self) -> None:
        """Do housekeeping inside a transaction, about once in ``TICK`` seconds."""

    def reload(self) -> None:
        """Read everything from disk again, after a commit has failed."""

    def close(self) -> None:
        """Write what is to be written in the end, and close the database."""


class Writer:
    """A queue of work, each piece of which is acknowledged after the commit that holds it."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._waiting: Waiting = []
        self._wake = threading.Condition()
        self._stopping = self._astray = False
        self._ticked = 0.0
        self.commits = 0
        self._opened: Future[None] = Future()
        self._thread = threading.Thread(target=self._main, name="vecuq-store", daemon=True)

    def start(self) -> None:
        """Open the database; raise what prevents it."""
        self._thread.start()
        self._opened.result()

    def stop(self) -> None:
        """Finish what waits, write the states, close the database."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join()

    def submit(self, work: Work) -> Future[Any]:
        """Take a piece of work; its future is done once it is on disk. Work that raises is undone."""
        done: Future[Any] = Future()
        with self._wake:
            if self._stopping or not self._thread.is_alive():
                raise unavailable()
            if len(self._waiting) >= MOST_WAITING:
                raise Refusal(429, "busy", "The store has too many requests to write; try again.", retry_after=1)
            self._waiting.append((work, done))
            self._wake.notify()
        return done

    def _main(self) -> None:
        try:
            self._owner.open()
        except BaseException as error:  # whatever it is, the caller hears of it
            self._opened.set_exception(error)
            return
        self._opened.set_result(None)
        try:
            while self._round():
                pass
        finally:
            with self._wake:
                self._stopping = True
                lost, self._waiting = self._waiting, []
            for _, done in _not_cancelled(lost):
                done.set_exception(unavailable())
            self._owner.close()

    def _round(self) -> bool:
        """Do all the work that waits in one transaction; return whether to go on."""
        with self._wake:
            if not self._waiting and not self._stopping:
                self._wake.wait(TICK)
            together, self._waiting = self._waiting[:_MOST_TOGETHER], self._waiting[_MOST_TOGETHER:]
            last = self._stopping and not self._waiting
        together = _not_cancelled(together)
        outcomes = self._outcomes([work for work, _ in together]) if together else []
        for (_, done), outcome in zip(together, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                done.set_exception(outcome)
            else:
                done.set_result(outcome)
        if time.monotonic() - self._ticked >= TICK and not last:
            self._ticked = time.monotonic()
            self._outcomes([self._owner.tick])
        return not last

    def _outcomes(self, works: list[Work]) -> list[Any]:
        """Return what each piece of work gave or raised, once the commit is on disk."""
        if self._astray and not self._went_back():
            return [unavailable()] * len(works)
        try:
            return self._committed(works)
        except Exception as error:
            LOG.error("The store could not write: %s.", error)
            self._went_back()
            if len(works) == 1 or isinstance(error, sqlite3.OperationalError):  # such as a full disk: for all alike
                return [unavailable()] * len(works)
            # One of them is to blame, and the others are not.
            return [self._outcomes([work])[0] for work in works]

    def _committed(self, works: list[Work]) -> list[Any]:
        run = self._owner.connection.execute
        run("BEGIN IMMEDIATE")
        outcomes = [self._outcome(work) for work in works]
        run("COMMIT")
        self.commits += 1
        return outcomes

    def _outcome(self, work: Work) -> Any:
        """Return what a piece of work gave, or the refusal that it raised; then nothing of it stays."""
        run = self._owner.connection.execute
        run("SAVEPOINT one")
        try:
            found = work()
        except (Refusal, VecuqError) as error:
            run("ROLLBACK TO one")
            found = error
        run("RELEASE one")
        return found

    def _went_back(self) -> bool:
        """Return whether everything is again as it is on disk; until it is, nothing is written."""
        self._astray = True
        try:
            if self._owner.connection.in_transaction:
                self._owner.connection.execute("ROLLBACK")
            self._owner.reload()
        except Exception as error:
            LOG.error("The store could not be read again: %s.", error)
            return False
        self._astray = False
        return True


def _not_cancelled(waiting: Waiting) -> Waiting:
    """Return the work that somebody still waits for; from now on it cannot be cancelled."""
    return [(work, done) for work, done in waiting if done.set_running_or_notify_cancel()]


def unavailable() -> Refusal:
    """Return what a client reads when the store cannot be reached or written."""
    return Refusal(503, "store_unavailable", "The store cannot be written now; try again.", retry_after=1)
