"""Densities: how far a row's embedding lies from those the model was trained on. What all of them share.

Each is a small fitted object: ``Mahalanobis.fit(embeddings, labels).score(new_embeddings)``. Embeddings are (rows, d),
or (members, rows, d) or a list of members for an ensemble, whose score is the mean over members. Labels may be
anything that sorts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, shape_of
from vecuq._files import Numbers, between
from vecuq.errors import CalibrationError, TableError

# What fitted arrays hold: numbers whose squares are finite.
MODERATE = between(-1e150, 1e150)
# Rows scored at once: enough for a matrix product to pay, few enough to be small beside the outputs.
_ROWS = 4_096


def members_of(embeddings: Any, *, what: str = "Embeddings") -> Sequence[Any]:
    """Return one (rows, d) array per member, not yet read."""
    listed = isinstance(embeddings, list | tuple) and all(len(getattr(part, "shape", ())) == 2 for part in embeddings)
    if not listed:
        array = np.asarray(embeddings)
        embeddings = [array] if array.ndim == 2 else list(array) if array.ndim == 3 else []
    if not embeddings or len({tuple(member.shape) for member in embeddings}) > 1 or not embeddings[0].shape[1]:
        got = [shape_of(part) for part in embeddings][:3]
        raise TableError(f"{what} must have shape (rows, d) or (members, rows, d); got {got}.")
    return list(embeddings)


def training_members(embeddings: Any) -> Sequence[Any]:
    """Return one (rows, d) array per member, of at least two rows."""
    members = members_of(embeddings, what="Training embeddings")
    if members[0].shape[0] < 2:
        raise CalibrationError(f"A density needs at least two training rows; got {members[0].shape[0]}.")
    return members


def finite_points(member: Any) -> Array:
    """Return the training embeddings of one member as finite float64."""
    points = np.asarray(member, dtype=float)
    if not np.isfinite(points).all():
        raise CalibrationError("Training embeddings must have no NaN or infinity; drop those rows.")
    return points


def class_index(labels: Any, n_rows: int) -> NDArray[np.intp]:
    """Return the number of each row's class, counted from 0 in sorted order."""
    index = np.unique(np.asarray(labels), return_inverse=True)[1].ravel()
    if len(index) != n_rows:
        raise TableError(f"There are {n_rows:,} training embeddings but {len(index):,} labels.")
    return np.asarray(index, dtype=np.intp)


class Density(ABC):
    """What all fitted densities share: saved as the arrays that ``parts`` declares, scored in blocks of rows."""

    parts: ClassVar[Mapping[str, Numbers]] = {}

    def score(self, embeddings: Any) -> Array:
        """Return one number per row, higher = farther from the training rows; NaN where an embedding is not finite."""
        members = members_of(embeddings)
        found = (len(members), members[0].shape[1])
        if found != self._expected():
            raise TableError(
                f"This density was fitted to (members, d) = {self._expected()}; got {found}. All outputs must come "
                f"from the same ensemble, with axes (members, rows, d)."
            )
        total = np.zeros(members[0].shape[0])
        for number, member in enumerate(members):
            for start in range(0, len(total), _ROWS):
                span = slice(start, start + _ROWS)
                total[span] += self._score_rows(np.asarray(member[span], dtype=float), number)
        return np.asarray(total / len(members))

    def arrays(self) -> dict[str, Array]:
        """Return what must be saved; the class called with these by name is the same density."""
        return {part: getattr(self, part) for part in self.parts}

    def _score_rows(self, points: Array, member: int) -> Array:
        finite = np.isfinite(points).all(axis=1)
        scores = np.full(len(points), np.nan)
        if finite.any():
            with np.errstate(over="ignore", invalid="ignore"):  # a distance beyond all numbers is no finite score
                scores[finite] = self._score_member(points if finite.all() else points[finite], member)
        return scores

    def _expected(self) -> tuple[int, int]:
        """Return how many members and dimensions it was fitted to: its first part is (members, ..., d)."""
        first = getattr(self, next(iter(self.parts)))
        return first.shape[0], first.shape[-1]

    @abstractmethod
    def _score_member(self, points: Array, member: int) -> Array:
        """Score the finite points of one member."""
