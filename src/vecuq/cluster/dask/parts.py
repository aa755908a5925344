"""Part files made by Dask's workers, with the very function that makes them on one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from vecuq._run import Tick, memory_kept
from vecuq.cluster.dask.client import RETRIES, cancelled_on_error, results_as_done
from vecuq.cluster.dask.groups import grouped
from vecuq.workflows import Bad, Engine, Made, Part

# So many tasks per worker share the work well.
_TASKS_PER_THREAD = 4
Make = Callable[[Part, Tick], Made | Bad]


def engine_of(client: Any) -> Engine:
    """Return what lets a client's workers make parts."""
    return partial(_made_by_workers, client)


def _made_by_workers(
    client: Any, make: Make, parts: Sequence[Part], tick: Tick | None
) -> Iterator[tuple[Part, Made | Bad]]:
    """Yield every part with what became of it; parts are small tasks' worth each, and retried where a worker dies."""
    if not parts:
        return
    threads = sum(client.nthreads().values()) or 1
    groups = grouped(parts, [part.size for part in parts], least_groups=_TASKS_PER_THREAD * threads)
    with cancelled_on_error(client) as futures:
        # A task of its own, so that the model travels to each worker once, and again if a worker is lost.
        maker = client.submit(_same, _Shipped(make), pure=False, retries=RETRIES)
        futures += [client.submit(_make_all, maker, group, pure=False, retries=RETRIES) for group in groups]
        for _, made in results_as_done(client, futures):
            for part, outcome in made:
                if tick is not None and isinstance(outcome, Made):
                    tick(outcome.counts["rows"])
                yield part, outcome


class _Shipped:
    """Something large in a task, which Dask must not look into."""

    def __init__(self, content: Any) -> None:
        self.content = content


def _same(shipped: _Shipped) -> Any:
    return shipped.content


def _make_all(make: Make, group: Sequence[Part]) -> list[tuple[Part, Made | Bad]]:
    with memory_kept():
        return [(part, make(part, _nobody)) for part in group]


def _nobody(_: int) -> None:
    return
