"""The distance to the k-th nearest training row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, whole_number
from vecuq._files import POSITIVE, Numbers, Rule
from vecuq.errors import CalibrationError
from vecuq.measures.density import MODERATE, Density, finite_points, training_members


def _not_of_length_one(points: Array) -> NDArray[np.bool_]:
    """Return which rows are neither all zeros nor of length one, give or take some rounding."""
    length = np.linalg.norm(points, axis=-1)
    return np.asarray((length > 0) & (np.abs(length - 1.0) > 1e-3))


@dataclass(frozen=True, eq=False)
class _Neighbours(Density):
    """Training rows that are kept, and the distance to the k-th nearest."""

    rows: Array  # (members, rows, d)
    k: Array  # a single whole number, kept as an array to be saved

    def __post_init__(self) -> None:
        k, n_rows = int(self.k[0]), self.rows.shape[1]
        if k > n_rows:
            raise CalibrationError(f"k={k} neighbours need as many training rows; there are {n_rows}.")

    @classmethod
    def fit(cls, embeddings: Any, labels: Any = None, *, k: int = 5) -> Self:
        """Keep the training rows; labels do not matter."""
        whole_number("k", k, 1)
        rows = np.stack([cls._prepared(finite_points(member)) for member in training_members(embeddings)])
        return cls(rows, np.array([k], dtype=np.int64))

    @cached_property
    def _indices(self) -> list[Any]:
        """What finds the k nearest rows of each member."""
        from sklearn.neighbors import NearestNeighbors

        return [NearestNeighbors(n_neighbors=int(self.k[0])).fit(rows) for rows in self.rows]

    @staticmethod
    def _prepared(points: Array) -> Array:
        return points

    def _score_member(self, points: Array, member: int) -> Array:
        return np.asarray(self._indices[member].kneighbors(self._prepared(points))[0][:, -1])


@dataclass(frozen=True, eq=False)
class KNearest(_Neighbours):
    """Distance to the k-th nearest training row, of embeddings brought to length one; in [0, 2].

    Sun et al., Out-of-Distribution Detection with Deep Nearest Neighbors (ICML 2022).

    Examples
    --------
    >>> KNearest.fit([[1.0, 0.0], [0.0, 1.0]], k=1).score([[2.0, 0.0]])
    array([0.])
    """

    parts: ClassVar[Mapping[str, Numbers]] = {
        "rows": Numbers("members rows d", Rule("of a row of length one", _not_of_length_one)),
        "k": Numbers("1", POSITIVE, dtype="int64"),
    }

    @staticmethod
    def _prepared(points: Array) -> Array:
        length = np.linalg.norm(points, axis=-1, keepdims=True)
        return np.asarray(points / np.where(length > 0, length, 1.0))


@dataclass(frozen=True, eq=False)
class KNearestEuclidean(_Neighbours):
    """Euclidean distance to the k-th nearest training row, of embeddings as they come; in [0, inf).

    For features on one scale, of which also the length matters; :class:`KNearest` looks at directions alone.
    Ramaswamy, Rastogi and Shim, Efficient Algorithms for Mining Outliers from Large Data Sets (SIGMOD 2000).

    Examples
    --------
    >>> KNearestEuclidean.fit([[1.0, 0.0], [0.0, 1.0]], k=1).score([[3.0, 0.0]])
    array([2.])
    """

    parts: ClassVar[Mapping[str, Numbers]] = {
        "rows": Numbers("members rows d", MODERATE),
        "k": Numbers("1", POSITIVE, dtype="int64"),
    }
