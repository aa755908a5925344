r"""Rows replaced by a few hundred numbers: their Chebyshev moments on a box.

A sweep of Sinkhorn needs sums over rows of a smooth function, :math:`\sum_i h(z_i)`. With the interpolant of h at
q Chebyshev nodes per column such a sum is a fixed linear combination of the moments

.. math:: \mu_\alpha = \sum_i \prod_k T_{\alpha_k}(x_{ik}), \qquad 0 \le \alpha_k < q,

with x the row brought to [-1, 1]. Moments of different chunks simply add, and after one pass no sweep touches a
row again: the rows become signed weights on the q^m nodes, and the nodes are a Cartesian grid like the targets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq.transport.cells import Cells, khatri_rao
from vecuq.transport.contraction import contract_linear, safe_log
from vecuq.transport.separable import CornerKernel
from vecuq.transport.targets import Corners, Grid

# More than anybody can pay for, however steep; its powers are still finite.
_MOST_NODES = 1e9


def chebyshev_nodes(q: int) -> Array:
    """Return the q zeros of the Chebyshev polynomial of degree q, increasing, in (-1, 1)."""
    return -np.cos(np.pi * (np.arange(q) + 0.5) / q)


def chebyshev_values(x: Array, q: int, out: Array | None = None) -> Array:
    """Return T_0(x) .. T_(q-1)(x), shape (q, *x.shape), twice as many at every step: T_(a+j) = 2 T_a T_j - T_(a-j)."""
    values = np.empty((q, *x.shape)) if out is None else out
    values[0] = 1.0
    if q > 1:
        values[1] = x
    known = 2
    while known < q:
        top, more = known - 1, min(known - 1, q - known)
        made = values[known : known + more]
        np.multiply(2.0 * values[top], values[1 : more + 1], out=made)
        made -= values[top - more : top][::-1]
        known += more
    return values


def node_weights(moments: Array) -> Array:
    """Return the signed weights on the Chebyshev nodes that integrate like the rows; they sum to the row count."""
    return contract_linear(moments, [chebyshev_basis(moments.shape[0]).T] * moments.ndim)


def nodes_needed(steepness: float) -> int:
    """Return how many nodes per column bring the score error below about 1e-10 (measured in docs/adr/0010).

    ``steepness`` is (width of the box) x (width of the grid) / epsilon, 2 at the defaults.
    """
    return math.ceil(min(4.0 + 5.6 * math.sqrt(steepness), _MOST_NODES))


@dataclass(frozen=True)
class Nodes:
    """Signed weights on a Cartesian grid of Chebyshev nodes, standing for rows."""

    axes: tuple[Array, ...]
    weights: Array

    @staticmethod
    def of(moments: Array, low: Array, high: Array, row_weight: float) -> Nodes:
        """Put moments on the nodes of the box from ``low`` to ``high``."""
        units = 0.5 * (1.0 + chebyshev_nodes(moments.shape[0]))
        axes = tuple(a + (b - a) * units for a, b in zip(low, high, strict=True))
        return Nodes(axes, row_weight * node_weights(moments))


class ProjectedKernel:
    """The kernel between nodes and a grid, as the one step that Sinkhorn needs."""

    def __init__(self, nodes: Nodes, corners: Corners | None, grid: Grid, epsilon: float) -> None:
        self.nodes, self.grid = nodes, grid
        self.corners = None if corners is None else CornerKernel(corners, grid.axes, epsilon)
        places = np.column_stack(nodes.axes)
        centre = 0.5 * (places[0] + places[-1])
        cells = Cells.single(grid.axes, epsilon, centre)
        self.tilt = cells.tilt(centre)
        self.factors = [factor.T for factor in cells.factors(places, centre)]

    def push(self, log_v: Array) -> Array:
        """Return log K'u with u = w / (K v); NaN where the signed weights give a target less than nothing."""
        level = log_v + self.tilt
        top = float(level.max())
        u = self.nodes.weights / contract_linear(np.exp(level - top), self.factors)
        received = contract_linear(u, [factor.T for factor in self.factors])
        with np.errstate(invalid="ignore"):
            total = safe_log(received) + self.tilt - top
            if self.corners is not None:
                total = np.logaddexp(total, self.corners.push(log_v))
        return np.asarray(total)

    def interpolation_error(self, log_v: Array, image: Callable[[Array], Array], n_points: int = 24) -> float:
        """Return how far the map, interpolated from the nodes, misses the map at random points of the box.

        What the sketch assumes is that functions like this one are known from their values at the nodes.
        """
        level = log_v + self.tilt
        v = np.exp(level - level.max())
        total = contract_linear(v, self.factors)
        places = np.column_stack(self.nodes.axes)
        units = np.random.default_rng(0).uniform(-1.0, 1.0, size=(n_points, places.shape[1]))
        exact = image(
            0.5 * (places[0] + places[-1]) + 0.5 * units * (places[-1] - places[0]) / -chebyshev_nodes(len(places))[0]
        )
        worst = 0.0
        for k, axis in enumerate(self.grid.axes):
            moment = [f * axis if j == k else f for j, f in enumerate(self.factors)]
            guess = interpolate(contract_linear(v, moment) / total, units)
            worst = max(worst, float(np.abs(guess - exact[:, k]).max()))
        return worst


def interpolate(values: Array, units: Array) -> Array:
    """Evaluate the interpolant through values on the nodes at points of [-1, 1] per column."""
    q, m = values.shape[0], values.ndim
    basis = chebyshev_basis(q)
    factors = [basis.T @ chebyshev_values(x, q) for x in units.T]
    left, right = khatri_rao(factors[: m // 2], len(units)), khatri_rao(factors[m // 2 :], len(units))
    return np.asarray((left * (values.reshape(len(left), -1) @ right)).sum(axis=0))


def chebyshev_basis(q: int) -> Array:
    """Return the coefficients of the interpolation polynomials: T_r at the nodes, normalised."""
    basis = chebyshev_values(chebyshev_nodes(q), q) * (2.0 / q)
    basis[0] *= 0.5
    return basis
