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
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int
) -> Iterator[tuple[Item, Result]]:
    """Yield every item with its result as they come; the next item is taken up when the caller is done with one.

    The first error is raised, and calls still under way are left to themselves: a call to a server may last minutes,
    and somebody who stops a run does not want to sit through them.

    Examples
    --------
    >>> sorted(side_by_side(abs, [-1, 2, -3], n_jobs=2))
    [(-3, 3), (-1, 1), (2, 2)]
    """
    queue, done = SimpleQueue[tuple[Item, ...]](), SimpleQueue[tuple[Item, Future[Result]]]()
    for _ in range(n_jobs):
        Thread(target=_work, args=(function, queue, done), daemon=True).start()
    waiting, running = iter(items), 0
    try:
        while True:
            for item in islice(waiting, n_jobs - running):
                queue.put((item,))
                running += 1
            if not running:
                return
            item, outcome = done.get()
            running -= 1
            yield item, outcome.result()
    finally:
        for _ in range(n_jobs):
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
