"""Features on one scale, for distances to the training rows; and the training rows that stand for all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array

# So many training rows are kept for distances, and of every class at least so many, where there are.
MOST_TRAINING_ROWS, FEWEST_OF_CLASS = 20_000, 50
# More features make a covariance that no number of such rows can fill.
MOST_FEATURES = 2_000
# The squares of larger ones overflow.
MODERATE_FEATURE = 1e150


@dataclass(frozen=True, eq=False)
class FeatureScale:
    """Mean and standard deviation of every feature over training rows, without its missing values.

    Examples
    --------
    >>> scale = FeatureScale.of(np.array([[0.0, 5.0], [2.0, 5.0]]))
    >>> scale.points(np.array([[3.0, 5.0], [np.nan, 6.0]]))
    array([[2., 0.],
           [0., 1.]])
    """

    centre: Array
    spread: Array

    @staticmethod
    def of(features: Array) -> FeatureScale:
        """Take the scale of training rows, (rows, features); a feature that does not vary keeps its unit."""
        known = np.isfinite(features)
        counts = np.maximum(known.sum(axis=0), 1)
        centre = np.where(known, features, 0.0).sum(axis=0) / counts
        spread = np.sqrt((np.where(known, features - centre, 0.0) ** 2).sum(axis=0) / counts)
        return FeatureScale(centre, np.where(spread > 1e-12 * np.maximum(np.abs(centre), 1.0), spread, 1.0))

    def points(self, features: Array) -> Array:
        """Return scaled features; a missing one counts as the mean of the training rows."""
        filled = np.where(np.isnan(features), self.centre, features)
        return np.asarray((filled - self.centre) / self.spread)


def representatives(labels: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """Return which training rows stand for all: every one, or a random sample in which no class is lost."""
    n_rows = len(labels)
    if n_rows <= MOST_TRAINING_ROWS:
        return np.arange(n_rows)
    rng = np.random.default_rng(seed)
    drawn = []
    for label in range(int(labels.max()) + 1):
        own = np.flatnonzero(labels == label)
        wanted = max(int(MOST_TRAINING_ROWS * len(own) / n_rows), FEWEST_OF_CLASS)
        drawn.append(rng.choice(own, size=min(wanted, len(own)), replace=False))
    return np.sort(np.concatenate(drawn))
