"""Fingerprints of rows: whether two tables share rows can be seen later, without keeping the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array

Hashes = NDArray[np.uint64]

# So many hashes are kept, the smallest: 32 kB, and a share of rows known to about 1.5 points.
MOST_HASHES = 4_096
# The mixing of Vigna's splitmix64, a bijection of 64 bits. These numbers are part of saved files: never change them.
_GOLDEN = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def row_hashes(values: Array) -> Hashes:
    """Return one 64-bit hash per row of numbers: equal rows have equal hashes, on every machine and in every version.

    Single precision counts as the double of the same value, -0 as 0, and every NaN as the same one. The order of the
    columns matters.

    Examples
    --------
    >>> same = row_hashes(np.array([[1.0, 0.0], [1.0, -0.0], [0.0, 1.0]]))
    >>> bool(same[0] == same[1]), bool(same[0] == same[2])
    (True, False)
    """
    rows = np.asarray(values, dtype=np.float64) + 0.0
    bits = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows)).view(np.uint64)
    found = np.full(len(rows), rows.shape[1], dtype=np.uint64)
    for column in bits.T:
        found = _mixed(found ^ _mixed(column))
    return found


def _mixed(numbers: Hashes) -> Hashes:
    """Return numbers of 64 bits, each replaced by another one that looks random."""
    found = numbers + np.uint64(_GOLDEN)
    for shift, factor in _MIX:
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    return found ^ (found >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """The smallest hashes of some rows, increasing: all of them if they are few, else a random sample of the values.

    Parameters
    ----------
    hashes
        Different hashes, increasing, at most :data:`MOST_HASHES`.

    Examples
    --------
    >>> known = Fingerprints.of(np.array([[1.0], [2.0]]))
    >>> known.contain(row_hashes(np.array([[2.0], [3.0]])))
    array([ True, False])
    """

    hashes: Hashes

    @staticmethod
    def of(values: Array) -> Fingerprints:
        """Take the fingerprints of rows, (rows, columns)."""
        return Fingerprints(_smallest(row_hashes(values)))

    def __add__(self, other: Fingerprints) -> Fingerprints:
        """Return the fingerprints of both sets of rows."""
        return Fingerprints(_smallest(np.concatenate([self.hashes, other.hashes])))

    @property
    def complete(self) -> bool:
        """Whether every row is known, rather than a sample."""
        return len(self.hashes) < MOST_HASHES

    def decide(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Return for which hashes it is known whether they are among those of the rows: all, or the small ones."""
        return np.ones(len(hashes), dtype=bool) if self.complete else np.asarray(hashes <= self.hashes[-1])

    def contain(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Return which hashes are among those of the rows, as far as is known."""
        return np.isin(hashes, self.hashes)


def _smallest(hashes: Hashes) -> Hashes:
    found = np.unique(hashes)
    return found[:MOST_HASHES]
