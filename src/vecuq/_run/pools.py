"""How work is spread over threads and processes, and what ``n_jobs`` means."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context, parent_process
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

import numpy as np

from vecuq.errors import SettingError

S = TypeVar("S")
T = TypeVar("T")
_END = object()
_PATIENCE = 1.0


def resolve_jobs(n_jobs: int | None) -> int:
    """Return the number of threads or processes: None is 1, -1 all cores, -2 all but one, and so on.

    Examples
    --------
    >>> resolve_jobs(None), resolve_jobs(3)
    (1, 3)
    >>> resolve_jobs(-1) == os.cpu_count()
    True
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool | np.bool_) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise SettingError(f"n_jobs must be a whole number of at least 1, or -1 for all cores; got {n_jobs!r}.")
    return int(n_jobs) if n_jobs > 0 else max((os.cpu_count() or 1) + 1 + int(n_jobs), 1)


def ahead(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """Yield the items while the next ones are already being made in a thread, at most ``depth`` of them.

    An error in the thread is raised here, in its place. When the consumer stops early, so does the thread.
    """
    queue: Queue[object] = Queue(depth)
    stop = Event()
    worker = Thread(target=_produce, args=(items, queue, stop), daemon=True)
    worker.start()
    try:
        while (item := queue.get()) is not _END:
            if isinstance(item, _Failure):
                raise item.error
            yield item  # type: ignore[misc]
    finally:
        stop.set()
        worker.join(_PATIENCE)  # a thread that is stuck in a read must not hold up a program that should stop


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def _produce(items: Iterable[T], queue: Queue[object], stop: Event) -> None:
    iterator = iter(items)
    try:
        for item in iterator:
            if not _put(item, queue, stop):
                break
        else:
            _put(_END, queue, stop)
    except BaseException as error:
        _put(_Failure(error), queue, stop)
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            close()


def _put(item: object, queue: Queue[object], stop: Event) -> bool:
    """Put an item as soon as there is room; give up when nobody wants it any more."""
    while not stop.is_set():
        try:
            queue.put(item, timeout=0.05)
        except Full:
            continue
        return True
    _drain(queue)
    return False


def _drain(queue: Queue[object]) -> None:
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return


def in_order(function: Callable[[S], T], items: Iterable[S], *, n_jobs: int, alone: int = 4) -> Iterator[T]:
    """Yield ``function(item)`` for each item, in the order of the items, made by ``n_jobs`` processes.

    The first ``alone`` items are worked on here, so that a small job starts no process; with one job, all are. At most
    two items per job are under way, however many there are. The function and the items must survive pickling.
    """
    stream = iter(items)
    yield from map(function, stream if n_jobs == 1 else islice(stream, alone))
    if n_jobs > 1:
        yield from _by_processes(function, stream, n_jobs)


def _by_processes(function: Callable[[S], T], stream: Iterator[S], n_jobs: int) -> Iterator[T]:
    first = next(stream, _END)
    if first is _END:
        return
    pool = ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn"), initializer=follow_parent)
    running = deque[Future[T]]()
    done = False
    try:
        with interrupts_held_back():
            running.append(pool.submit(function, first))  # type: ignore[arg-type]
        for item in stream:
            running.append(pool.submit(function, item))
            if len(running) > 2 * n_jobs:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
        done = True
    except BrokenProcessPool:
        raise MemoryError(
            "A worker process was killed, most often because memory ran out; use a smaller n_jobs."
        ) from None
    finally:
        # Somebody who stops early does not want to sit through what the workers are at; they end with this process.
        pool.shutdown(wait=done, cancel_futures=True)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Start processes that no interrupt reaches: Ctrl-C goes to all processes of a command, and the parent reacts."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def follow_parent() -> None:
    """Leave interrupts to the parent, and go when it goes, even if it was killed and could say nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
