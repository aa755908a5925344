"""Seen: what a run remembers of rows that are decided together. It adds up, so that parts may be seen apart."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array


def _no_counts() -> NDArray[np.intp]:
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Seen:
    """Rows that came by: the different p-values and how often each came, and the scores of a gate's units."""

    n_rows: int = 0
    p_values: Array = field(default_factory=lambda: np.empty(0))  # increasing
    times: NDArray[np.intp] = field(default_factory=_no_counts)
    scores: tuple[Array, ...] = ()
    units: tuple[NDArray[np.intp], ...] = ()

    @staticmethod
    def of_p_values(p_values: Array) -> Seen:
        """Return what is remembered of rows that are selected by their p-values."""
        found, times = np.unique(p_values[~np.isnan(p_values)], return_counts=True)
        return Seen(len(p_values), found, times)

    def __add__(self, other: Seen) -> Seen:
        p_values, times = self.p_values, self.times
        if len(other.p_values):
            p_values, places = np.unique(np.concatenate([self.p_values, other.p_values]), return_inverse=True)
            times = np.zeros(len(p_values), dtype=np.intp)
            np.add.at(times, places, np.concatenate([self.times, other.times]))
        n_rows = self.n_rows + other.n_rows
        return Seen(n_rows, p_values, times, (*self.scores, *other.scores), (*self.units, *other.units))

    def by_unit(self) -> tuple[Array, NDArray[np.intp]]:
        """Return all scores, and the unit of each."""
        return np.concatenate([np.empty(0), *self.scores]), np.concatenate([_no_counts(), *self.units])
