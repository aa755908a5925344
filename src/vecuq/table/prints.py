"""Fingerprints of rows: whether two tables share rows can be seen later, without keeping the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._run import spans

Hashes = NDArray[np.uint64]

# So many hashes are kept, the smallest: 32 kB, and a share of rows known to about 1.5 points.
MOST_HASHES = 4_096
# Rows that are hashed at once: they stay in the cache.
_BLOCK = 2**14
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
    found = np.full(len(values), values.shape[1], dtype=np.uint64)
    for span in spans(len(values), _BLOCK):
        for column in values[span].T:
            found[span] = mixed(found[span] ^ mixed(_bits(column)))
    return found


def _bits(column: Array) -> Hashes:
    """Return the bits of numbers, the same for numbers that count as equal; a new array."""
    numbers = column.astype(np.float64) + 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.uint64)


def mixed(numbers: Hashes) -> Hashes:
    """Replace numbers of 64 bits, each by another one that looks random, where they are."""
    numbers += np.uint64(_GOLDEN)
    for shift, factor in _MIX:
        numbers ^= numbers >> np.uint64(shift)
        numbers *= np.uint64(factor)
    numbers ^= numbers >> np.uint64(31)
    return numbers


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
    """Return the smallest different hashes, increasing."""
    found = np.unique(hashes[:_BLOCK])[:MOST_HASHES]
    for span in spans(len(hashes), _BLOCK):
        new = hashes[span]
        if len(found) == MOST_HASHES:  # few hashes of a later block are smaller than all of these
            new = new[new < found[-1]]
        found = np.unique(np.concatenate([found, new]))[:MOST_HASHES]
    return found
