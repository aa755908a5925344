"""Series for the live view: the last ten minutes by the second, the last day by the minute."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from vecuq.service.keeping.rows import Tally

_COUNTS = ("rows", "accepted", "flagged", "missing")
_LEVELS = ("drift", "bound", "state")
STATES = ("unproven", "proven", "broken")


class Ring:
    """Counts and levels of the latest steps of time, in arrays that never grow."""

    def __init__(self, step: int, length: int) -> None:
        self.step, self._length = step, length
        self._stamps = np.full(length, -1, dtype=np.int64)
        self._counts = np.zeros((length, len(_COUNTS)))
        self._levels = np.full((length, len(_LEVELS)), np.nan)

    def add(self, at: float, counted: Tally) -> None:
        """Count rows at a time."""
        slot = self._slot(at)
        for k, value in enumerate(counted):
            if value is not None:
                self._counts[slot, k] += value

    def set(self, at: float, levels: tuple[float, ...]) -> None:
        """Note how things stand at a time; the last word of a step stays."""
        self._levels[self._slot(at)] = levels

    def to_dict(self, at: float) -> dict[str, list[Any]]:
        """Return the series up to a time, the oldest first; None where nothing is known."""
        last = int(at) // self.step
        stamps = np.arange(last - self._length + 1, last + 1)
        slots = stamps % self._length
        there = self._stamps[slots] == stamps
        first = int(there.argmax()) if there.any() else len(there) - 1
        counts = np.where(there[:, None], self._counts[slots], 0.0)[first:]
        levels = np.where(there[:, None], self._levels[slots], np.nan)[first:]
        drift, bound = (_plain(levels[:, k]) for k in (0, 1))
        states = [None if code is None else STATES[int(code)] for code in _plain(levels[:, 2])]
        named = {name: counts[:, k].astype(int).tolist() for k, name in enumerate(_COUNTS)}
        return {"time": (stamps[first:] * self.step).tolist(), **named, "drift": drift, "bound": bound, "state": states}

    def _slot(self, at: float) -> int:
        stamp = int(at) // self.step
        slot = stamp % self._length
        if self._stamps[slot] != stamp:
            self._stamps[slot], self._counts[slot], self._levels[slot] = stamp, 0.0, np.nan
        return slot


class Series:
    """The series of one model, which several threads write."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds, self._minutes = Ring(1, 600), Ring(60, 1_440)
        self.total = Tally()

    def add(self, at: float, counted: Tally) -> None:
        """Count rows."""
        with self._lock:
            self.total = self.total.plus(counted)
            self._seconds.add(at, counted)
            self._minutes.add(at, counted)

    def set(self, at: float, *, drift: float | None, bound: float | None, state: str | None) -> None:
        """Note evidence of drift, bound and state."""
        code = np.nan if state is None else float(STATES.index(state))
        levels = (np.nan if drift is None else drift, np.nan if bound is None else bound, code)
        with self._lock:
            self._seconds.set(at, levels)
            self._minutes.set(at, levels)

    def to_dict(self, at: float) -> dict[str, Any]:
        """Return both series as plain lists."""
        with self._lock:
            return {"seconds": self._seconds.to_dict(at), "minutes": self._minutes.to_dict(at)}


def _plain(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
