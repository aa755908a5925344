r"""The map inside a box as a short sum of products: two small matrix products per row, however many the targets.

With x the row brought to [-1, 1] per column, the sum over targets is a smooth function, and it splits:

.. math:: F(x) = \sum_r f_r(x_1, x_2)\, g_r(x_3, x_4), \qquad R_k = \tau_k + \epsilon\, \partial_k F / (2 h_k F),

with about ten terms. Each f and g, and each of their slopes, is a sum of the same few products of functions of one
column. :mod:`vecuq.transport.expansion` finds them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._run import scratch
from vecuq.transport.cells import stair_products
from vecuq.transport.projection import chebyshev_values

# Rows that are worked on together: here a row is cheap, so more of them share the cost of a call. Measured: 1,536 rows
# are a third slower than 1,344 or 1,920, it seems because rows of an array then compete for lines of the cache.
BOX_BLOCK = 1920


@dataclass(frozen=True)
class Half:
    """Half of the columns, two at most: which products of their functions are formed, and what is made of them."""

    stairs: tuple[int, ...]  # with how many functions of the last column each one of the first is multiplied
    matrix: Array  # (1 + columns, terms, products): makes the values, then the slopes times epsilon / (2 h)

    def __call__(self, tables: list[Array], side: str) -> Array:
        """Return values and slopes, (1 + columns, terms, rows), from each column's functions, (functions, rows)."""
        layers, n_terms, n_products = self.matrix.shape
        products = self._products(tables, side)
        made = scratch(f"box {side} values", layers * n_terms, products.shape[1])
        np.matmul(self.matrix.reshape(layers * n_terms, n_products), products, out=made)
        return made.reshape(layers, n_terms, -1)

    def _products(self, tables: list[Array], side: str) -> Array:
        if len(tables) < 2:
            return tables[0] if tables else np.ones((1, 1))
        return stair_products(tables[0], tables[1], self.stairs, f"box {side} products")


@dataclass(frozen=True)
class BoxMap:
    """Rank images of rows inside the box."""

    centre: Array
    half: Array
    middle: Array
    bases: tuple[Array, ...]  # per column: Chebyshev coefficients of its functions, (functions, degrees)
    first: Half
    second: Half

    def contains(self, rows: Array) -> NDArray[np.bool_]:
        """Return which rows lie inside the box."""
        inside = np.ones(len(rows), dtype=bool)
        for column, centre, half in zip(rows.T, self.centre, self.half, strict=True):
            inside &= np.abs(column - centre) <= half
        return inside

    def images(self, rows: Array) -> Array:
        """Return the rank images of rows inside the box."""
        units = rows.T - self.centre[:, None]
        units /= self.half[:, None]
        degrees = self.bases[0].shape[1]
        powers = chebyshev_values(units, degrees, scratch("box powers", degrees, *units.shape))
        tables = [
            np.matmul(basis, powers[:, k], out=scratch(f"box functions {k}", len(basis), len(rows)))
            for k, basis in enumerate(self.bases)
        ]
        split = len(tables) // 2
        f, g = self.first(tables[:split], "first"), self.second(tables[split:], "second")
        sums = np.empty((1 + len(tables), len(rows)))  # F, then its slopes along each column
        np.einsum("lrb,rb->lb", f, g[0], out=sums[: 1 + split])
        np.einsum("lrb,rb->lb", g[1:], f[0], out=sums[1 + split :])
        images = sums[1:]
        images /= sums[0]
        images += self.middle[:, None]
        return images.T
