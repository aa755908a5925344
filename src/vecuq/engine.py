"""How work is spread over threads. Knows nothing of scores or tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

__all__ = ["ahead"]

T = TypeVar("T")
_END = object()
_PATIENCE = 1.0


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
        worker.join(_PATIENCE)  # a thread that is stuck in a read must not hold up a program that was told to stop


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
