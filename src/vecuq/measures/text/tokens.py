"""Measures of one answer's own tokens. All: higher = more uncertain, natural logarithms, NaN for no tokens.

The end-of-sequence token belongs to the answer: where its log-probability is known, it is one of those given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vecuq.compare import MISSING, entropies, floats, logprobs, same_length


def msp(token_logprobs: Any) -> float:
    """Minus the log-probability of the answer, ``-sum_t l_t``, in [0, inf).

    Examples
    --------
    >>> msp([-0.5, -0.25])
    0.75
    """
    found = logprobs(token_logprobs)
    return float(0.0 - found.sum()) if found.size else MISSING


def perplexity(token_logprobs: Any) -> float:
    """Log-perplexity of the answer, ``-mean_t l_t``, in [0, inf).

    Examples
    --------
    >>> perplexity([-0.5, -0.25])
    0.375
    """
    found = logprobs(token_logprobs)
    return float(0.0 - found.mean()) if found.size else MISSING


def mean_token_entropy(token_entropies: Any) -> float:
    """Mean over the tokens of the entropy over the vocabulary, in nats, in [0, log V].

    Examples
    --------
    >>> mean_token_entropy([0.5, 1.0])
    0.75
    """
    found = entropies(token_entropies)
    return float(found.mean()) if found.size else MISSING


def token_sar(token_logprobs: Any, relevance: Any) -> float:
    """Mean of ``-l_t`` weighted by the relevance of each token, in [0, inf).

    Duan et al., Shifting Attention to Relevance (ACL 2024). :func:`token_relevance` gives the relevance. Where no token
    is relevant all count the same, which makes it the log-perplexity.

    Examples
    --------
    >>> token_sar([-1.0, -3.0], relevance=[0.75, 0.25])
    1.5
    """
    found, weights = logprobs(token_logprobs), np.maximum(floats(relevance).ravel(), 0.0)
    same_length("token log-probabilities", found, "relevances", weights)
    if not found.size:
        return MISSING
    total = weights.sum()
    if total == 0:
        return perplexity(found)
    if np.count_nonzero(weights) < len(weights):  # a token of probability 0 and relevance 0 would make the sum NaN
        found, weights = found[weights != 0], weights[weights != 0]
    return float(-(found * weights).sum() / total + 0.0)


def token_sar_of_samples(sample_token_logprobs: Sequence[Any], sample_relevances: Sequence[Any]) -> float:
    """Mean over the samples of their TokenSAR, as in the original authors' code, in [0, inf).

    Examples
    --------
    >>> token_sar_of_samples([[-1.0], [-3.0]], [[0.5], [0.5]])
    2.0
    """
    same_length("samples", sample_token_logprobs, "lists of relevances", sample_relevances)
    each = [token_sar(one, weights) for one, weights in zip(sample_token_logprobs, sample_relevances, strict=True)]
    return float(np.mean(each)) if each else MISSING
