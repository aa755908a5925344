"""One-sided distance under a Gaussian copula."""
# ruff: noqa: N801 - a combiner is called by its name in the catalogue: mean_rank().fit(...)

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from vecuq._check import Array
from vecuq.baselines.combiner import Combiner, Scorer
from vecuq.baselines.ranks import middle_place, sorted_columns
from vecuq.errors import SettingError

# Every subset of the columns is looked at, so twice the work for one column more.
_MOST_COLUMNS = 10
# Keeps the correlation matrix regular when a column comes twice.
_RIDGE = 1e-6
# Rows at once: few enough for the columns to stay in the cache.
_ROWS = 4_096


@dataclass(frozen=True, eq=False)
class CopulaDistance:
    """Ranks to normal scores, normal scores to a one-sided distance."""

    ordered: Array  # (columns, calibration rows)
    levels: Array  # (2 * calibration rows + 1,): the normal score of every possible place
    correlation: Array  # (columns, columns)

    def __call__(self, rows: Array) -> Array:
        """Score in blocks; every block is worked column by column, so that a row is the same in any of them."""
        out = np.empty(len(rows))
        for start in range(0, len(rows), _ROWS):
            span = slice(start, start + _ROWS)
            out[span] = one_sided_distance(_normal_scores(rows[span], self.ordered, self.levels), self.correlation)
        return out


class copula(Combiner):
    """Signed distance, under a Gaussian copula, to the region where no score is above its median; any real number.

    Ranks become normal scores, ``z_k = Phi^-1((r_k + 1/2) / (n + 1))`` with ``r_k = #{c_k < s_k} + #{c_k = s_k} / 2``
    (ties are averaged), and C is their correlation matrix over the calibration rows. The result is ``min sqrt((z - v)'
    C^-1 (z - v))`` over all v with no entry above 0; for a row inside that region it is minus the distance to its
    border, ``max over k of z_k``. It rises with every score. Fisher's combination adds up the columns as if they were
    independent; here columns that say the same count once, and those below their median not at all. At most 10
    varying columns. Rows above all calibration rows in every column tie.

    References
    ----------
    Kudô, A multivariate analogue of the one-sided test (Biometrika 1963), on normal scores.

    Examples
    --------
    >>> from vecuq import baselines
    >>> calibration = [[float(k), float(k)] for k in range(99)]
    >>> baselines.copula().fit(calibration).uncertainty([[49.0, 49.0], [98.0, 98.0], [98.0, 0.0]]).round(3)
    array([0.   , 2.326, 2.326])
    """

    def _learn(self, rows: Array) -> Scorer:
        from scipy.special import ndtri

        n, m = rows.shape
        if m > _MOST_COLUMNS:
            raise SettingError(
                f"{m} varying score columns are too many for the copula distance; {_MOST_COLUMNS} is the limit. "
                f"Leave out columns that repeat others, or combine the groups first."
            )
        ordered = sorted_columns(rows)
        levels = np.asarray(ndtri((np.arange(2 * n + 1) + 1.0) / (2.0 * n + 2.0)))
        found = np.atleast_2d(np.corrcoef(_normal_scores(rows, ordered, levels), rowvar=False))
        return CopulaDistance(ordered, levels, (found + _RIDGE * np.eye(m)) / (1.0 + _RIDGE))


def one_sided_distance(z: Array, correlation: Array) -> Array:
    """Return the signed distance of each row of z to the negative orthant, in the metric of C^-1.

    The square is ``max of z_S' C_SS^-1 z_S`` over the subsets S of columns with ``C_SS^-1 z_S >= 0``: the multipliers
    of the nearest point are of this kind, and every other such S gives a lower bound (duality).
    """
    highest, columns = z.max(axis=1), np.ascontiguousarray(z.T)
    squared = np.zeros(len(z))
    for subset in _subsets(z.shape[1]):
        inverse = np.linalg.inv(correlation[np.ix_(subset, subset)])
        value, feasible = np.zeros(len(z)), np.ones(len(z), dtype=bool)
        for j, weights in zip(subset, inverse, strict=True):
            multiplier = np.zeros(len(z))
            for k, weight in zip(subset, weights, strict=True):
                multiplier += weight * columns[k]
            feasible &= multiplier >= 0
            value += multiplier * columns[j]
        np.maximum(squared, value, out=squared, where=feasible)
    return np.where(highest > 0, np.sqrt(squared), highest)


def _subsets(m: int) -> Iterator[list[int]]:
    return map(list, chain.from_iterable(combinations(range(m), size) for size in range(1, m + 1)))


def _normal_scores(rows: Array, ordered: Array, levels: Array) -> Array:
    return np.column_stack([levels[middle_place(column, rows[:, k])] for k, column in enumerate(ordered)])
