"""Counts of workers: the latest of each, and the sum over all, also those that ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq.service import counts

# Beyond so many workers, the one that was silent the longest has ended, and goes into one sum.
MOST_WORKERS = 64


class Tallies:
    """What each worker has counted since it started; a worker that is heard again replaces what it said before."""

    def __init__(self) -> None:
        self._latest: dict[str, Mapping[str, Any]] = {}
        self._ended: Mapping[str, Any] | None = None

    def add(self, worker: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take the counts of a worker and return the sum."""
        self._latest.pop(worker, None)
        self._latest[worker] = said
        if len(self._latest) > MOST_WORKERS:
            silent = self._latest.pop(next(iter(self._latest)))
            self._ended = silent if self._ended is None else counts.summed([self._ended, silent])
        ended = [] if self._ended is None else [self._ended]
        found: Mapping[str, Any] = counts.summed([*ended, *self._latest.values()])
        return found
