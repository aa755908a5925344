"""Rows against a Cartesian grid, exactly, without ever forming the rows x targets matrix.

The Gaussian kernel is a product over columns. With the columns cut into two halves, P the Kronecker products of the
first half's factors (grid points x rows), Q of the second's, and V the potentials as a matrix of the same halves,

    K v  = sum over the grid of (V' P) * Q          K' u = P diag(u) Q'

so that a sweep is two matrix products per block of rows.
"""

from __future__ import annotations

import numpy as np

from vecuq.transport.blocks import spans
from vecuq.transport.cells import Cells, khatri_rao
from vecuq.transport.contraction import contract, safe_log
from vecuq.transport.targets import Array, Corners, Grid, Sources

__all__ = ["SeparableKernel", "push_corners"]

_ROWS = 1024


class SeparableKernel:
    """The kernel between sources and a grid, as the one step that Sinkhorn needs."""

    def __init__(self, sources: Sources, grid: Grid, epsilon: float) -> None:
        rows = sources.rows
        self.sources = sources
        self.grid = grid
        self.epsilon = epsilon
        self.cells = Cells.bounded(grid.axes, epsilon, 0.5 * (rows.min(axis=0) + rows.max(axis=0)))
        self.groups = [(centre, rows[members]) for centre, members in self.cells.groups(rows)]

    @property
    def work(self) -> int:
        """Exponentials of one sweep that no structure saves: occupied cells times grid points."""
        return len(self.groups) * self.grid.weights.size

    def push(self, log_v: Array) -> Array:
        """Return log K'u with u = a / (K v): the mass that each target would receive per unit of v."""
        total = np.full(self.grid.weights.shape, -np.inf)
        for centre, rows in self.groups:
            tilt = self.cells.tilt(centre)
            top = float((log_v + tilt).max())
            received = self._push_cell(np.exp(log_v + tilt - top), rows, centre)
            total = np.logaddexp(total, safe_log(received) + tilt - top)
        if self.sources.corners is not None:
            total = np.logaddexp(total, push_corners(self.sources.corners, self.grid.axes, self.epsilon, log_v))
        return total

    def _push_cell(self, v: Array, rows: Array, centre: Array) -> Array:
        half = len(self.grid.axes) // 2
        matrix = v.reshape(int(np.prod(v.shape[:half])), -1)
        received = np.zeros_like(matrix)
        for span in spans(len(rows), _ROWS):
            factors = self.cells.factors(rows[span], centre)
            n_rows = span.stop - span.start
            P, Q = khatri_rao(factors[:half], n_rows), khatri_rao(factors[half:], n_rows)
            u = self.sources.row_weight / ((matrix.T @ P) * Q).sum(axis=0)
            received += P @ (u * Q).T
        return received.reshape(v.shape)


def push_corners(corners: Corners, axes: tuple[Array, ...], epsilon: float, log_v: Array) -> Array:
    """Return what the anchors send to the grid: log K'u, contracted axis by axis."""
    log_factors = [-((c[:, None] - axis) ** 2) / epsilon for c, axis in zip(corners.coordinates, axes, strict=True)]
    log_u = safe_log(corners.weights) - contract(log_v, log_factors)
    return contract(log_u, [factor.T for factor in log_factors])
