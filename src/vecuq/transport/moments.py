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
ROWS = 768
# By how much the degrees of a product may exceed those of one column, within a half of the columns.
_BEYOND = 2
# Products of the first half that are multiplied at once: with fewer, BLAS has too little to do at a time.
_FEWEST = 10


def chebyshev_moments(units: Array, q: int, *, box: tuple[Array, Array] | None = None) -> Array:
    """Return the moments of rows in [-1, 1], shape (q,) * columns; moments of chunks add up to those of all.

    Moments whose degrees add up to more than 4 q / 3, or to more than q + 2 within a half of the columns, are left at
    0: what they belong to is smaller than what q nodes leave out along one column (docs/adr/0010). With a ``box``, rows
    lie between its smallest and largest values instead, and are brought to [-1, 1] block by block.
    """
    m = units.shape[1]
    half = m // 2
    left, right = _Side.of(q, half), _Side.of(q, m - half)
    tiles = moment_tiles(q, m)
    total = np.zeros((len(left.degrees), len(right.degrees)))
    for span in spans(len(units), ROWS):
        forth, back = _polynomials(units[span], q, box)
        first = left.products(forth[0], back[1:half], "left") if half else np.ones((1, forth.shape[2]))
        second = right.products(forth[half], back[half + 1 :], "right")
        for rows, columns in tiles:
            made = scratch("moments of a block", rows.stop - rows.start, columns.stop)
            total[rows, columns] += np.matmul(first[rows], second[columns].T, out=made)
    total[np.add.outer(left.degrees, right.degrees) > _highest(q)] = 0.0
    moments = np.zeros((q**half, q ** (m - half)))
    moments[np.ix_(left.places, right.places)] = total
    return moments.reshape((q,) * m)


def _polynomials(rows: Array, q: int, box: tuple[Array, Array] | None) -> tuple[Array, Array]:
    """Return the polynomials of every column, (columns, q, rows), and backwards those after the first of each half."""
    m = rows.shape[1]
    columns = scratch("units of a block", m, len(rows))
    columns[...] = rows.T
    if box is not None:
        to_units(columns, *box)
    tables = scratch("chebyshev values", m, q, len(rows))
    chebyshev_values(columns, q, tables.swapaxes(0, 1))
    backwards = scratch("chebyshev values backwards", m, q, len(rows))
    for k in range(m):
        if k not in (0, m // 2):
            backwards[k] = tables[k, ::-1]
    return tables, backwards


def to_units(columns: Array, low: Array, high: Array) -> None:
    """Bring the range of every column, (columns, rows), to [-1, 1], in place; a constant column lies at -1."""
    columns -= low[:, None]
    columns /= np.where(high > low, high - low, 1.0)[:, None]
    columns *= 2.0
    columns -= 1.0
    np.minimum(np.maximum(columns, -1.0, out=columns), 1.0, out=columns)


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
        steps, polynomials = [], np.arange(q)[::-1]
        degrees = places = np.arange(q if n_columns else 1)
        for _ in range(1, n_columns):
            step, before = list(_runs(np.bincount(degrees).tolist(), q)), np.arange(len(degrees))
            one = np.concatenate([before[some] for some, _ in step])
            other = np.concatenate([np.broadcast_to(polynomials[few], before[some].shape) for some, few in step])
            degrees, places = degrees[one] + other, places[one] * q + other
            steps.append(step)
        return _Side(tuple(steps), degrees, places)

    def products(self, first: Array, others: Array, side: str) -> Array:
        """Return the products, (products, rows), given the polynomials of its columns, those of others backwards."""
        products = first
        for k, (table, step) in enumerate(zip(others, self.steps, strict=True)):
            parts = [(products[some], table[few]) for some, few in step]
            made, start = scratch(f"{side} products {k}", sum(len(some) for some, _ in parts), first.shape[1]), 0
            for some, few in parts:
                np.multiply(some, few, out=made[start : start + len(some)])
                start += len(some)
            products = made
        return products


def _runs(sizes: list[int], q: int) -> Iterator[tuple[slice, slice]]:
    """Yield products and the polynomials to multiply them by, by increasing degree; ``sizes`` says how many there are.

    The polynomials stand backwards, so that where there is one product of each degree, those of one degree are made by
    one multiplication of two pieces of memory.
    """
    ends = [0, *accumulate(sizes)]
    for degree in range(min(len(sizes) + q - 1, q + _BEYOND + 1)):
        first, last = max(0, degree - q + 1), min(len(sizes) - 1, degree)
        place = q - 1 - degree
        if max(sizes) == 1:
            yield slice(first, last + 1), slice(place + first, place + last + 1)
        else:
            for k in range(first, last + 1):
                yield slice(ends[k], ends[k + 1]), slice(place + k, place + k + 1)


def moment_tiles(q: int, m: int) -> list[tuple[slice, slice]]:
    """Return which products of the first half to multiply by which of the second: always the first few of those."""
    left, right = _Side.of(q, m // 2), _Side.of(q, m - m // 2)
    tiles, start = [], 0
    for end in np.cumsum(np.bincount(left.degrees)).tolist():
        if end - start >= _FEWEST or end == len(left.degrees):
            most = _highest(q) - int(left.degrees[start])
            tiles.append((slice(start, end), slice(int(np.searchsorted(right.degrees, most, side="right")))))
            start = end
    return tiles
