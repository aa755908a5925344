r"""Many columns by two levels of maps: each group of columns is ranked, and the ranks of the groups are ranked.

With :math:`R_g` the map of group g, :math:`[a_g, b_g]` its lengths at the two corners of the calibration box, and
:math:`\omega_g` the share of the columns that the group holds (the largest 1),

.. math:: y_g(z) = \omega_g\, (|R_g(z_g)| - a_g) / (b_g - a_g), \qquad
          R(z)_k = T_g(y(z))\, R_g(z_g)_k / |R_g(z_g)| \quad (k \in g),

where T is a map of the y. So :math:`|R(z)| = |T(y(z))|`. If every length grows with its columns, so does this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vecuq._check import Array
from vecuq.transport.maps import CloudMap, GridMap, sums_of_squares

OneMap = GridMap | CloudMap
Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class FirstLevel:
    """From scaled rows to one number per group: 0 at the lower corner of the box, its weight at the upper one."""

    groups: Groups  # places of the columns of each group
    maps: tuple[OneMap, ...]
    low: Array  # (columns,): the calibration box
    high: Array
    column_weights: Array | None = None  # as in Scaler.weights
    signed: bool = False  # then the least length is 0, at the centre of the box

    def __call__(self, rows: Array, n_jobs: int | None = None) -> tuple[Array, Array]:
        """Return directions, (rows, columns), of length 1 in each group, and levels, (rows, groups)."""
        directions, lengths = self._images(rows, n_jobs)
        return directions, (lengths - self._least) / self._span * self.high_levels

    @cached_property
    def high_levels(self) -> Array:
        """The level of each group at the upper corner: its share of the columns, or of their weights; largest 1."""
        weights = np.ones(len(self.high)) if self.column_weights is None else self.column_weights
        shares = np.array([weights[list(group)].sum() for group in self.groups])
        return np.asarray(shares / shares.max())

    @cached_property
    def _corner_lengths(self) -> Array:
        return self._images(np.stack([self.low, self.high]), 1)[1]

    @cached_property
    def _least(self) -> Array:
        return np.zeros(len(self.groups)) if self.signed else self._corner_lengths[0]

    @cached_property
    def _span(self) -> Array:
        return np.asarray(self._corner_lengths[1] - self._least)

    def _images(self, rows: Array, n_jobs: int | None) -> tuple[Array, Array]:
        """Return the images of all groups, each divided by its length, and the lengths."""
        directions, lengths = np.empty(rows.shape), np.empty((len(rows), len(self.groups)))
        for number, (group, one) in enumerate(zip(self.groups, self.maps, strict=True)):
            found = one(np.ascontiguousarray(rows[:, group]), n_jobs)
            length = np.sqrt(sums_of_squares(found))
            with np.errstate(invalid="ignore"):  # 0 / 0, at the very centre of a ball, where no direction is known
                unit = found / length[:, None]
            directions[:, group] = np.where(length[:, None] > 0, unit, len(group) ** -0.5)
            lengths[:, number] = length
        return directions, lengths


@dataclass(frozen=True, eq=False)
class GroupedMap:
    """Rank images of many columns; their length is that of the second level's image."""

    first: FirstLevel
    top: OneMap
    low: Array  # (groups,): the box of the calibration rows' levels
    high: Array

    def __call__(self, rows: Array, n_jobs: int | None = None) -> Array:
        """Return the rank images, shape (rows, columns)."""
        images, levels = self.first(rows, n_jobs)
        top = self.top(levels, n_jobs)
        for number, group in enumerate(self.first.groups):
            images[:, group] *= top[:, number, None]
        return images

    @property
    def maps(self) -> tuple[OneMap, ...]:
        """The maps of all groups, and then that of their levels."""
        return (*self.first.maps, self.top)


RankMap = OneMap | GroupedMap


def maps_in(rank_map: RankMap) -> tuple[OneMap, ...]:
    """Return the maps that a map consists of: itself, or those of two levels."""
    return rank_map.maps if isinstance(rank_map, GroupedMap) else (rank_map,)
