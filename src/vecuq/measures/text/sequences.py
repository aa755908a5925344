"""Measures of the samples' log-probabilities: sequence entropy, and SAR, where similar samples add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vecuq._check import Array, in_range
from vecuq.compare import MISSING, floats, logprobs, same_length, square
from vecuq.measures.text.tokens import token_sars


def sequence_entropy(sample_logprobs: Any) -> float:
    """Monte Carlo estimate of the entropy of the answers, ``-mean_j lp_j``, in [0, inf); NaN without samples.

    ``sample_logprobs`` holds the log-probability of each sample, its end of sequence included.

    Examples
    --------
    >>> sequence_entropy([-1.0, -2.0])
    1.5
    """
    found = logprobs(sample_logprobs)
    return float(0.0 - found.mean()) if found.size else MISSING


def sequence_entropy_normalised(sample_logprobs: Any, lengths: Any) -> float:
    """Sequence entropy with each log-probability divided by its length, ``-mean_j lp_j / L_j``, in [0, inf).

    ``lengths`` counts the tokens of each sample without the end of sequence. An empty sample counts as one token,
    its end.

    Examples
    --------
    >>> sequence_entropy_normalised([-1.0, -2.0], lengths=[1, 4])
    0.75
    """
    found, counts = logprobs(sample_logprobs), floats(lengths).ravel()
    same_length("sample log-probabilities", found, "lengths", counts)
    return float(0.0 - (found / np.maximum(counts, 1.0)).mean()) if found.size else MISSING


def sentence_sar(sample_logprobs: Any, similarity: Any, *, temperature: float = 0.001) -> float:
    """Sequence entropy where similar samples add to each other's probability; any real number.

    ``mean_i -log(p_i + sum_{j != i} S_ij p_j / t)`` with ``p = exp(lp)``, computed with logarithms. Duan et al.,
    Shifting Attention to Relevance (ACL 2024), equation 8. ``similarity`` is (samples, samples), within [0, 1].

    Examples
    --------
    >>> round(sentence_sar([-1.0, -1.0], [[1.0, 0.5], [0.5, 1.0]], temperature=1.0), 6)
    0.594535
    """
    found = logprobs(sample_logprobs)
    matrix = square(similarity, len(found))
    in_range("temperature", temperature, 0.0, ends="()")
    if not found.size:
        return MISSING
    with np.errstate(divide="ignore"):
        added = np.log(matrix) - np.log(temperature)
    np.fill_diagonal(added, 0.0)
    return float(0.0 - log_sum_exp(added + found).mean())


def sar(
    sample_token_logprobs: Sequence[Any],
    sample_relevances: Sequence[Any],
    similarity: Any,
    *,
    temperature: float = 0.001,
) -> float:
    """Sequence entropy with both relevances: ``sentence_sar`` with ``p_i = exp(-TokenSAR_i)``; any real number.

    NaN where a sample has no tokens.

    Examples
    --------
    >>> round(sar([[-1.0], [-1.0]], [[0.5], [0.5]], [[1.0, 0.5], [0.5, 1.0]], temperature=1.0), 6)
    0.594535
    """
    same_length("samples", sample_token_logprobs, "lists of relevances", sample_relevances)
    each = token_sars(sample_token_logprobs, sample_relevances)
    return sentence_sar([-found for found in each], similarity, temperature=temperature)


def log_sum_exp(rows: Array) -> Array:
    """Return the logarithm of each row's summed exponentials; a row of minus infinities gives minus infinity."""
    top = rows.max(axis=-1, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(rows - top).sum(axis=-1)) + top[..., 0])
