"""Where Dask's tasks run: the user's client, a scheduler's address, or processes of this machine for one job."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from vecuq.errors import SettingError

# How often a task is tried again after an error of its machine; our own errors are not raised there.
RETRIES = 2


def distributed() -> Any:
    """Return the package, or say how to get it."""
    try:
        import distributed as found
    except ImportError:
        raise SettingError("This needs Dask: pip install 'vecuq[dask]'.") from None
    return found


@contextmanager
def connected(client: Any = None, scheduler: str | None = None) -> Iterator[Any]:
    """Yield a client: the one given, one for a scheduler, the one in use, or one with a worker process per core.

    Only what was started here is closed in the end.
    """
    package = distributed()
    found = client if client is not None or scheduler is not None else _in_use(package)
    if found is not None:
        yield found
        return
    if scheduler is not None:
        with _reached(package, scheduler) as reached:
            yield reached
        return
    with _this_machine(package) as started:
        yield started


def _in_use(package: Any) -> Any:
    try:
        return package.default_client()
    except ValueError:
        return None


def _reached(package: Any, scheduler: str) -> Any:
    try:
        return package.Client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise SettingError(f"No Dask scheduler answers at {scheduler}: {type(error).__name__}.") from None


@contextmanager
def _this_machine(package: Any) -> Iterator[Any]:
    """Yield a client of worker processes on this machine, which nobody else can reach and no browser watches."""
    import logging

    how: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    how |= {"host": "127.0.0.1", "silence_logs": logging.CRITICAL}
    # The scheduler serves its health over HTTP all the same: here, at any free port.
    how["scheduler_kwargs"] = {"dashboard_address": "127.0.0.1:0"}
    with package.LocalCluster(n_workers=os.cpu_count() or 1, **how) as cluster, package.Client(cluster) as client:
        yield client


@contextmanager
def cancelled_on_error(client: Any) -> Iterator[list[Any]]:
    """Yield a list for futures; on any error, an interrupt too, those in it are cancelled."""
    futures: list[Any] = []
    try:
        yield futures
    except BaseException:
        client.cancel(futures, force=True)
        raise


def results_as_done(client: Any, futures: Sequence[Any]) -> Iterable[tuple[Any, Any]]:
    """Yield futures with their results as they come; the first error is raised as it is."""
    for future in distributed().as_completed(list(futures)):
        yield future, future.result()
