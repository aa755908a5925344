"""The rows that a classifier was trained on, as hashes: which other rows are the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq.errors import TableError
from vecuq.pipeline.asking import numbers_of
from vecuq.table import row_hashes

# A few equal rows more than repeats explain are no sign of training rows.
_FEW = 0.02


@dataclass(frozen=True, eq=False)
class TrainedRows:
    """The training rows of a classifier, each as the hash of its prepared features.

    Examples
    --------
    >>> trained = TrainedRows.of(np.array([[1.0], [2.0], [3.0], [4.0]]))
    >>> trained.among(np.array([[2.0], [7.0], [3.0]]))
    array([ True, False,  True])
    """

    hashes: NDArray[np.uint64]  # (training rows,)

    @staticmethod
    def of(prepared: Any) -> TrainedRows | None:
        """Take training rows, as the last step of the classifier gets them; None where they are no numbers."""
        try:
            return TrainedRows(_hashes(prepared))
        except TableError:
            return None

    def among(self, prepared: Any) -> NDArray[np.bool_]:
        """Return which rows are training rows; none, where rows that repeat each other explain as many."""
        found = np.isin(_hashes(prepared), self.hashes)
        times = np.unique(self.hashes, return_counts=True)[1]
        repeated = 1.0 - np.sum(times == 1) / max(len(self.hashes), 1)
        explained = max(1.0, (repeated + _FEW) * len(found))
        return np.asarray(found if found.sum() > explained else np.zeros_like(found))


def _hashes(prepared: Any) -> NDArray[np.uint64]:
    """Return a hash of every row; of sparse rows, which dense would fill the memory, that of two random sums."""
    if not hasattr(prepared, "toarray"):
        return row_hashes(numbers_of(prepared))
    draws = np.random.default_rng(0).normal(size=(prepared.shape[1], 2))
    return row_hashes(np.asarray(prepared @ draws, dtype=float))
