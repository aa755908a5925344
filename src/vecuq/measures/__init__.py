"""From a model's outputs to one column of scores."""

from vecuq.measures import text
from vecuq.measures.compute import fit_densities, measure
from vecuq.measures.confidence import (
    energy,
    entropy,
    margin,
    max_logit,
    msp,
    mutual_information,
    variation_ratio,
)
from vecuq.measures.gaussian import GaussianMixture, Mahalanobis, RelativeMahalanobis
from vecuq.measures.neighbours import KNearest
from vecuq.measures.registry import Measure, compositions, find_measures, list_measures
from vecuq.measures.risk import risk

__all__ = [
    "GaussianMixture",
    "KNearest",
    "Mahalanobis",
    "Measure",
    "RelativeMahalanobis",
    "compositions",
    "energy",
    "entropy",
    "find_measures",
    "fit_densities",
    "list_measures",
    "margin",
    "max_logit",
    "measure",
    "msp",
    "mutual_information",
    "risk",
    "text",
    "variation_ratio",
]
