r"""The Chebyshev moments of rows: one pass of small matrix products, of low degrees only.

With the columns cut into two halves, the moments are the products of polynomials of the first half, (products, rows),
times those of the second, transposed. Both stand in the order of their degrees, so that the products of degree d of the
first half meet only the first few of the second: those with which the degree stays within the limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._run import scratch, spans
from vecuq.transport.projection import chebyshev_values

Places = NDArray[np.intp]

# Small enough for all products of a block to stay in the cache.
_ROWS = 768
# By how much the degrees of a product may exceed those of one column, within a half of the columns.
_BEYOND = 2
# Products of the first half that are multiplied at once: with fewer, BLAS has too little to do at a time.
_FEWEST = 10


def chebyshev_moments(units: Array, q: int) -> Array:
    """Return the moments of rows in [-1, 1], shape (q,) * columns; moments of chunks add up to those of all.

    Moments whose degrees add up to more than 4 q / 3, or to more than q + 2 within a half of the columns, are left at
    0: what they belong to is smaller than what q nodes leave out along one column (docs/adr/0010).
    """
    m = units.shape[1]
    left, right = _Side.of(q, m // 2), _Side.of(q, m - m // 2)
    tiles = list(_tiles(left, right, _highest(q)))
    total = np.zeros((len(left.degrees), len(right.degrees)))
    for span in spans(len(units), _ROWS):
        block = scratch("units of a block", m, span.stop - span.start)
        block[...] = units[span].T
        tables = scratch("chebyshev values", m, q, block.shape[1])
        chebyshev_values(block, q, tables.swapaxes(0, 1))
        first, second = left.products(tables[: m // 2], "left"), right.products(tables[m // 2 :], "right")
        for rows, columns in tiles:
            made = scratch("moments of a block", rows.stop - rows.start, columns.stop)
            total[rows, columns] += np.matmul(first[rows], second[columns].T, out=made)
    total[np.add.outer(left.degrees, right.degrees) > _highest(q)] = 0.0
    moments = np.zeros((q ** (m // 2), q ** (m - m // 2)))
    moments[np.ix_(left.places, right.places)] = total
    return moments.reshape((q,) * m)


def low_places(q: int, n_columns: int) -> NDArray[np.bool_]:
    """Return which moments are not left out, shape (q,) * columns."""
    left, right = _Side.of(q, n_columns // 2), _Side.of(q, n_columns - n_columns // 2)
    low = np.zeros((q ** (n_columns // 2), q ** (n_columns - n_columns // 2)), dtype=bool)
    low[np.ix_(left.places, right.places)] = np.add.outer(left.degrees, right.degrees) <= _highest(q)
    return low.reshape((q,) * n_columns)


def _highest(q: int) -> int:
    """Return up to which degree in all columns moments are kept."""
    return 4 * q // 3


@dataclass(frozen=True)
class _Side:
    """Products of the polynomials of some columns, of low degree, in the order of their degrees."""

    # Per column after the first: which products so far are multiplied by which of its polynomials, one run at a time.
    steps: tuple[list[tuple[slice, slice]], ...]
    degrees: Places
    places: Places  # among all products of q polynomials per column

    @staticmethod
    @cache
    def of(q: int, n_columns: int) -> _Side:
        """Plan the products of so many columns."""
        steps, polynomials = [], np.arange(q)
        degrees = places = np.arange(q if n_columns else 1)
        for _ in range(1, n_columns):
            step, before = list(_runs(np.bincount(degrees).tolist(), q)), np.arange(len(degrees))
            one = np.concatenate([before[some] for some, _ in step])
            other = np.concatenate([np.broadcast_to(polynomials[few], before[some].shape) for some, few in step])
            degrees, places = degrees[one] + other, places[one] * q + other
            steps.append(step)
        return _Side(tuple(steps), degrees, places)

    def products(self, tables: Array, side: str) -> Array:
        """Return the products, (products, rows), given each column's polynomials, (columns, polynomials, rows)."""
        products = tables[0] if len(tables) else np.ones((1, tables.shape[2]))
        for k, (table, step) in enumerate(zip(tables[1:], self.steps, strict=True)):
            parts = [(products[some], table[few]) for some, few in step]
            made, start = scratch(f"moments {side} {k}", sum(len(some) for some, _ in parts), tables.shape[2]), 0
            for some, few in parts:
                np.multiply(some, few, out=made[start : start + len(some)])
                start += len(some)
            products = made
        return products


def _runs(sizes: list[int], q: int) -> Iterator[tuple[slice, slice]]:
    """Yield products and the polynomials to multiply them by, by increasing degree; ``sizes`` says how many there are.

    Where there is one product of each degree, those of one degree are made at once, with the polynomials backwards.
    """
    ends = [0, *accumulate(sizes)]
    for degree in range(min(len(sizes) + q - 1, q + _BEYOND + 1)):
        first, last = max(0, degree - q + 1), min(len(sizes) - 1, degree)
        if max(sizes) == 1:
            yield slice(first, last + 1), slice(degree - first, degree - last - 1 if degree > last else None, -1)
        else:
            for k in range(first, last + 1):
                yield slice(ends[k], ends[k + 1]), slice(degree - k, degree - k + 1)


def _tiles(left: _Side, right: _Side, limit: int) -> Iterator[tuple[slice, slice]]:
    """Yield which products of the first half to multiply by which of the second: always the first few of those."""
    start = 0
    for end in np.cumsum(np.bincount(left.degrees)).tolist():
        if end - start >= _FEWEST or end == len(left.degrees):
            most = limit - int(left.degrees[start])
            yield slice(start, end), slice(int(np.searchsorted(right.degrees, most, side="right")))
            start = end
