r"""From potentials to rank images: the barycentric projection.

.. math:: R(z) = \sum_j t_j w_j(z), \qquad w_j(z) \propto v_j \exp(-|z - t_j|^2 / \epsilon),

evaluated row by row, exactly, at any distance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vecuq._check import Array
from vecuq._run import BLOCK, in_blocks, scratch
from vecuq.transport.boxmap import BOX_BLOCK, BoxMap
from vecuq.transport.cells import REACH, Cells, khatri_rao
from vecuq.transport.expansion import box_map
from vecuq.transport.targets import Cloud, Grid

# A row costs as much as its block. A few rows take this smaller one, also a multiple of BLAS's tiles, where it has
# the same bits.
FEW = 96


@dataclass(frozen=True)
class GridMap:
    """The map onto a full Cartesian grid: two matrix products per block, whatever the number of targets."""

    axes: tuple[Array, ...]
    log_v: Array
    epsilon: float
    box: tuple[Array, Array] | None = None  # where most rows lie; there a shorter sum may do

    def __call__(self, rows: Array, n_jobs: int | None = None) -> Array:
        """Return the rank images, shape (rows, columns)."""
        if self._in_box is None:
            return self._anywhere(rows, n_jobs)
        inside = self._in_box.contains(rows)
        if inside.all():
            return in_blocks(self._in_box.images, rows, n_jobs, block=BOX_BLOCK)
        out = np.empty(rows.shape)
        out[inside] = in_blocks(self._in_box.images, rows[inside], n_jobs, block=BOX_BLOCK)
        out[~inside] = self._anywhere(rows[~inside], n_jobs)
        return out

    def _anywhere(self, rows: Array, n_jobs: int | None, block: int | None = None) -> Array:
        if block is None:
            block = FEW if len(rows) <= FEW and self._few_are_alike else BLOCK
        near = np.minimum(np.maximum(rows, self._saturation[0]), self._saturation[1])
        if self._cells.is_single:
            return in_blocks(self._images_at_home, near, n_jobs, block=block)
        groups = list(self._cells.groups(near))
        if len(groups) == 1:
            return in_blocks(self._images_in(groups[0][0]), near, n_jobs, block=block)
        out = np.empty(rows.shape)
        for centre, members in groups:
            out[members] = in_blocks(self._images_in(centre), near[members], n_jobs, block=block)
        return out

    @cached_property
    def _few_are_alike(self) -> bool:
        """Whether small blocks give the bits of large ones on this machine: which kernels BLAS takes, shapes decide."""
        reach = np.minimum(self._cells.half, 1.0)
        units = np.random.default_rng(0).uniform(-1.0, 1.0, size=(BLOCK, len(self.axes)))
        rows, images = self._cells.origin + reach * units, self._images_in(self._cells.origin)
        return bool(np.array_equal(in_blocks(images, rows, 1), in_blocks(images, rows, 1, block=FEW)))

    def _images_in(self, centre: Array) -> Callable[[Array], Array]:
        matrix = self._home if np.array_equal(centre, self._cells.origin) else self._tilt_to(centre)
        return lambda block: self._images(block, centre, matrix)

    def _images_at_home(self, block: Array) -> Array:
        return self._images(block, self._cells.origin, self._home)

    @cached_property
    def _in_box(self) -> BoxMap | None:
        if self.box is None:
            return None
        # For fewer columns accuracy costs little.
        for tol in (2e-8, 4e-9, 8e-10) if len(self.axes) == 4 else (1e-12,):
            short = box_map(self.axes, self.log_v, self.epsilon, self.box, tol)
            if short is not None and self._confirms(short):
                return short
        return None

    def _confirms(self, short: BoxMap) -> bool:
        """Whether the short sum is the map, at the corners of the box and at random points in it."""
        m = len(self.axes)
        corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * m, indexing="ij"), axis=-1).reshape(-1, m)
        units = np.concatenate([corners, np.random.default_rng(0).uniform(-1.0, 1.0, size=(200, m))])
        rows = short.centre + short.half * units
        return bool(np.abs(short.images(rows) - self.exactly(rows)).max() <= 3e-10)

    def exactly(self, rows: Array) -> Array:
        """Return the rank images of a few rows as they are; the last bits may depend on how many they are."""
        return self._anywhere(rows, 1, block=len(rows))

    @cached_property
    def _saturation(self) -> tuple[Array, Array]:
        """Where all weight but exp(-40) lies on the outermost slab of an axis: beyond, the image is constant."""
        zero = np.zeros(len(self.axes))
        level = self.log_v + Cells.single(self.axes, self.epsilon, zero).tilt(zero)
        nats = float(np.ptp(level)) + np.log(level.size) + 40.0
        last = np.array([axis[-1] - axis[-2] for axis in self.axes])
        first = np.array([axis[1] - axis[0] for axis in self.axes])
        with np.errstate(over="ignore"):  # nowhere, for an epsilon near the largest float64
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

    def _tilt_to(self, centre: Array) -> Array:
        level = self.log_v + self._cells.tilt(centre)
        half = len(self.axes) // 2
        return np.asarray(np.exp(level - level.max()).reshape(int(np.prod(level.shape[:half])), -1))

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """Per half of the columns: the coordinates of its grid points, and a row of ones."""
        half = len(self.axes) // 2
        return _coordinates(self.axes[:half]), _coordinates(self.axes[half:])

    def _images(self, rows: Array, centre: Array, v: Array) -> Array:
        factors = self._cells.factors(rows, centre)
        half = len(factors) // 2
        P, Q = khatri_rao(factors[:half], len(rows), "map P"), khatri_rao(factors[half:], len(rows), "map Q")
        first, second = self._moments
        # Weight of every grid point of one half, summed over the other half.
        weights = np.matmul(v.T, P, out=scratch("map weights", v.shape[1], len(rows)))
        right = second @ np.multiply(weights, Q, out=weights)
        others = np.matmul(v, Q, out=scratch("map weights", len(v), len(rows))) if half else None
        left = right[-1:] if others is None else first @ np.multiply(P, others, out=others)
        return np.concatenate([left[:-1] / left[-1], right[:-1] / right[-1]]).T


def _coordinates(axes: tuple[Array, ...]) -> Array:
    if not axes:
        return np.ones((1, 1))
    mesh = np.stack(np.meshgrid(*axes, indexing="ij")).reshape(len(axes), -1)
    return np.concatenate([mesh, np.ones((1, mesh.shape[1]))])


@dataclass(frozen=True)
class CloudMap:
    """The map onto any cloud of targets; time per row grows with their number."""

    points: Array
    log_v: Array
    epsilon: float

    def __call__(self, rows: Array, n_jobs: int | None = None) -> Array:
        """Return the rank images, shape (rows, columns)."""
        out = np.empty(rows.shape)
        far = (np.abs(rows) > _FAR).any(axis=1)
        out[~far] = in_blocks(self._images, rows[~far], n_jobs, block=_CLOUD_BLOCK)
        out[far] = in_blocks(self._far_images, rows[far], n_jobs, block=_CLOUD_BLOCK)
        return out

    @cached_property
    def _level(self) -> Array:
        return np.asarray(self.log_v - (self.points**2).sum(axis=1) / self.epsilon)

    def _images(self, rows: Array) -> Array:
        return self._project((np.ascontiguousarray(rows) * (2.0 / self.epsilon)) @ self.points.T + self._level)

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
# A row costs as much as its block, and here every row costs as many exponentials as there are targets.
_CLOUD_BLOCK = 48


def rank_map(
    targets: Grid | Cloud, log_v: Array, epsilon: float, *, box: tuple[Array, Array] | None = None
) -> GridMap | CloudMap:
    """Return the map for these targets: a full grid keeps its structure, anything else is a cloud."""
    if isinstance(targets, Grid) and targets.is_full:
        return GridMap(targets.axes, log_v, epsilon, box)
    live = targets.weights > 0
    points = targets.points if isinstance(targets, Grid) else targets.points[live]
    return CloudMap(points, log_v[live], epsilon)


def sums_of_squares(rows: Array) -> Array:
    """Add column by column: NumPy's own row sums round differently for one row than for many."""
    total = np.zeros(len(rows))
    for k in range(rows.shape[1]):
        total += rows[:, k] ** 2
    return total


def lengths(rows: Array) -> Array:
    """Euclidean length of each row, without overflow; the scale is a power of two, so that no digit is lost."""
    exponent = np.frexp(rows.max(axis=1, keepdims=True))[1]
    return np.asarray(np.ldexp(np.sqrt(sums_of_squares(np.ldexp(rows, -exponent))), exponent[:, 0]))
