r"""Cells of bounded tilt: what keeps a product of exponentials inside the range of a float64.

For a row z in the cell with centre c, and a grid coordinate t with the edge e on z's side (the largest t if
z > c, the smallest otherwise),

.. math:: -(z - t)^2 = -(c - t)^2 + 2 (z - c)(t - e) + (\text{terms without } t).

The terms without t cancel in every weight. The first term is a *tilt* of the grid that all rows of the cell
share; the second is at most 0, and at least -2 h D for a half-width h and a grid of width D. With
``h = REACH * epsilon / (2 m D)`` no product over m columns falls below exp(-REACH).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._run import scratch

# exp(-REACH) times exp(-REACH) is still far above the smallest float64, exp(-708).
REACH = 300.0


@dataclass(frozen=True)
class Cells:
    """Boxes of half-width ``half`` around ``origin``; an infinite half-width makes one cell of everything."""

    axes: tuple[Array, ...]
    epsilon: float
    origin: Array
    half: Array

    @staticmethod
    def bounded(axes: tuple[Array, ...], epsilon: float, origin: Array) -> Cells:
        """Cells small enough for any potentials."""
        widths = np.array([axis[-1] - axis[0] for axis in axes])
        with np.errstate(divide="ignore"):
            half = REACH * epsilon / (2.0 * len(axes) * widths)
        return Cells(axes, epsilon, origin, half)

    @staticmethod
    def single(axes: tuple[Array, ...], epsilon: float, origin: Array) -> Cells:
        """One cell for all rows; right when the tilted potentials themselves span less than ``2 * REACH``."""
        return Cells(axes, epsilon, origin, np.full(len(axes), np.inf))

    def groups(self, rows: Array) -> Iterator[tuple[Array, NDArray[np.intp]]]:
        """Yield the centre of each occupied cell and the indices of its rows."""
        if self.is_single:
            yield self.origin, np.arange(len(rows))
            return
        index = np.rint((rows - self.origin) / (2.0 * self.half))
        if not index.any():
            yield self.origin, np.arange(len(rows))
            return
        occupied, member = np.unique(index, axis=0, return_inverse=True)
        order = np.argsort(member.ravel(), kind="stable")
        bounds = np.searchsorted(member.ravel()[order], np.arange(len(occupied) + 1))
        step = np.where(np.isinf(self.half), 0.0, 2.0 * self.half)
        for cell, (start, stop) in zip(occupied, pairwise(bounds), strict=True):
            yield self.origin + cell * step, order[start:stop]

    def tilt(self, centre: Array) -> Array:
        """Return -(c - t)^2 / epsilon summed over columns, largest value 0 per column, over the whole grid."""
        total = np.zeros(tuple(len(axis) for axis in self.axes))
        for k, (axis, c) in enumerate(zip(self.axes, centre, strict=True)):
            part = -((c - axis) ** 2) / self.epsilon
            total += (part - part.max()).reshape([-1 if j == k else 1 for j in range(total.ndim)])
        return total

    def factors(self, rows: Array, centre: Array) -> list[Array]:
        """Return exp(2 (z - c)(t - e) / epsilon) per column, each (points on the axis, rows), in (0, 1]."""
        slopes = rows.T - centre[:, None]
        slopes *= 2.0 / self.epsilon
        if self._alike is not None:
            return list(_powers(slopes, self._alike, len(self.axes[0])).swapaxes(0, 1))
        return [_exponentials(*each) for each in zip(self.axes, slopes, self._steps, strict=True)]

    @cached_property
    def is_single(self) -> bool:
        """Whether one cell holds everything."""
        return bool(np.isinf(self.half).all())

    @cached_property
    def _steps(self) -> list[float | None]:
        """The distance between points of every axis, None where it varies."""
        return [_step(axis) for axis in self.axes]

    @cached_property
    def _alike(self) -> Array | None:
        """The distances, (columns, 1), if all axes are even and equally long: then they are worked on together."""
        steps = [step for step in self._steps if step is not None]
        return (
            np.array(steps)[:, None] if len({len(a) for a in self.axes}) == 1 and len(steps) == len(self.axes) else None
        )


def _step(axis: Array) -> float | None:
    steps = np.diff(axis)
    return float(steps.mean()) if len(steps) and np.ptp(steps) <= 1e-12 * steps.mean() else None


def _exponentials(axis: Array, slope: Array, step: float | None) -> Array:
    """Return exp((t - e) slope), (points on the axis, slopes), with the edge e where it is largest."""
    if step is None:
        return np.asarray(np.exp((axis[:, None] - np.where(slope > 0, axis[-1], axis[0])) * slope))
    return _powers(slope, np.array(step), len(axis))


def _powers(slopes: Array, step: Array, n_points: int) -> Array:
    """Return the same for even axes, (points, ...slopes): powers of one exponential, at a fifth of its cost."""
    powers, fall = scratch("powers", n_points, *slopes.shape), np.abs(slopes)
    fall *= -step
    np.exp(fall, out=fall)
    powers[0] = 1.0
    for below, power in pairwise(powers):
        np.multiply(below, fall, out=power)
    return np.where(slopes > 0, powers[::-1], powers)


def khatri_rao(factors: list[Array], n_rows: int, buffer: str | None = None) -> Array:
    """Column-wise Kronecker product: column i of the result is the outer product of column i of every factor.

    Rows of data run along the last axis, so that every inner loop is long and contiguous. With a ``buffer``, the
    result lies in scratch memory of that name.
    """
    if not factors:
        return np.ones((1, n_rows))
    product = factors[0]
    for k, factor in enumerate(factors[1:]):
        shape = len(product), len(factor), n_rows
        made = np.empty(shape) if buffer is None else scratch(f"{buffer} {k}", *shape)
        product = np.multiply(product[:, None, :], factor, out=made).reshape(-1, n_rows)
    return product


def stair_products(rows: Array, factor: Array, counts: Sequence[int], buffer: str) -> Array:
    """Multiply every row with the first few rows of a factor, as many as ``counts`` gives it, in a scratch buffer."""
    made, start = scratch(buffer, sum(counts), factor.shape[1]), 0
    for row, count in zip(rows, counts, strict=True):
        np.multiply(row, factor[:count], out=made[start : start + count])
        start += count
    return made
