"""Semantic entropy: samples with the same meaning are one outcome. Kuhn et al., Semantic Uncertainty (ICLR 2023)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import number, one_of
from vecuq.compare import MISSING, logprobs, same_length
from vecuq.errors import TableError
from vecuq.measures.text.sequences import log_sum_exp

OVER = ("samples", "classes")


def semantic_classes(agrees: Any) -> NDArray[np.intp]:
    """Return the number of the class of meaning of each sample, numbered as they appear.

    In order, each sample joins the first class whose first member it agrees with in both directions, or starts a new
    class.

    Parameters
    ----------
    agrees
        (samples, samples) of bool: whether sample i (premise) entails sample j (hypothesis). For the rule of the
        original code, which merges unless there is a contradiction: whether it does not contradict it.

    Examples
    --------
    >>> semantic_classes([[True, False, True], [True, True, False], [True, False, True]])
    array([0, 1, 0])
    """
    matrix = np.asarray(agrees, dtype=bool)
    if matrix.size and (matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]):
        raise TableError(f"Who agrees with whom must be (samples, samples); it has shape {matrix.shape}.")
    founders: list[int] = []
    classes: list[int] = []
    rows = matrix.tolist()  # single entries of a list are read faster than those of an array
    for sample, agreed in enumerate(rows):
        joined = (k for k, first in enumerate(founders) if agreed[first] and rows[first][sample])
        classes.append(next(joined, len(founders)))
        if classes[-1] == len(founders):
            founders.append(sample)
    return np.array(classes, dtype=np.intp)


def semantic_entropy(sample_logprobs: Any, classes: Any, *, over: str = "samples", shift: float = 0.0) -> float:
    """Minus the mean log-probability of the samples' classes; any real number, NaN without samples.

    ``shift - mean_j log sum_{i in class(j)} p_i``. The original code averages over the classes instead of the samples
    (``over="classes"``) and has ``shift=5``.

    Parameters
    ----------
    sample_logprobs
        Log-probability of each sample; divided by the lengths, for the length-normalised variant.
    classes
        A number per sample, see :func:`semantic_classes`.

    Examples
    --------
    >>> round(semantic_entropy(np.log([0.25, 0.25, 0.5]), [0, 0, 1]), 6)
    0.693147
    """
    found, labels = logprobs(sample_logprobs), np.asarray(classes).ravel()
    same_length("sample log-probabilities", found, "classes", labels)
    one_of("over", over, OVER)
    number("shift", shift)
    if not found.size:
        return MISSING
    known = np.array(sorted(set(labels.tolist())))
    mass = log_sum_exp(np.where(labels == known[:, None], found, -np.inf))
    return float(shift - (mass if over == "classes" else mass[known.searchsorted(labels)]).mean())


def semantic_entropy_empirical(classes: Any) -> float:
    """Entropy of the shares of the classes among the samples, in [0, log(samples)]; NaN for fewer than two samples.

    Examples
    --------
    >>> round(semantic_entropy_empirical([0, 0, 1, 1]), 6)
    0.693147
    """
    counts = _counts(classes)
    if sum(counts) < 2:
        return MISSING
    shares = np.array(counts) / sum(counts)
    return float(0.0 - (shares * np.log(shares)).sum())


def semantic_sets(classes: Any) -> float:
    """How many classes of meaning the samples have, in [1, samples]; NaN for fewer than two samples.

    Lin et al., Generating with Confidence (TMLR 2024), U_NumSet; classes as in :func:`semantic_classes`, where
    lm-polygraph joins all that are connected.

    Examples
    --------
    >>> semantic_sets([0, 0, 1, 2])
    3.0
    """
    counts = _counts(classes)
    return float(len(counts)) if sum(counts) > 1 else MISSING


def majority_share(classes: Any) -> float:
    """One minus the share of the largest class of meaning, in [0, 1 - 1 / samples]; NaN for fewer than two samples.

    The variation ratio of the samples; Wang et al., Self-Consistency (ICLR 2023), vote by that share.

    Examples
    --------
    >>> majority_share([0, 0, 0, 1])
    0.25
    """
    counts = _counts(classes)
    return 1.0 - max(counts) / sum(counts) if sum(counts) > 1 else MISSING


def _counts(classes: Any) -> list[int]:
    """Return how many samples each class has, in the order of their numbers."""
    counts = Counter(np.asarray(classes).ravel().tolist())
    return [counts[one] for one in sorted(counts)]
