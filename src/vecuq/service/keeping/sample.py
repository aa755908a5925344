"""A bounded sample of rows: all of them if they are few, otherwise a uniform draw that never looks at the values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array

# Rows that one turn of a monitor takes at most: about 30 ms of work with four columns.
MOST = 2_048


class Sample:
    """The rows since the last turn (a reservoir), in the order of their arrival.

    Without drift, a sample of exchangeable rows that is drawn by arrival alone is exchangeable: what is promised about
    all rows then holds for the sample.
    """

    def __init__(self, most: int = MOST, random_state: int = 0) -> None:
        self._most, self._draw = most, np.random.default_rng(random_state)
        self.seen = 0
        self._begin(())

    def add(self, columns: Sequence[str], values: Array) -> None:
        """Take rows; once there are too many, each that comes takes the place of another, or none."""
        if tuple(columns) != self.columns:  # another model: its rows do not go together with those before
            self._begin(tuple(columns))
        places = self.seen + np.arange(len(values))
        room = max(0, self._most - self.seen)
        slots = places.copy()
        if len(values) > room:
            slots[room:] = self._draw.integers(0, places[room:] + 1)
        hit = slots < self._most
        self._kept[slots[hit]], self._arrived[slots[hit]] = values[hit], places[hit]
        self.seen += len(values)

    def take(self) -> tuple[tuple[str, ...], Array]:
        """Return columns and rows, and begin anew."""
        taken = min(self.seen, self._most)
        order = np.argsort(self._arrived[:taken])
        self.seen = 0
        return self.columns, self._kept[:taken][order]

    def _begin(self, columns: tuple[str, ...]) -> None:
        self.columns, self.seen = columns, 0
        self._kept: Array = np.empty((self._most, len(columns)))
        self._arrived: NDArray[np.int64] = np.zeros(self._most, dtype=np.int64)
