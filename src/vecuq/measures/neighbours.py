"""The distance to the k-th nearest training row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from vecuq._check import Array, whole_number
from vecuq.errors import CalibrationError
from vecuq.measures.density import Density, finite_points, training_members


@dataclass(frozen=True, eq=False)
class KNearest(Density):
    """Distance to the k-th nearest training row, of embeddings brought to length one; in [0, 2].

    Sun et al., Out-of-Distribution Detection with Deep Nearest Neighbors (ICML 2022).

    Examples
    --------
    >>> KNearest.fit([[1.0, 0.0], [0.0, 1.0]], k=1).score([[2.0, 0.0]])
    array([0.])
    """

    rows: Array  # (members, rows, d), of length one
    k: Array  # a single whole number, kept as an array to be saved
    parts: ClassVar[tuple[str, ...]] = ("rows", "k")

    @staticmethod
    def fit(embeddings: Any, labels: Any = None, *, k: int = 5) -> KNearest:
        """Keep the training rows; labels do not matter."""
        whole_number("k", k, 1)
        rows = np.stack([_of_length_one(finite_points(m)) for m in training_members(embeddings)])
        if k > rows.shape[1]:
            raise CalibrationError(f"k={k} neighbours need as many training rows; there are {rows.shape[1]}.")
        return KNearest(rows, np.array([k]))

    @cached_property
    def _indices(self) -> list[Any]:
        from sklearn.neighbors import NearestNeighbors

        return [NearestNeighbors(n_neighbors=int(self.k[0])).fit(rows) for rows in self.rows]

    def _expected(self) -> tuple[int, int]:
        return self.rows.shape[0], self.rows.shape[2]

    def _score_member(self, points: Array, member: int) -> Array:
        return np.asarray(self._indices[member].kneighbors(_of_length_one(points))[0][:, -1])


def _of_length_one(points: Array) -> Array:
    length = np.linalg.norm(points, axis=-1, keepdims=True)
    return np.asarray(points / np.where(length > 0, length, 1.0))
