"""Counts of one worker, which metrics are made of. A request costs a few additions; the loop needs no lock."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

Snapshot = dict[str, Any]
# Upper ends of the buckets: seconds of a request, and rows of a batch.
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
BATCH_ROWS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 1_024.0)


class Histogram:
    """How many values fell into each bucket, and their sum."""

    __slots__ = ("buckets", "ends", "total")

    def __init__(self, ends: tuple[float, ...]) -> None:
        self.ends, self.buckets, self.total = ends, [0] * (len(ends) + 1), 0.0

    def add(self, value: float) -> None:
        """Count a value; one that equals an end belongs to the bucket below it."""
        self.buckets[bisect_left(self.ends, value)] += 1
        self.total += value

    def snapshot(self) -> Snapshot:
        """Return the counts, which can be summed."""
        return {"buckets": list(self.buckets), "sum": self.total}


class Counts:
    """Requests, rows, latencies and batches of one worker, from its start on."""

    def __init__(self) -> None:
        self.in_flight = 0  # requests that came and have no answer yet; the front moves it
        self._requests: dict[tuple[str, int], int] = {}
        self._seconds: dict[str, Histogram] = {}
        self._models: dict[str, dict[str, int]] = {}
        self._batches = Histogram(BATCH_ROWS)
        # How the counts of all workers are had; a worker among several asks its parent.
        self.everywhere: Callable[[], Awaitable[Snapshot]] = self._alone

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count an answer: ``route`` is the template, such as ``/models/{name}/score``, never the path itself."""
        key = route, status
        self._requests[key] = self._requests.get(key, 0) + 1
        found = self._seconds.get(route)
        if found is None:
            found = self._seconds[route] = Histogram(SECONDS)
        found.add(seconds)

    def rows(self, model: str, *, rows: int, missing: int, flagged: int | None, accepted: int | None) -> None:
        """Count scored rows; None: the request did not ask for flags, or the model has no gate."""
        count = self._models.get(model)
        if count is None:
            count = self._models[model] = dict.fromkeys(
                ("rows", "missing", "tested", "flagged", "gated", "accepted"), 0
            )
        count["rows"] += rows
        count["missing"] += missing
        if flagged is not None:
            count["tested"] += rows
            count["flagged"] += flagged
        if accepted is not None:
            count["gated"] += rows
            count["accepted"] += accepted

    def batch(self, rows: int) -> None:
        """Count a batch of rows that were scored in one call."""
        self._batches.add(rows)

    def snapshot(self) -> Snapshot:
        """Return all counts as plain data, which can be sent and summed."""
        requests: dict[str, dict[str, int]] = {}
        for (route, status), count in self._requests.items():
            requests.setdefault(route, {})[str(status)] = count
        return {
            "requests": requests,
            "seconds": {route: found.snapshot() for route, found in self._seconds.items()},
            "models": {model: dict(count) for model, count in self._models.items()},
            "batches": self._batches.snapshot(),
            "in_flight": self.in_flight,
            "workers": 1,
        }

    async def _alone(self) -> Snapshot:
        return self.snapshot()


def ended(snapshot: Mapping[str, Any]) -> Snapshot:
    """Return the counts of a worker that has ended: what it did stays, what it was doing does not."""
    return {**snapshot, "in_flight": 0, "workers": 0}


def summed(snapshots: Iterable[Mapping[str, Any]]) -> Snapshot:
    """Return the sum of the counts of several workers.

    Examples
    --------
    >>> summed([{"a": 1, "b": {"x": [1, 2]}}, {"a": 2, "b": {"x": [3, 4], "y": 1}}])
    {'a': 3, 'b': {'x': [4, 6], 'y': 1}}
    """
    total: Any = {}
    for snapshot in snapshots:
        total = _plus(total, snapshot)
    return dict(total)


def _plus(one: Any, other: Any) -> Any:
    """Add numbers, lists of numbers, and dicts of them by name."""
    if isinstance(one, Mapping):
        return {
            name: _plus(one[name], other[name]) if name in one and name in other else one.get(name, other.get(name))
            for name in {**one, **other}
        }
    if isinstance(one, list):
        return [a + b for a, b in zip(one, other, strict=True)]
    return one + other
