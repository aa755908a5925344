"""What a classifier says at a few points, by which the same one is recognised later."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array
from vecuq.pipeline.asking import Classifier
from vecuq.pipeline.feature_scale import FeatureScale

PROBES = 16


def probe_of(classifier: Classifier, scale: FeatureScale | None) -> Array | None:
    """Return what a classifier says at points around the training rows; None where it takes no plain numbers."""
    if scale is None:
        return None
    draws = np.random.default_rng(0).normal(size=(PROBES, len(scale.centre)))
    return classifier.at(scale.centre + scale.spread * draws)
