r"""From potentials to rank images: the barycentric projection.

.. math:: R(z) = \sum_j t_j w_j(z), \qquad w_j(z) \propto v_j \exp(-|z - t_j|^2 / \epsilon),

evaluated row by row, exactly, at any distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vecuq.transport.blocks import in_blocks, one_blas_thread
from vecuq.transport.cells import REACH, Cells, khatri_rao
from vecuq.transport.targets import Array, Cloud, Grid

__all__ = ["CloudMap", "GridMap", "RankMap", "rank_map"]


@dataclass(frozen=True)
class GridMap:
    """The map onto a full Cartesian grid: two matrix products per block, whatever the number of targets."""

    axes: tuple[Array, ...]
    log_v: Array
    epsilon: float

    def __call__(self, rows: Array) -> Array:
        """Return the rank images, shape (rows, columns)."""
        near = np.clip(rows, self._saturation[0], self._saturation[1])
        out = np.empty(rows.shape)
        with one_blas_thread():
            for centre, members in self._cells.groups(near):
                matrix = self._tilted(centre)
                out[members] = in_blocks(lambda block, c=centre, v=matrix: self._images(block, c, v), near[members])  # type: ignore[misc]
        return out

    @cached_property
    def _saturation(self) -> tuple[Array, Array]:
        """Where all weight but exp(-40) lies on the outermost slab of an axis: beyond, the image is constant."""
        zero = np.zeros(len(self.axes))
        level = self.log_v + Cells.single(self.axes, self.epsilon, zero).tilt(zero)
        nats = float(np.ptp(level)) + np.log(level.size) + 40.0
        last = np.array([axis[-1] - axis[-2] for axis in self.axes])
        first = np.array([axis[1] - axis[0] for axis in self.axes])
        return -0.5 * self.epsilon * nats / first, 0.5 * self.epsilon * nats / last

    @cached_property
    def _cells(self) -> Cells:
        origin = np.array([0.5 * (axis[0] + axis[-1]) for axis in self.axes])
        single = Cells.single(self.axes, self.epsilon, origin)
        if np.ptp(self.log_v + single.tilt(origin)) <= 2.0 * REACH:
            return single
        return Cells.bounded(self.axes, self.epsilon, origin)

    @cached_property
    def _home(self) -> Array:
        return self._tilt_to(self._cells.origin)

    def _tilted(self, centre: Array) -> Array:
        return self._home if np.array_equal(centre, self._cells.origin) else self._tilt_to(centre)

    def _tilt_to(self, centre: Array) -> Array:
        level = self.log_v + self._cells.tilt(centre)
        half = len(self.axes) // 2
        return np.asarray(np.exp(level - level.max()).reshape(int(np.prod(level.shape[:half])), -1))

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """Per half of the columns: the coordinates of its grid points, and a column of ones."""
        half = len(self.axes) // 2
        return _coordinates(self.axes[:half]), _coordinates(self.axes[half:])

    def _images(self, rows: Array, centre: Array, v: Array) -> Array:
        factors = self._cells.factors(rows, centre)
        half = len(factors) // 2
        P, Q = khatri_rao(factors[:half], len(rows)), khatri_rao(factors[half:], len(rows))
        first, second = self._moments
        # Weight of every grid point of one half, summed over the other half.
        right = ((P @ v) * Q) @ second
        left = (P * (Q @ v.T)) @ first if half else right[:, -1:]
        return np.concatenate([left[:, :-1] / left[:, -1:], right[:, :-1] / right[:, -1:]], axis=1)


def _coordinates(axes: tuple[Array, ...]) -> Array:
    if not axes:
        return np.ones((1, 1))
    mesh = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    return np.column_stack([mesh, np.ones(len(mesh))])


@dataclass(frozen=True)
class CloudMap:
    """The map onto any cloud of targets; time per row grows with their number."""

    points: Array
    log_v: Array
    epsilon: float

    def __call__(self, rows: Array) -> Array:
        """Return the rank images, shape (rows, columns)."""
        out = np.empty(rows.shape)
        far = (np.abs(rows) > _FAR).any(axis=1)
        with one_blas_thread():
            out[~far] = in_blocks(self._images, rows[~far])
            out[far] = in_blocks(self._far_images, rows[far])
        return out

    @cached_property
    def _level(self) -> Array:
        return np.asarray(self.log_v - (self.points**2).sum(axis=1) / self.epsilon)

    def _images(self, rows: Array) -> Array:
        return self._project((rows * (2.0 / self.epsilon)) @ self.points.T + self._level)

    def _far_images(self, rows: Array) -> Array:
        """Add column by column, each 0 at its edge: a huge column then never drowns the others."""
        level = np.tile(self._level, (len(rows), 1))
        for k, t in enumerate(self.points.T):
            slope = (2.0 / self.epsilon) * rows[:, k, None]
            level += slope * (t - np.where(slope > 0, t.max(), t.min()))
        return self._project(level)

    def _project(self, level: Array) -> Array:
        weights = np.exp(level - level.max(axis=1, keepdims=True))
        return np.asarray((weights @ self.points) / weights.sum(axis=1, keepdims=True))


# Above this, 2 z t / epsilon loses digits that the other columns need.
_FAR = 1e3

RankMap = GridMap | CloudMap


def rank_map(targets: Grid | Cloud, log_v: Array, epsilon: float) -> RankMap:
    """Return the map for these targets: a grid without holes keeps its structure, anything else is a cloud."""
    if isinstance(targets, Grid) and targets.is_full:
        return GridMap(targets.axes, log_v, epsilon)
    live = targets.weights > 0
    points = targets.points if isinstance(targets, Grid) else targets.points[live]
    return CloudMap(points, log_v[live], epsilon)
