"""Long pieces of work in processes, taken as they are done, with progress from inside each piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from vecuq._run.pools import follow_parent, interrupts_held_back

S = TypeVar("S")
T = TypeVar("T")
# Called with the number of rows that were just done.
Tick = Callable[[int], None]
# How often progress is looked for, and how long workers may take to stop, in seconds.
_PAUSE = 0.2
_PATIENCE = 2.0
# In a worker process: what it does, and where it counts.
_HERE: dict[str, Any] = {}


def as_done(
    function: Callable[[S, Tick], T], items: Iterable[S], *, n_jobs: int, tick: Tick | None = None
) -> Iterator[tuple[S, T]]:
    """Yield every item with ``function(item, tick)`` as soon as it is made, by ``n_jobs`` processes.

    With one job all is made here. Otherwise the function travels to every process once, at most two items per job are
    under way, and ``tick`` adds up here what it is called with there. A caller who stops early, or an error, ends the
    processes at once.

    Parameters
    ----------
    function
        Takes an item and something to call with a number of rows; it and the items must survive pickling.
    items
        The pieces of work, each long enough to pay for its way to another process.
    n_jobs
        The number of processes.
    tick
        Called as rows are done; in this process, and from time to time.
    """
    if n_jobs == 1:
        for item in items:
            yield item, function(item, tick or _nobody)
        return
    yield from _by_processes(function, iter(items), n_jobs, tick)


def _nobody(_: int) -> None:
    return


def _by_processes(
    function: Callable[[S, Tick], T], items: Iterator[S], n_jobs: int, tick: Tick | None
) -> Iterator[tuple[S, T]]:
    context, others = get_context("spawn"), set(active_children())
    count = _Count(context.Value("q", 0), tick)
    pool = ProcessPoolExecutor(n_jobs, mp_context=context, initializer=_begin, initargs=(function, count.shared))
    running: dict[Future[T], S] = {}
    complete = False
    try:
        while True:
            for item in islice(items, 2 * n_jobs - len(running)):
                with interrupts_held_back():
                    running[pool.submit(_work, item)] = item
            if not running:
                break
            done, _ = wait(running, timeout=_PAUSE if tick else None, return_when=FIRST_COMPLETED)
            count.pass_on()
            for future in done:
                yield running.pop(future), future.result()
        complete = True
    except BrokenProcessPool:
        raise MemoryError(
            "A worker process was killed, most often because memory ran out; use a smaller n_jobs."
        ) from None
    finally:
        pool.shutdown(wait=complete, cancel_futures=True)
        if not complete:
            _end(set(active_children()) - others)


class _Count:
    """Rows that were done in all processes, passed on as they grow."""

    def __init__(self, shared: Any, tick: Tick | None) -> None:
        self.shared, self.tick, self.before = shared, tick, 0

    def pass_on(self) -> None:
        """Call ``tick`` with what has been added since."""
        now = self.shared.get_obj().value  # without the lock, which a killed worker may hold for good
        if self.tick is not None and now > self.before:
            self.tick(now - self.before)
            self.before = now


def _end(workers: Iterable[BaseProcess]) -> None:
    """Stop worker processes, so that nothing is written any more when the caller goes on."""
    found = list(workers)
    for worker in found:
        worker.terminate()
    for worker in found:
        worker.join(_PATIENCE)


def _begin(function: Callable[[S, Tick], T], shared: Any) -> None:
    follow_parent()
    _HERE.update(function=function, shared=shared)


def _work(item: Any) -> Any:
    return _HERE["function"](item, _add)


def _add(number: int) -> None:
    shared = _HERE["shared"]
    with shared.get_lock():
        shared.value += number
