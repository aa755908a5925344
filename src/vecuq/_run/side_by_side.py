"""Slow calls side by side, in threads that nobody has to wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import islice
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | Callable[[], int]
) -> Iterator[tuple[Item, Result]]:
    """Yield every item with its result as they come; the next item is taken up when the caller is done with one.

    ``n_jobs`` is how many may run at once, or a function that returns it, at least 1, whenever an item could start.

    The first error is raised, and calls still under way are left to themselves: a call to a server may last minutes,
    and somebody who stops a run does not want to sit through them.

    Examples
    --------
    >>> sorted(side_by_side(abs, [-1, 2, -3], n_jobs=2))
    [(-3, 3), (-1, 1), (2, 2)]
    """
    queue, done = SimpleQueue[tuple[Item, ...]](), SimpleQueue[tuple[Item, Future[Result]]]()
    waiting, running, threads = iter(items), 0, 0
    try:
        while True:
            room = n_jobs() if callable(n_jobs) else n_jobs
            for item in islice(waiting, max(0, room - running)):
                queue.put((item,))
                running += 1
            for _ in range(threads, running):
                Thread(target=_work, args=(function, queue, done), daemon=True).start()
            threads = max(threads, running)
            if not running:
                return
            item, outcome = done.get()
            running -= 1
            yield item, outcome.result()
    finally:
        for _ in range(threads):
            queue.put(())


def _work(
    function: Callable[[Item], Result],
    queue: SimpleQueue[tuple[Item, ...]],
    done: SimpleQueue[tuple[Item, Future[Result]]],
) -> None:
    """Take one item after the other; nothing in place of an item is the end."""
    while found := queue.get():
        outcome = Future[Result]()
        try:
            outcome.set_result(function(found[0]))
        except BaseException as error:  # raised again where the outcome is taken
            outcome.set_exception(error)
        done.put((found[0], outcome))
