"""Rows in the order of their uncertainty, counted: what every metric is computed from, resampled or not.

A bootstrap resample is a count per row. Rows are sorted once per method; each resample then only counts them anew, and
every metric is a sum over the counts. Rows of equal uncertainty form one group, inside which the order is random: the
metrics are expectations over it, in closed form. A row drawn twice is such a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array


@dataclass(frozen=True, eq=False)
class Order:
    """Rows sorted by one number, lowest first, and where each group of equal numbers starts."""

    rows: NDArray[np.intp]
    starts: NDArray[np.intp]

    @staticmethod
    def of(values: Array) -> Order:
        """Sort rows by ``values``, shape (rows,); infinities are numbers like any other."""
        rows = np.argsort(values, kind="stable")
        ordered = values[rows]
        fresh = np.ones(len(rows), dtype=bool)
        fresh[1:] = ordered[1:] != ordered[:-1]
        return Order(rows, np.flatnonzero(fresh))

    def grouped(self, counts: Array) -> Array:
        """Return the sums over each group, shape (groups, resamples), of ``counts``, shape (rows, resamples)."""
        ordered = np.take(counts, self.rows, axis=0)
        return ordered if len(self.starts) == len(self.rows) else np.add.reduceat(ordered, self.starts, axis=0)


@dataclass(frozen=True, eq=False)
class Tally:
    """Groups of equally uncertain rows, least uncertain first, counted in each resample.

    Resamples of rows all have the same number of rows; resamples of whole groups of rows may not.

    Parameters
    ----------
    rows
        How many rows of each group a resample holds, shape (groups, resamples).
    target
        The sum of their label or quality, same shape.
    ideal
        The same resamples in the best order that exists, rows of high target first; None where it is not needed.
    whole
        Whether all targets are whole numbers, as labels are; it only saves time.
    """

    rows: Array
    target: Array
    ideal: Tally | None = None
    whole: bool = False

    @cached_property
    def n(self) -> Array:
        """Rows in each resample, shape (resamples,)."""
        return np.asarray(self.rows_through[-1])

    @cached_property
    def harmonic(self) -> Array:
        """The harmonic numbers H_0 ... H_n, up to the largest number of rows in a resample."""
        return harmonic_numbers(int(self.n.max(initial=0.0)))

    @cached_property
    def target_sum(self) -> Array:
        """Sum of the target in each resample, shape (resamples,)."""
        return np.asarray(self.target_through[-1])

    @cached_property
    def rows_through(self) -> Array:
        """Rows at most as uncertain as each group."""
        return running_sums(self.rows, whole=True)

    @cached_property
    def target_through(self) -> Array:
        """Sum of the target over rows at most as uncertain as each group."""
        return running_sums(self.target, whole=self.whole)

    @cached_property
    def rate(self) -> Array:
        """Mean target of each group, 0 where a resample holds none of its rows."""
        return self.target / np.maximum(self.rows, 1.0)

    @cached_property
    def slope(self) -> Array:
        """What the rows before a group have beyond its rate: how far the running mean falls inside it."""
        # Through a group or before it is the same: its own rows have its rate.
        return self.target_through - self.rows_through * self.rate

    @cached_property
    def mean_sum(self) -> Array:
        """Sum over k = 1 ... n of the mean target of the k least uncertain rows, shape (resamples,).

        With b rows of target sum t before a group of rate r, the expected mean is ``(t + (k - b) r) / k``, so that the
        group adds ``r`` per row and ``(t - b r) (1 / (b + 1) + ... + 1 / (b + w))``.
        """
        return self.target_sum + inner(self.slope, self.harmonic_steps(self._places, 0))

    def mean_sum_beyond(self, first: Array) -> Array:
        """Return the same sum over k = first + 1 ... n only; ``first`` has shape (resamples,)."""
        counted = np.clip(self.rows_through - first, 0.0, self.rows)
        place = first.astype(np.intp)
        return inner(self.rate, counted) + inner(
            self.slope, self.harmonic_steps(np.maximum(self._places, place), place)
        )

    @cached_property
    def steps_above(self) -> Array:
        """How much H falls, from group to group, as fewer rows remain that are more uncertain."""
        n = self.n.astype(np.intp)
        return -self.harmonic_steps(n - self._places, n)

    def harmonic_steps(self, places: NDArray[np.intp], start: NDArray[np.intp] | int) -> Array:
        """Return how much H grows from ``start``, then from group to group, to H at ``places``, (groups, resamples)."""
        grown = np.empty((len(self.rows) + 1, self.rows.shape[1]))
        grown[0] = self.harmonic[start]
        np.take(self.harmonic, places, out=grown[1:], mode="clip")  # in range as it is; "clip" writes in place
        return np.diff(grown, axis=0)

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        return self.rows_through.astype(np.intp)


def running_sums(values: Array, *, whole: bool) -> Array:
    """Return the running sums over the groups; whole numbers are summed as integers, which is several times faster."""
    if not whole:
        return np.cumsum(values, axis=0)
    return np.cumsum(values.astype(np.int32), axis=0, dtype=np.int32).astype(float)


def harmonic_numbers(n: int) -> Array:
    """Return the harmonic numbers H_0 ... H_n, H_k = 1 + 1/2 + ... + 1/k."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n + 1))])


def inner(one: Array, two: Array) -> Array:
    """Return the sum of products over the groups, for each resample."""
    return np.asarray(np.einsum("gb,gb->b", one, two))


def divided(above: Array, below: Array) -> Array:
    """Return ``above / below``, and NaN where ``below`` is 0."""
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0))
