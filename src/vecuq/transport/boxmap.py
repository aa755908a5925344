r"""The map inside a box as a short sum of products: a few dozen terms instead of thousands of targets.

Inside the box, with x the row brought to [-1, 1] per column, the sum over targets is a smooth function

.. math:: F(x) = \sum_j V_j \prod_k e^{a_{jk} x_k}, \qquad R_k = \tau_k + \epsilon\, \partial_k F / (2 h_k F),

and the exponentials of one column span only a handful of dimensions: their Chebyshev coefficients are Bessel
functions, :math:`e^{a x} = \sum_n (2 - \delta_n) I_n(a) T_n(x)`, and a singular value decomposition of these gives
the few functions :math:`\varphi_r` that matter. Then :math:`F = \sum_\alpha C_\alpha \prod_k \varphi_{\alpha_k}(x_k)`,
and the terms left out, each at its largest value in the box, bound the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from vecuq.transport.cells import Cells
from vecuq.transport.contraction import contract_linear
from vecuq.transport.projection import chebyshev_nodes, chebyshev_values
from vecuq.transport.targets import Array

__all__ = ["BoxMap", "box_map"]

Degrees = NDArray[np.intp]

# Degree of the Chebyshev expansion: enough where it is used at all.
_DEGREE = 32
_STEEPEST, _FLATTEST = 12.0, 1e-3
# The exact factors are as good for smaller grids, and nothing is gained that their exactness is not worth.
_FEWEST = 4096


@dataclass(frozen=True)
class BoxMap:
    """Rank images of rows inside the box, from the kept terms of the expansion."""

    centre: Array
    half: Array
    middle: Array
    epsilon: float
    bases: tuple[Array, ...]  # per column: Chebyshev coefficients of the functions, then of their derivatives
    core: Array  # (terms of the first half of the columns, terms of the second half)
    first: Degrees  # which function of each column a term multiplies, (terms, columns of that half)
    second: Degrees

    def contains(self, rows: Array) -> NDArray[np.bool_]:
        """Return which rows lie inside the box."""
        return np.asarray((np.abs(rows - self.centre) <= self.half).all(axis=1))

    def images(self, rows: Array) -> Array:
        """Return the rank images of rows inside the box."""
        split = self.first.shape[1]
        units = np.ascontiguousarray(((rows - self.centre) / self.half).T)
        powers = chebyshev_values(units, self.bases[0].shape[1])
        tables = [basis @ powers[:, k] for k, basis in enumerate(self.bases)]
        left, right = _products(tables[:split], self.first), _products(tables[split:], self.second)
        by_left = self.core @ right[0]
        total = _dot(left[0], by_left)
        slopes = [_dot(part, by_left) for part in left[1:]]
        by_right = self.core.T @ left[0]
        slopes += [_dot(part, by_right) for part in right[1:]]
        gradient = np.stack(slopes, axis=1) / total[:, None]
        return np.asarray(self.middle + (0.5 * self.epsilon / self.half) * gradient)


def _dot(left: Array, right: Array) -> Array:
    return np.asarray(np.einsum("kb,kb->b", left, right))


def _products(tables: list[Array], terms: Degrees) -> list[Array]:
    """Return the kept products of one half, then the same with one column after the other differentiated.

    The upper half of a table holds a column's functions, the lower half their derivatives.
    """
    if not tables:
        return [np.ones((len(terms), 1))]
    values = [table[terms[:, k]] for k, table in enumerate(tables)]
    slopes = [table[terms[:, k] + len(table) // 2] for k, table in enumerate(tables)]
    for k, slope in enumerate(slopes):
        for other in [*values[:k], *values[k + 1 :]]:
            np.multiply(slope, other, out=slope)
    return [reduce(np.multiply, values), *slopes]


def box_map(axes: tuple[Array, ...], log_v: Array, epsilon: float, box: tuple[Array, Array]) -> BoxMap | None:
    """Expand the map on the box; None where it would save little, or where digits would be lost.

    What is dropped can move a rank image by about 5e-9 for four columns (1e-12 for fewer, where accuracy is cheap), if
    all of it adds up; measured errors are a hundredth of that. Rounding is bounded likewise: where the sum varies so
    much over the box that it would show, the expansion is refused.
    """
    centre, half = 0.5 * (box[0] + box[1]), 0.5 * (box[1] - box[0])
    middle = np.array([0.5 * (axis[0] + axis[-1]) for axis in axes])
    rates = [2.0 * h * (axis - t) / epsilon for axis, h, t in zip(axes, half, middle, strict=True)]
    if log_v.size < _FEWEST or len(axes) > 4 or not all(_FLATTEST < _steepness(r) < _STEEPEST for r in rates):
        return None
    tol = 5e-9 if len(axes) == 4 else 1e-12
    level = log_v + Cells.single(axes, epsilon, centre).tilt(centre)
    v = np.exp(level - level.max())
    functions, factors = zip(*(_column_basis(rate, tol) for rate in rates), strict=True)
    terms = contract_linear(v, list(factors))
    bases = _with_slopes(functions, tol)
    effect = np.abs(terms) * _largest_values(bases, epsilon / (2.0 * half))
    budget = tol * _least(v, rates)
    rows, columns = _keep(effect, len(axes) // 2, budget)
    if 2.0**-50 * float(effect.sum()) > budget or 1.3 * len(rows) * len(columns) > v.size:
        return None
    split = len(axes) // 2
    core = terms.reshape(int(np.prod(terms.shape[:split])), -1)[np.ix_(rows, columns)]
    first, second = _multi_index(rows, terms.shape[:split]), _multi_index(columns, terms.shape[split:])
    return BoxMap(centre, half, middle, epsilon, bases, np.ascontiguousarray(core), first, second)


def _steepness(rate: Array) -> float:
    return float(np.abs(rate).max())


def _column_basis(rate: Array, tol: float) -> tuple[Array, Array]:
    """Return the functions that span exp(a x), as Chebyshev coefficients, and the coordinates of each a in them."""
    from scipy.special import iv

    order = np.arange(_DEGREE + 1)[:, None]
    coefficients = np.where(order == 0, 1.0, 2.0) * iv(order, rate)
    left, size, right = np.linalg.svd(coefficients, full_matrices=False)
    kept = size > 1e-4 * tol * size[0]
    root = np.sqrt(size[kept])
    return (left[:, kept] * root).T, root[:, None] * right[kept]


def _with_slopes(bases: tuple[Array, ...], tol: float) -> tuple[Array, ...]:
    """Stack the coefficients of the functions on those of their derivatives, without what is too small to see."""
    slopes = [np.pad(np.polynomial.chebyshev.chebder(b, axis=1), ((0, 0), (0, 1))) for b in bases]
    stacked = [np.concatenate(pair) for pair in zip(bases, slopes, strict=True)]
    seen = max(int(np.flatnonzero(np.abs(part).max(axis=0) > 1e-4 * tol).max()) for part in stacked)
    return tuple(np.ascontiguousarray(part[:, : seen + 1]) for part in stacked)


def _largest_values(bases: tuple[Array, ...], slope_scale: Array) -> Array:
    """Return the largest effect of every product on a rank image: through its value, or through a slope."""
    at = chebyshev_values(chebyshev_nodes(200), bases[0].shape[1])
    values, slopes = zip(*(np.split(np.abs(basis @ at).max(axis=1), 2) for basis in bases), strict=True)
    scaled = [scale * slope for scale, slope in zip(slope_scale, slopes, strict=True)]
    effects = [_outer([*values[:k], slope, *values[k + 1 :]]) for k, slope in enumerate(scaled)]
    return np.asarray(np.maximum.reduce([_outer(list(values)), *effects]))


def _outer(vectors: list[Array]) -> Array:
    product = np.ones(())
    for vector in vectors:
        product = np.multiply.outer(product, vector)
    return product


def _least(v: Array, rates: list[Array]) -> float:
    """Bound F from below on the box: its logarithm is convex, hence above its tangent at the centre."""
    total, fall = float(v.sum()), 0.0
    for k, rate in enumerate(rates):
        marginal = v.sum(axis=tuple(j for j in range(v.ndim) if j != k))
        fall += abs(float(marginal @ rate)) / total
    return total * float(np.exp(-fall))


def _keep(effect: Array, split: int, budget: float) -> tuple[Degrees, Degrees]:
    """Return the rows and columns of the coefficient matrix to keep; what is dropped stays within the budget."""
    matrix = effect.reshape(int(np.prod(effect.shape[:split])), -1)
    rows = _all_but_the_smallest(matrix.sum(axis=1), 0.5 * budget)
    return rows, _all_but_the_smallest(matrix[rows].sum(axis=0), 0.5 * budget)


def _all_but_the_smallest(sums: Array, budget: float) -> Degrees:
    order = np.argsort(sums, kind="stable")
    dropped = int(np.searchsorted(np.cumsum(sums[order]), budget, side="right"))
    return np.sort(order[min(dropped, len(order) - 1) :])


def _multi_index(flat: Degrees, shape: tuple[int, ...]) -> Degrees:
    if not shape:
        return np.empty((len(flat), 0), dtype=np.intp)
    return np.stack(np.unravel_index(flat, shape), axis=1)
