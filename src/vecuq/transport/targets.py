"""The two sides of a transport problem: scattered rows and corners on one, a grid or a cloud on the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vecuq._check import Array


@dataclass(frozen=True)
class Grid:
    """A Cartesian grid of weighted points: one increasing axis per column, one weight per grid point.

    A weight of zero leaves that grid point out, so a ball or a chosen subset is a grid with points left out.
    """

    axes: tuple[Array, ...]
    weights: Array

    @property
    def size(self) -> int:
        """Number of points that carry weight."""
        return int(np.count_nonzero(self.weights))

    @property
    def is_full(self) -> bool:
        """Whether every grid point carries weight."""
        return bool((self.weights > 0).all())

    @property
    def points(self) -> Array:
        """The points that carry weight, shape (size, columns), in the order of the flattened grid."""
        mesh = np.stack(np.meshgrid(*self.axes, indexing="ij"), axis=-1)
        return np.ascontiguousarray(mesh[self.weights > 0])


@dataclass(frozen=True)
class Cloud:
    """Any weighted points, shape (size, columns)."""

    points: Array
    weights: Array

    @property
    def size(self) -> int:
        """Number of points."""
        return len(self.points)


@dataclass(frozen=True)
class Corners:
    """A two-point grid per column: the corners of a box, with one weight each (zero for a corner left out)."""

    coordinates: Array  # (columns, 2)
    weights: Array  # (2,) * columns

    @property
    def mass(self) -> float:
        """The total weight of the corners."""
        return math.fsum(self.weights.ravel())

    @property
    def points(self) -> Array:
        """The corners that carry weight, shape (corners, columns)."""
        mesh = np.stack(np.meshgrid(*self.coordinates, indexing="ij"), axis=-1)
        return np.ascontiguousarray(mesh[self.weights > 0])


def shared_mass(n_rows: int, corners: Corners | None, most: float | None = None) -> tuple[float, Corners | None]:
    """Return the mass of one row, and the corners with theirs: all equal, unless the corners' total is capped."""
    if corners is None:
        return 1.0 / n_rows, None
    count = np.count_nonzero(corners.weights)
    mass = float(count / (n_rows + count))
    mass = mass if most is None else min(mass, most)
    weights = np.where(corners.weights > 0, mass / count, 0.0)
    return (1.0 - mass) / n_rows, Corners(corners.coordinates, weights)


@dataclass(frozen=True)
class Sources:
    """Calibration rows of equal weight, and the outer corners that share the total mass of one with them."""

    rows: Array
    row_weight: float
    corners: Corners | None = None

    @staticmethod
    def of(rows: Array, corners: Corners | None = None, *, max_corner_mass: float | None = None) -> Sources:
        """Give each row and each corner the same mass; cap the corners' total mass if ``max_corner_mass`` is given."""
        return Sources(rows, *shared_mass(len(rows), corners, max_corner_mass))
