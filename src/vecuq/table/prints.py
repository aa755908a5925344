"""Fingerprints of rows: whether two tables share rows can be seen later, without keeping the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._run import scratch, spans

Hashes = NDArray[np.uint64]

# So many hashes are kept, the smallest: 32 kB, and a share of rows known to about 1.5 points.
MOST_HASHES = 4_096
# Rows that are hashed at once: they stay in the cache.
_BLOCK = 2**12
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
    found = np.empty(len(values), dtype=np.uint64)
    for span in spans(len(values), _BLOCK):
        found[span] = _hashed(values[span])
    return found


def _hashed(rows: Array) -> Hashes:
    """Return the hashes of a few rows, in memory that the next call uses again."""
    found = scratch("row hashes", len(rows)).view(np.uint64)
    found[:] = rows.shape[1]
    for column in rows.T:
        found ^= mixed(_bits(column))
        mixed(found)
    return found


def _bits(column: Array) -> Hashes:
    """Return the bits of numbers, the same for numbers that count as equal."""
    numbers = np.add(column, 0.0, out=scratch("bits of a column", len(column)), dtype=float)
    missing = np.isnan(numbers)
    if missing.any():
        numbers[missing] = np.nan
    return numbers.view(np.uint64)


def mixed(numbers: Hashes) -> Hashes:
    """Replace numbers of 64 bits, each by another one that looks random, where they are."""
    shifted = scratch("shifted bits", len(numbers)).view(np.uint64)
    numbers += np.uint64(_GOLDEN)
    for shift, factor in _MIX:
        numbers ^= np.right_shift(numbers, np.uint64(shift), out=shifted)
        numbers *= np.uint64(factor)
    numbers ^= np.right_shift(numbers, np.uint64(31), out=shifted)
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
        most, small = _likely(len(values)), [np.empty(0, dtype=np.uint64)]
        for span in spans(len(values), _BLOCK):
            hashes = _hashed(values[span])
            small.append(hashes[hashes <= most])
        found = np.unique(np.concatenate(small))
        if len(found) < min(MOST_HASHES, len(values)):  # many rows are equal: those that are left out may be different
            found = np.unique(row_hashes(values))
        return Fingerprints(found[:MOST_HASHES])

    def __add__(self, other: Fingerprints) -> Fingerprints:
        """Return the fingerprints of both sets of rows."""
        return Fingerprints(np.unique(np.concatenate([self.hashes, other.hashes]))[:MOST_HASHES])

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


def _likely(n_rows: int) -> np.uint64:
    """Return below which number the smallest hashes of different rows lie, beyond reasonable doubt.

    Hashes are spread evenly: of the 1.25 * MOST_HASHES expected below it, too few are there once in 1e50 times.
    """
    share = 1.25 * MOST_HASHES / max(n_rows, 1)
    return np.uint64(2**64 - 1 if share >= 1 else int(share * 2**64))
