"""Rows in the order of their hashes: the first of them are a random draw that does not depend on how they came."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.table import Hashes


@dataclass(frozen=True, eq=False)
class HashedRows:
    """Rows, increasing by hash; equal hashes by value, so that the order is one and the same."""

    hashes: Hashes
    values: Array  # (rows, columns)

    @staticmethod
    def of(hashes: Hashes, values: Array) -> HashedRows:
        """Put rows in order."""
        order = np.argsort(hashes, kind="stable")
        if len(hashes) > 1 and (np.diff(hashes[order]) == 0).any():
            order = np.lexsort((*values.T[::-1], hashes))
        return HashedRows(hashes[order], values[order])

    @staticmethod
    def none(n_columns: int) -> HashedRows:
        """Return no rows."""
        return HashedRows(np.empty(0, dtype=np.uint64), np.empty((0, n_columns)))

    def __len__(self) -> int:
        return len(self.hashes)

    def __add__(self, other: HashedRows) -> HashedRows:
        """Return the rows of both."""
        if not len(self) or not len(other):
            return self if len(self) else other
        pair = (self, other)
        return HashedRows.of(np.concatenate([one.hashes for one in pair]), np.concatenate([one.values for one in pair]))

    @property
    def repeated(self) -> bool:
        """Whether two rows have the same hash, and so the same id or place."""
        return bool((self.hashes[1:] == self.hashes[:-1]).any())

    def cut(self, n_first: int) -> tuple[HashedRows, HashedRows]:
        """Return the first rows, and the others; rows of one hash stay together, among the others."""
        if 0 < n_first < len(self):  # within equal hashes the order is by value, which is no random draw
            n_first = min(n_first, int(np.searchsorted(self.hashes, self.hashes[n_first])))
        first, others = slice(n_first), slice(n_first, None)
        return (
            HashedRows(self.hashes[first], self.values[first]),
            HashedRows(self.hashes[others], self.values[others]),
        )

    def below(self, bound: int) -> int:
        """Return how many hashes lie below a bound, which may be one more than the largest hash."""
        if bound >= 2**64:
            return len(self)
        return int(np.searchsorted(self.hashes, np.uint64(bound)))


def below(hashes: Hashes, bound: int) -> NDArray[np.bool_]:
    """Return which hashes lie below a bound, which may be one more than the largest hash."""
    if bound >= 2**64:
        return np.ones(len(hashes), dtype=bool)
    return np.asarray(hashes < np.uint64(bound))
