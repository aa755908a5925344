"""Rows against a Cartesian grid, exactly, without ever forming the rows x targets matrix.

The Gaussian kernel is a product over columns. With the columns cut into two halves, P the Kronecker products of the
first half's factors (grid points x rows), Q of the second's, and V the potentials as a matrix of the same halves,

    K v  = sum over the grid of (V' P) * Q          K' u = P diag(u) Q'

so that a sweep is two matrix products per block of rows.
"""

from __future__ import annotations

import numpy as np

from vecuq._check import Array
from vecuq._run import spans
from vecuq.transport.cells import Cells, khatri_rao
from vecuq.transport.contraction import Contraction, safe_log
from vecuq.transport.targets import Corners, Grid, Sources

_ROWS = 1024
# Kronecker products are kept from sweep to sweep if they take no more bytes than this.
_KEPT = 64 * 2**20


class SeparableKernel:
    """The kernel between sources and a grid, as the one step that Sinkhorn needs."""

    def __init__(self, sources: Sources, grid: Grid, epsilon: float) -> None:
        rows = sources.rows
        self.sources = sources
        self.grid = grid
        self.cells = Cells.bounded(grid.axes, epsilon, 0.5 * (rows.min(axis=0) + rows.max(axis=0)))
        self.groups = [(centre, rows[members]) for centre, members in self.cells.groups(rows)]
        self.corners = None if sources.corners is None else CornerKernel(sources.corners, grid.axes, epsilon)
        self.half = len(grid.axes) // 2
        sides = [int(np.prod(grid.weights.shape[: self.half])), int(np.prod(grid.weights.shape[self.half :]))]
        self.kept: dict[tuple[int, int], tuple[Array, Array]] | None = (
            {} if len(rows) * sum(sides) * 8 <= _KEPT else None
        )
        self.tilt = self.cells.tilt(self.groups[0][0]) if len(self.groups) == 1 else None

    @property
    def work(self) -> int:
        """Exponentials of one sweep that no structure saves: occupied cells times grid points."""
        return len(self.groups) * self.grid.weights.size

    def push(self, log_v: Array) -> Array:
        """Return log K'u with u = a / (K v): the mass that each target would receive per unit of v."""
        total = None if self.corners is None else self.corners.push(log_v)
        for k, (centre, rows) in enumerate(self.groups):
            tilt = self.cells.tilt(centre) if self.tilt is None else self.tilt
            level = log_v + tilt
            top = float(level.max())
            received = safe_log(self._push_cell(np.exp(level - top), k, rows, centre)) + (tilt - top)
            total = received if total is None else np.logaddexp(total, received)
        return np.asarray(total)

    def _push_cell(self, v: Array, cell: int, rows: Array, centre: Array) -> Array:
        matrix = v.reshape(int(np.prod(v.shape[: self.half])), -1)
        received = np.zeros_like(matrix)
        for span in spans(len(rows), _ROWS):
            P, Q = self._products(cell, span, rows, centre)
            u = self.sources.row_weight / np.einsum("kb,kb->b", matrix.T @ P, Q)
            received += P @ (u * Q).T
        return received.reshape(v.shape)

    def _products(self, cell: int, span: slice, rows: Array, centre: Array) -> tuple[Array, Array]:
        if self.kept is not None and (cell, span.start) in self.kept:
            return self.kept[cell, span.start]
        factors, n_rows = self.cells.factors(rows[span], centre), span.stop - span.start
        made = khatri_rao(factors[: self.half], n_rows), khatri_rao(factors[self.half :], n_rows)
        if self.kept is not None:
            self.kept[cell, span.start] = made
        return made


class CornerKernel:
    """The kernel between the anchors, a grid of two points per column, and the target grid."""

    def __init__(self, corners: Corners, axes: tuple[Array, ...], epsilon: float) -> None:
        self.log_a = safe_log(corners.weights)
        log_factors = [-((c[:, None] - axis) ** 2) / epsilon for c, axis in zip(corners.coordinates, axes, strict=True)]
        self.forth, self.back = Contraction(log_factors), Contraction([factor.T for factor in log_factors])

    def push(self, log_v: Array) -> Array:
        """Return log K'u, contracted axis by axis."""
        return self.back(self.log_a - self.forth(log_v))
