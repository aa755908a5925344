"""Outliers in score space. All look in every direction: a row far below the calibration rows is far, too."""
# ruff: noqa: N801 - a combiner is called by its name in the catalogue: mean_rank().fit(...)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq._check import Array, whole_number
from vecuq.baselines.combiner import Combiner, Scorer
from vecuq.baselines.standard import Standard, minmax_of, standard_of
from vecuq.errors import CalibrationError
from vecuq.transport import Scaler

# Added to the diagonal of the correlation matrix: total risk = Bayes + excess risk makes it singular.
_RIDGE = 1e-6
# Trees work in single precision.
_LIMIT = 1e30


@dataclass(frozen=True, eq=False)
class WhitenedLength:
    """The Euclidean length of whitened z-scores."""

    standard: Standard
    whitening: Array  # (columns, columns)

    def __call__(self, rows: Array) -> Array:
        """Add product by product: a matrix product rounds differently for one row than for many."""
        scaled, total = self.standard(rows), np.zeros(len(rows))
        for direction in self.whitening.T:
            along = np.zeros(len(rows))
            for k, weight in enumerate(direction):
                along += weight * scaled[:, k]
            total += along**2
        return np.sqrt(total)


@dataclass(frozen=True, eq=False)
class NeighbourDistance:
    """The distance to the k-th nearest calibration row, by a k-d tree."""

    standard: Standard
    tree: Any
    k: int

    def __call__(self, rows: Array) -> Array:
        """Look up row by row."""
        return np.asarray(self.tree.query(self.standard(rows), k=[self.k])[0][:, 0])


class mahalanobis(Combiner):
    """Mahalanobis distance of the score vector from the calibration mean; in [0, inf).

    ``sqrt(z' C^-1 z)`` with z the z-scores and C their correlation matrix plus 1e-6 on the diagonal, which keeps it
    regular when columns determine each other. It has no direction: very low scores are far from the mean, too.

    References
    ----------
    Mahalanobis, On the Generalized Distance in Statistics (1936).

    Examples
    --------
    >>> from vecuq import baselines
    >>> calibration = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
    >>> baselines.mahalanobis().fit(calibration).uncertainty([[3.0, 4.0]]).round(4)
    array([5.])
    """

    directed = False

    def _learn(self, rows: Array) -> Scorer:
        standard = standard_of(rows)
        scaled = standard(rows)
        correlation = scaled.T @ scaled / len(rows) + _RIDGE * np.eye(rows.shape[1])
        sizes, axes = np.linalg.eigh(correlation)
        return WhitenedLength(standard, axes / np.sqrt(sizes))


class knn(Combiner):
    """Distance to the k-th nearest calibration row, between z-scores; in [0, inf).

    It has no direction: very low scores are far from the calibration rows, too.

    Parameters
    ----------
    k
        Which neighbour; 1 is the nearest.
    columns, flip
        As in every combiner.

    References
    ----------
    Ramaswamy et al., Efficient Algorithms for Mining Outliers from Large Data Sets (SIGMOD 2000).

    Examples
    --------
    >>> from vecuq import baselines
    >>> calibration = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
    >>> baselines.knn(k=1).fit(calibration).uncertainty([[4.0, 5.0]])
    array([5.])
    """

    directed = False

    def __init__(self, k: int = 5, *, columns: Any = None, flip: Any = None) -> None:
        super().__init__(columns=columns, flip=flip)
        self.k = k

    def _learn(self, rows: Array) -> Scorer:
        from scipy.spatial import KDTree

        k = whole_number("k", self.k, 1)
        if k > len(rows):
            raise CalibrationError(f"k={k} neighbours need as many calibration rows; there are {len(rows)}.")
        standard = standard_of(rows)
        return NeighbourDistance(standard, KDTree(standard(rows)), k)


@dataclass(frozen=True, eq=False)
class Isolation:
    """How few random cuts it takes to set a row apart."""

    minmax: Scaler
    forest: Any

    def __call__(self, rows: Array) -> Array:
        """Return scikit-learn's score with the opposite sign."""
        return -np.asarray(self.forest.score_samples(_scaled(rows, self.minmax)))


class isolation_forest(Combiner):
    """Isolation forest: how few random cuts it takes to set a row apart from calibration rows; in (0, 1].

    ``2^(-mean depth / expected depth)``, by scikit-learn. It has no direction: very low scores are set apart, too.

    Parameters
    ----------
    n_trees
        Number of trees, each grown on at most 256 calibration rows.
    random_state
        Seed of the trees; None is a fixed seed too.
    columns, flip
        As in every combiner.

    References
    ----------
    Liu, Ting and Zhou, Isolation Forest (ICDM 2008).

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import baselines
    >>> calibration = np.random.default_rng(0).normal(size=(300, 2))
    >>> near, far = baselines.isolation_forest(random_state=0).fit(calibration).uncertainty([[0.0, 0.0], [5.0, 5.0]])
    >>> bool(near < far)
    True
    """

    directed = False

    def __init__(
        self, n_trees: int = 100, *, random_state: int | None = None, columns: Any = None, flip: Any = None
    ) -> None:
        super().__init__(columns=columns, flip=flip)
        self.n_trees = n_trees
        self.random_state = random_state

    def _learn(self, rows: Array) -> Scorer:
        from sklearn.ensemble import IsolationForest

        n_trees = whole_number("n_trees", self.n_trees, 1)
        random_state = 0 if self.random_state is None else whole_number("random_state", self.random_state, 0)
        minmax = minmax_of(rows)
        forest = IsolationForest(n_estimators=n_trees, random_state=random_state)
        return Isolation(minmax, forest.fit(_scaled(rows, minmax)))


def _scaled(rows: Array, minmax: Scaler) -> Array:
    return np.clip(minmax.transform(rows), -_LIMIT, _LIMIT)
