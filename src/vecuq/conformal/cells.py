"""Cells: rows counted by their score, in a summary of bounded size that is the same in whatever order it was added up.

The cells are fixed before any row is seen: a score is a float64, and scores that agree in all but its last ``shift``
bits share a cell, sixty-four resolutions in all. A summary has the finest resolution at which its scores fill at most
so many cells. Fewer rows never fill more cells, so the resolution of all rows follows from those of the parts: these
add up to exactly what one pass over all rows gives. With few different scores the resolution is the finest, and nothing
is lost at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array

Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]

# So many cells, by default: 24 bytes each where rows are of two kinds.
MOST_CELLS = 2**18
# Fewer would not keep rows of different scores apart.
FEWEST_CELLS = 16
# Counts up to here are exact as float64, too.
MOST_COUNTED = 2**53
_SIGN = np.uint64(1 << 63)
_BITS = 64


def keys_of(scores: Array) -> Keys:
    """Return whole numbers in the order of the scores; 0.0 and -0.0 are one. There must be no NaN.

    Examples
    --------
    >>> keys = keys_of(np.array([-np.inf, -1.0, -0.0, 0.0, 5e-324, 1.0, np.inf]))
    >>> np.diff(keys.astype(float)) > 0
    array([ True,  True, False, False,  True,  True])
    >>> int(keys[4] - keys[3])
    1
    """
    bits = np.ascontiguousarray(np.asarray(scores, dtype=np.float64) + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def scores_of_keys(keys: Keys) -> Array:
    """Return the scores that :func:`keys_of` was given.

    Examples
    --------
    >>> scores_of_keys(keys_of(np.array([-2.5, 0.0, np.inf])))
    array([-2.5,  0. ,  inf])
    """
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums over the rows of every occupied cell, lowest scores first.

    Parameters
    ----------
    keys
        The first bits of the scores in each cell, increasing, (cells,).
    counts
        What is counted there, (cells, columns): rows of each kind, or sums of whole numbers.
    shift
        How many last bits of a score are left out; 0 keeps every score apart.
    most
        The largest number of cells.
    """

    keys: Keys
    counts: Counts
    shift: int
    most: int = MOST_CELLS

    @staticmethod
    def empty(n_columns: int, most: int = MOST_CELLS) -> Cells:
        """Return no rows."""
        return Cells(np.empty(0, dtype=np.uint64), np.empty((0, n_columns), dtype=np.int64), 0, most)

    @staticmethod
    def of_kinds(scores: Array, kinds: NDArray[np.bool_], most: int = MOST_CELLS, *, at_least: int = 0) -> Cells:
        """Count rows of two kinds by their scores; ``at_least`` is a shift that the sum is known to need.

        Examples
        --------
        >>> Cells.of_kinds(np.array([0.5, 0.1, 0.5]), np.array([True, False, False])).counts
        array([[1, 0],
               [1, 1]])
        """
        keys = keys_of(scores) >> np.uint64(at_least)
        parts = []
        for place, chosen in enumerate((~kinds, kinds)):
            found, n_rows = np.unique(keys[chosen], return_counts=True)
            counts = np.zeros((len(found), 2), dtype=np.int64)
            counts[:, place] = n_rows
            parts.append(Cells(found, counts, at_least, most))
        return added(parts)

    @staticmethod
    def of_sums(scores: Array, columns: Counts, most: int = MOST_CELLS, *, at_least: int = 0) -> Cells:
        """Sum columns of whole numbers by score, (rows, columns)."""
        return _collapsed(keys_of(scores) >> np.uint64(at_least), columns, at_least, most)

    def __len__(self) -> int:
        return len(self.keys)

    def __add__(self, other: Cells) -> Cells:
        return added([self, other])

    @property
    def totals(self) -> list[int]:
        """The sum of every column."""
        return [int(total) for total in self.counts.sum(axis=0)]

    @property
    def exact(self) -> bool:
        """Whether every score has a cell of its own."""
        return self.shift == 0

    def at_most(self, n_cells: int) -> Cells:
        """Return the same rows in fewer cells."""
        return _fitted(Cells(self.keys, self.counts, self.shift, n_cells))

    def edges(self) -> tuple[Array, Array]:
        """Return the lowest and the highest score that belong to each cell; beyond the infinities there is none."""
        first, last = self._ends()
        low, high = scores_of_keys(first), scores_of_keys(last)
        return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)

    @property
    def of_no_number(self) -> NDArray[np.bool_]:
        """Which cells no score belongs to: their bits are those of NaN."""
        lowest, highest = keys_of(np.array([-np.inf, np.inf]))
        first, last = self._ends()
        return np.asarray((last < lowest) | (first > highest))

    def _ends(self) -> tuple[Keys, Keys]:
        first = self.keys << np.uint64(self.shift)
        return first, first | np.uint64((1 << self.shift) - 1)


def added(parts: list[Cells]) -> Cells:
    """Return the sum of summaries, which does not depend on their order.

    Examples
    --------
    >>> one, two = (Cells.of_kinds(np.array(scores), np.array([True, False])) for scores in ([1.0, 2.0], [2.0, 3.0]))
    >>> added([one, two]).counts
    array([[0, 1],
           [1, 1],
           [1, 0]])
    """
    shift, most = max(part.shift for part in parts), min(part.most for part in parts)
    keys = np.concatenate([part.keys >> np.uint64(shift - part.shift) for part in parts])
    return _collapsed(keys, np.concatenate([part.counts for part in parts]), shift, most)


def _collapsed(keys: Keys, counts: Counts, shift: int, most: int) -> Cells:
    """Return one cell per key, and as few as fit."""
    order = np.argsort(keys, kind="stable")  # runs that are sorted already are merged, not sorted again
    return _fitted(_joined(keys[order], counts[order], shift, most))


def _joined(keys: Keys, counts: Counts, shift: int, most: int) -> Cells:
    """Return sorted keys once each, with the sums of their counts."""
    fresh = np.ones(len(keys), dtype=bool)
    fresh[1:] = keys[1:] != keys[:-1]
    starts = np.flatnonzero(fresh)
    sums = counts if len(starts) == len(keys) else np.add.reduceat(counts, starts, axis=0, dtype=np.int64)
    return Cells(keys[starts], np.asarray(sums), shift, most)


def _fitted(cells: Cells) -> Cells:
    """Return the finest resolution at which the cells are not too many."""
    if len(cells) <= cells.most:
        return cells
    # Two neighbours stay apart until the highest bit in which they differ is left out.
    lengths = _bit_lengths(cells.keys[1:] ^ cells.keys[:-1])
    apart = 1 + np.cumsum(np.bincount(lengths, minlength=_BITS + 1)[::-1])[::-1]  # neighbours of at least this length
    more = int(np.argmax(apart[1:] <= cells.most))
    return _joined(cells.keys >> np.uint64(more), cells.counts, cells.shift + more, cells.most)


def _bit_lengths(numbers: Keys) -> NDArray[np.intp]:
    """Return how many bits each number has; halves are exact as floats."""
    high, low = (numbers >> np.uint64(32)).astype(float), (numbers & np.uint64(0xFFFFFFFF)).astype(float)
    lengths = np.where(high > 0, np.frexp(high)[1] + 32, np.frexp(low)[1])
    return np.asarray(lengths, dtype=np.intp)
