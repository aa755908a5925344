"""From a model's outputs to one column of scores."""

from vecuq.measures import quality, text
from vecuq.measures.compute import (
    EMBEDDINGS,
    fit_densities,
    measure,
    predicted_classes,
    settled_embedding,
    warn_idle,
)
from vecuq.measures.confidence import energy, entropy, margin, max_logit, msp, mutual_information, variation_ratio
from vecuq.measures.gaussian import GaussianMixture, Mahalanobis, RelativeMahalanobis
from vecuq.measures.neighbours import KNearest, KNearestEuclidean
from vecuq.measures.quality import QUALITIES, measure_quality
from vecuq.measures.registry import (
    Measure,
    compositions,
    compositions_of,
    find_measures,
    is_risk,
    known_measures,
    list_measures,
)
from vecuq.measures.risk import risk

__all__ = [
    "EMBEDDINGS",
    "QUALITIES",
    "GaussianMixture",
    "KNearest",
    "KNearestEuclidean",
    "Mahalanobis",
    "Measure",
    "RelativeMahalanobis",
    "compositions",
    "compositions_of",
    "energy",
    "entropy",
    "find_measures",
    "fit_densities",
    "is_risk",
    "known_measures",
    "list_measures",
    "margin",
    "max_logit",
    "measure",
    "measure_quality",
    "msp",
    "mutual_information",
    "predicted_classes",
    "quality",
    "risk",
    "settled_embedding",
    "text",
    "variation_ratio",
    "warn_idle",
]
