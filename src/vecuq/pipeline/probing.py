"""What a classifier says at a few points, by which the same one is recognised later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.errors import TableError
from vecuq.pipeline.asking import Classifier, n_rows_of, numbers_of, some_rows
from vecuq.pipeline.feature_scale import MODERATE_FEATURE, FeatureScale

PROBES = 16
# Probabilities that differ by more are those of another classifier; trees add up in single precision.
_ALIKE = 1e-6
# So many numbers of the training rows say where points should lie.
_ENTRIES = 2_000_000


def probe_of(classifier: Classifier, scale: FeatureScale | None) -> Array | None:
    """Return what the last step of a classifier says at points around the training rows, of the features that it gets.

    None where it takes no plain numbers.
    """
    return None if scale is None else classifier.at(_points(scale))


def _points(scale: FeatureScale) -> Array:
    draws = np.random.default_rng(0).normal(size=(PROBES, len(scale.centre)))
    return np.asarray(scale.centre + scale.spread * draws)


def alike(found: Array | None, known: Array) -> bool:
    """Whether a classifier says what the known one said."""
    return found is not None and bool(np.abs(found - known).max() <= _ALIKE)


@dataclass(frozen=True, eq=False)
class RowProbe:
    """What a classifier says of points in the space of its rows, with all that prepares these.

    It tells a Pipeline from its last step, and from one whose scaler was fitted to other rows.
    """

    scale: FeatureScale
    said: Array  # (probes, classes)

    @staticmethod
    def of(classifier: Classifier, rows: Any, names: Sequence[str] | None) -> RowProbe | None:
        """Ask a classifier at points around some training rows; None where rows are no numbers of moderate size.

        ``names`` are those of the features, where rows came in a frame.
        """
        few = max(PROBES, _ENTRIES // max(int(rows.shape[1]), 1))
        try:
            features = numbers_of(some_rows(rows, slice(0, min(few, n_rows_of(rows)))))
        except TableError:
            return None
        if np.abs(features[np.isfinite(features)]).max(initial=0.0) > MODERATE_FEATURE:
            return None
        scale = FeatureScale.of(features)
        said = _said_of_rows(classifier, scale, names)
        return None if said is None else RowProbe(scale, said)

    def recognises(self, classifier: Classifier, names: Sequence[str] | None) -> bool:
        """Whether a classifier says the same at the same points."""
        return alike(_said_of_rows(classifier, self.scale, names), self.said)


def _said_of_rows(classifier: Classifier, scale: FeatureScale, names: Sequence[str] | None) -> Array | None:
    """Return what a classifier says at points in the space of its rows; one that takes columns by name gets a frame."""
    points = _points(scale)
    said = classifier.at(points, whole=True)
    return said if said is not None or names is None else classifier.at(_framed(points, names), whole=True)


def _framed(points: Array, names: Sequence[str]) -> Any:
    """Return points as a frame of whichever package is installed; as they are without one."""
    try:
        import pandas as pd

        return pd.DataFrame(points, columns=list(names))
    except ImportError:
        pass
    try:
        import polars as pl

        return pl.DataFrame(points, schema=list(names))
    except ImportError:
        return points
