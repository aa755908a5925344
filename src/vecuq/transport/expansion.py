r"""How the short sum is found: few functions per column, few products per half, few terms between the halves.

Inside the box the sum over targets is :math:`F(x) = \sum_j V_j \prod_k e^{a_{jk} x_k}` with x in [-1, 1]. The
exponentials of one column span only a handful of dimensions: their Chebyshev coefficients are Bessel functions,
:math:`e^{a x} = \sum_n (2 - \delta_n) I_n(a) T_n(x)`, and a singular value decomposition of these gives the few
functions :math:`\varphi_r` that matter. Derivatives of exponentials are exponentials: :math:`\varphi' = S \varphi`.
A second decomposition, of the coefficients between the products of the first half of the columns and those of the
second, gives the terms. What is left out, each part at its largest value in the box, bounds the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.transport.boxmap import BoxMap, Half
from vecuq.transport.cells import Cells
from vecuq.transport.contraction import contract_linear
from vecuq.transport.projection import chebyshev_nodes, chebyshev_values

# Degree of the Chebyshev expansion: enough where it is used at all.
_DEGREE = 32
_STEEPEST, _FLATTEST = 12.0, 1e-3
# For smaller grids the exact factors are as fast, and they are exact.
_FEWEST = 4096


def box_map(
    axes: tuple[Array, ...], log_v: Array, epsilon: float, box: tuple[Array, Array], tol: float
) -> BoxMap | None:
    """Expand the map on the box; None where it would save little, or where digits would be lost.

    What is dropped can move a rank image by about ``tol``, if all of it adds up; most often the error is a hundredth of
    that. Rounding is bounded likewise: where the sum varies so much over the box that it would show, the expansion is
    refused.
    """
    centre, half = 0.5 * (box[0] + box[1]), 0.5 * (box[1] - box[0])
    middle = np.array([0.5 * (axis[0] + axis[-1]) for axis in axes])
    rates = [2.0 * h * (axis - t) / epsilon for axis, h, t in zip(axes, half, middle, strict=True)]
    if log_v.size < _FEWEST or len(axes) > 4 or not all(_FLATTEST < np.abs(r).max() < _STEEPEST for r in rates):
        return None
    level = log_v + Cells.single(axes, epsilon, centre).tilt(centre)
    v = np.exp(level - level.max())
    bases = [_Basis.of(rate, scale, tol) for rate, scale in zip(rates, epsilon / (2.0 * half), strict=True)]
    terms = contract_linear(v, [basis.coordinates for basis in bases])
    budget, effect = tol * _least(v, rates), np.abs(terms) * _outer([basis.reach for basis in bases])
    if 2.0**-50 * float(effect.sum()) > budget:
        return None
    shapes = _shapes(effect, 0.25 * budget)
    first, second = _halves(terms, bases, shapes, 0.25 * budget)
    if 1.3 * (first.matrix.size + second.matrix.size) > 2 * v.size:  # what the exact factors take
        return None
    return BoxMap(centre, half, middle, _coefficients(bases, effect, shapes, 0.25 * budget), first, second)


@dataclass(frozen=True)
class _Basis:
    """The functions that span exp(a x) over the rates a of one column, the largest first."""

    coefficients: Array  # of Chebyshev polynomials, (functions, degrees)
    coordinates: Array  # of each exponential in the functions, (functions, rates)
    slope: Array  # derivatives times epsilon / (2 h) as sums of the functions, (functions, functions)
    largest: Array  # value of every function in the box
    reach: Array  # largest effect of every function on a rank image, through its value or its slope

    @staticmethod
    def of(rate: Array, scale: float, tol: float) -> _Basis:
        """Decompose the Chebyshev coefficients of the exponentials."""
        from scipy.special import iv

        order = np.arange(_DEGREE + 1)[:, None]
        left, size, right = np.linalg.svd(np.where(order == 0, 1.0, 2.0) * iv(order, rate), full_matrices=False)
        kept = size > 1e-4 * tol * size[0]
        root, right = np.sqrt(size[kept]), right[kept]
        coefficients = (left[:, kept] * root).T
        slope = scale * (right * rate) @ right.T * root / root[:, None]
        values = coefficients @ chebyshev_values(chebyshev_nodes(200), _DEGREE + 1)
        largest, steepest = np.abs(values).max(axis=1), np.abs(slope @ values).max(axis=1)
        return _Basis(coefficients, root[:, None] * right, slope, largest, np.maximum(largest, steepest))


def _outer(vectors: Sequence[Array]) -> Array:
    return np.asarray(reduce(np.multiply.outer, vectors, np.ones(())))


def _least(v: Array, rates: list[Array]) -> float:
    """Bound F from below on the box: its logarithm is convex, hence above its tangent at the centre."""
    total, fall = float(v.sum()), 0.0
    for k, rate in enumerate(rates):
        marginal = v.sum(axis=tuple(j for j in range(v.ndim) if j != k))
        fall += abs(float(marginal @ rate)) / total
    return total * float(np.exp(-fall))


@dataclass(frozen=True)
class _Stairs:
    """The products kept of one half: of the functions of two columns those under a staircase, of one the first few."""

    counts: tuple[int, ...]
    shape: tuple[int, ...]  # functions needed of each column

    @staticmethod
    def of(effect: Array, budget: float) -> _Stairs:
        """Drop the smallest effects, (functions of each column), as long as they stay within the budget together."""
        order = np.argsort(effect, axis=None, kind="stable")
        dropped = int(np.searchsorted(np.cumsum(effect.ravel()[order]), budget, side="right"))
        kept = np.zeros(effect.size, dtype=bool)
        kept[order[min(dropped, len(order) - 1) :]] = True
        table = kept.reshape(-1, effect.shape[-1] if effect.ndim else 1)
        last = np.where(table, np.arange(1, table.shape[1] + 1), 0).max(axis=1)
        counts = np.maximum.accumulate(last[::-1])[::-1]
        counts = counts[counts > 0]
        return _Stairs(tuple(map(int, counts)), (len(counts), int(counts[0]))[2 - effect.ndim :])

    @property
    def places(self) -> NDArray[np.bool_]:
        """Which products of the needed functions are kept, flat."""
        return np.concatenate([np.arange(max(self.counts)) < count for count in self.counts])


def _shapes(effect: Array, budget: float) -> tuple[_Stairs, _Stairs]:
    """Return which products of each half are needed, given the effect of every product of all columns."""
    split, m = effect.ndim // 2, effect.ndim
    first = effect.sum(axis=tuple(range(split, m)))
    return _Stairs.of(first, budget), _Stairs.of(effect.sum(axis=tuple(range(split))), budget)


def _halves(terms: Array, bases: Sequence[_Basis], shapes: tuple[_Stairs, _Stairs], budget: float) -> tuple[Half, Half]:
    """Split the coefficients between the halves, and let each half know its slopes."""
    split = len(bases) // 2
    sides = bases[:split], bases[split:]
    needed = [slice(count) for shape in shapes for count in shape.shape]
    core = terms[tuple(needed)].reshape(len(shapes[0].places), -1)[np.ix_(shapes[0].places, shapes[1].places)]
    left, right = _separated(core, _reach(sides[0], shapes[0]), _reach(sides[1], shapes[1]), budget)
    return _half(left, sides[0], shapes[0]), _half(right, sides[1], shapes[1])


def _reach(bases: Sequence[_Basis], stairs: _Stairs) -> Array:
    """Return the largest effect of every kept product of one half."""
    reaches = [basis.reach[:count] for basis, count in zip(bases, stairs.shape, strict=True)]
    return np.asarray(_outer(reaches).ravel()[stairs.places])


def _separated(core: Array, left_reach: Array, right_reach: Array, budget: float) -> tuple[Array, Array]:
    """Return factors (terms, products) of each half whose product is the core, up to effects within the budget."""
    weighted = left_reach[:, None] * core * right_reach
    left, size, right = np.linalg.svd(weighted, full_matrices=False)
    n_terms = 1
    while n_terms < len(size) and np.abs((left[:, n_terms:] * size[n_terms:]) @ right[n_terms:]).sum() > budget:
        n_terms += 1
    root = np.sqrt(size[:n_terms])
    return (left[:, :n_terms] * root).T / left_reach, root[:, None] * right[:n_terms] / right_reach


def _half(factor: Array, bases: Sequence[_Basis], stairs: _Stairs) -> Half:
    whole = np.zeros((len(factor), len(stairs.places)))
    whole[:, stairs.places] = factor
    whole = whole.reshape(len(factor), *stairs.shape)
    layers = [whole]
    for k, (basis, count) in enumerate(zip(bases, stairs.shape, strict=True), start=1):
        layers.append(np.moveaxis(np.tensordot(whole, basis.slope[:count, :count], axes=(k, 0)), -1, k))
    matrix = np.stack([layer.reshape(len(factor), -1)[:, stairs.places] for layer in layers])
    return Half(stairs.counts, matrix)


def _coefficients(
    bases: Sequence[_Basis], effect: Array, shapes: tuple[_Stairs, _Stairs], budget: float
) -> tuple[Array, ...]:
    """Return the Chebyshev coefficients of the needed functions, without degrees that are too small to be seen."""
    counts = [count for shape in shapes for count in shape.shape]
    degree = 0
    for k, basis in enumerate(bases):
        by_function = effect.sum(axis=tuple(j for j in range(effect.ndim) if j != k)) / basis.largest
        beyond = np.cumsum((by_function @ np.abs(basis.coefficients))[::-1])[::-1]
        degree = max(degree, int(np.count_nonzero(beyond > budget / len(bases))))
    return tuple(
        np.ascontiguousarray(basis.coefficients[:count, :degree]) for basis, count in zip(bases, counts, strict=True)
    )
