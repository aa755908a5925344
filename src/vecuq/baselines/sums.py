"""Sums of columns: raw, of min-max scores, of z-scores, and along the first principal component."""
# ruff: noqa: N801 - a combiner is called by its name in the catalogue: mean_rank().fit(...)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq.baselines.combiner import Combiner, Scorer
from vecuq.baselines.standard import minmax_of, standard_of


@dataclass(frozen=True, eq=False)
class WeightedSum:
    """The weighted sum of scaled columns."""

    scale: Callable[[Array], Array]
    weights: Array  # (columns,)

    def __call__(self, rows: Array) -> Array:
        """Add column by column: NumPy's own row sums round differently for one row than for many."""
        scaled, total = self.scale(rows), np.zeros(len(rows))
        for k, weight in enumerate(self.weights):
            total += weight * scaled[:, k]
        return total


class sum(Combiner):
    """Raw sum of the scores, as they come; any real number.

    ``s_1 + ... + s_m`` over all columns. Nothing is learned: the column with the largest unit decides.

    Examples
    --------
    >>> from vecuq import baselines
    >>> baselines.sum().fit([[0.0, 1.0], [2.0, 3.0]]).uncertainty([[1.0, 5.0]])
    array([6.])
    """

    def _learn(self, rows: Array) -> Scorer:
        return WeightedSum(_bounded, np.ones(rows.shape[1]))

    def _active_columns(self, rows: Array) -> list[int]:
        """Keep constant columns: a raw sum is of all there is."""
        super()._active_columns(rows)
        return list(range(rows.shape[1]))


class minmax_sum(Combiner):
    """Sum of the scores after min-max scaling per column; in [0, m] on calibration rows.

    ``sum over k of (s_k - min_k) / (max_k - min_k)``, extremes over the calibration rows; linear beyond them.

    References
    ----------
    Fox and Shaw, Combination of Multiple Searches (TREC-2, 1994): CombSUM.

    Examples
    --------
    >>> from vecuq import baselines
    >>> baselines.minmax_sum().fit([[0.0, 10.0], [4.0, 30.0]]).uncertainty([[2.0, 50.0]])
    array([2.5])
    """

    def _learn(self, rows: Array) -> Scorer:
        return WeightedSum(minmax_of(rows).transform, np.ones(rows.shape[1]))


class z_sum(Combiner):
    """Sum of the z-scores; any real number, 0 on average over the calibration rows.

    ``sum over k of (s_k - mean_k) / deviation_k``, both over the calibration rows, the deviation divided by n.

    References
    ----------
    Montague and Aslam, Relevance Score Normalization for Metasearch (CIKM 2001).

    Examples
    --------
    >>> from vecuq import baselines
    >>> baselines.z_sum().fit([[0.0, 10.0], [4.0, 30.0]]).uncertainty([[4.0, 20.0]])
    array([1.])
    """

    def _learn(self, rows: Array) -> Scorer:
        return WeightedSum(standard_of(rows), np.ones(rows.shape[1]))


class pca(Combiner):
    """First principal component of the z-scores; any real number, 0 on average over the calibration rows.

    ``sum over k of w_k z_k`` with w the unit eigenvector of the largest eigenvalue of the columns' correlation matrix,
    with the sign for which its entries sum to a positive number. If they cancel, as they always do for two columns of
    which one falls as the other rises, the longer tail over the calibration rows points up; failing that, the first
    column does. A negative entry is possible: then raising a score lowers the result.

    References
    ----------
    Hotelling, Analysis of a Complex of Statistical Variables into Principal Components (1933).

    Examples
    --------
    >>> from vecuq import baselines
    >>> baselines.pca().fit([[0.0, 10.0], [4.0, 30.0]]).uncertainty([[4.0, 30.0]]).round(4)
    array([1.4142])
    """

    directed = False  # the component finds its own signs

    def _learn(self, rows: Array) -> Scorer:
        standard = standard_of(rows)
        scaled = standard(rows)
        axis = np.linalg.eigh(scaled.T @ scaled / len(rows))[1][:, -1]
        return WeightedSum(standard, axis * _direction(axis, scaled @ axis))


def _direction(axis: Array, along: Array) -> float:
    """Return the sign that points an axis upwards, given where the calibration rows lie along it."""
    signs = [axis.sum(), (along**3).mean(), axis[np.argmax(np.abs(axis).round(9))]]
    return float(np.sign(next(sign for sign in signs if abs(sign) > 1e-9)))


def _bounded(rows: Array) -> Array:
    """Keep raw scores where a sum over many columns stays finite."""
    most = np.finfo(float).max / (rows.shape[1] + 1)  # one more than there are columns: sums round up
    return np.clip(rows, -most, most)
