"""Measures of one answer's own tokens. All: higher = more uncertain, natural logarithms, NaN for no tokens.

The end-of-sequence token belongs to the answer: where its log-probability is known, it is one of those given.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from vecuq._check import Array, in_range
from vecuq.compare import MISSING, entropies, floats, logprobs, same_length, similarities


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


def min_token_probability(token_logprobs: Any) -> float:
    """One minus the probability of the least likely token, ``1 - min_t exp(l_t)``, in [0, 1].

    Manakul et al., SelfCheckGPT (EMNLP 2023), who take ``max_t -l_t``: the same order. One minus ``min_probability``
    of uqlm.

    Examples
    --------
    >>> round(min_token_probability(np.log([0.9, 0.25])), 6)
    0.75
    """
    found = logprobs(token_logprobs)
    return float(-np.expm1(found.min())) if found.size else MISSING


def token_margin(margins: Any) -> float:
    """One minus the mean margin of the most likely token over the second, ``1 - mean_t (p_t1 - p_t2)``, in [0, 1].

    ``margins`` holds the difference of the two probabilities at each token. Bouchard and Chauhan, uqlm (2025): one
    minus their ``probability_margin``.

    Examples
    --------
    >>> token_margin([0.75, 0.25])
    0.5
    """
    found = similarities(margins).ravel()
    return float(1.0 - found.mean()) if found.size else MISSING


def max_token_entropy(token_entropies: Any) -> float:
    """Largest entropy over the vocabulary at any token, ``max_t H_t``, in nats, in [0, log V].

    Manakul et al., SelfCheckGPT (EMNLP 2023), where it is Max(H).

    Examples
    --------
    >>> max_token_entropy([0.5, 1.0])
    1.0
    """
    found = entropies(token_entropies)
    return float(found.max()) if found.size else MISSING


def self_certainty(certainties: Any) -> float:
    """Minus the mean divergence of the uniform law from the model's, ``-mean_t KL(uniform || p_t)``, in (-inf, 0].

    ``certainties`` holds the Kullback-Leibler divergence at each token, over the vocabulary, or over the most likely
    tokens with probabilities that add up to 1. Kang et al., Scalable Best-of-N Selection via Self-Certainty (2025):
    minus their value, which is what lm-polygraph returns too.

    Examples
    --------
    >>> self_certainty([2.0, 4.0])
    -3.0
    """
    found = entropies(certainties, "Certainties")
    return float(0.0 - found.mean()) if found.size else MISSING


def top_k_negentropy(token_entropies: Any, k: int) -> float:
    """Largest entropy over the k most likely tokens as a share of log k, ``max_t H_t / log k``, in [0, 1].

    Bouchard and Chauhan, uqlm (2025): one minus their ``min_token_negentropy``, if probabilities are not renormalised.
    Unlike :func:`max_token_entropy` it can be compared between files with different k.

    Examples
    --------
    >>> round(top_k_negentropy([0.0, np.log(2)], k=4), 6)
    0.5
    """
    in_range("k", k, 2)
    # Two tokens that are not renormalised can have 2 / e, more than log 2.
    return float(min(1.0, max_token_entropy(token_entropies) / np.log(k))) if len(token_entropies) else MISSING


def token_sar(token_logprobs: Any, relevance: Any) -> float:
    """Mean of ``-l_t`` weighted by the relevance of each token, in [0, inf).

    Duan et al., Shifting Attention to Relevance (ACL 2024). :func:`token_relevance` gives the relevance. Where no token
    is relevant all count the same, which makes it the log-perplexity.

    Examples
    --------
    >>> token_sar([-1.0, -3.0], relevance=[0.75, 0.25])
    1.5
    """
    return token_sars([token_logprobs], [relevance])[0]


def token_sars(each_logprobs: Sequence[Any], each_relevance: Sequence[Any]) -> list[float]:
    """Return :func:`token_sar` of several answers; all at once is faster than one by one."""
    given, weighed = ([floats(one).ravel() for one in each] for each in (each_logprobs, each_relevance))
    if not given:
        return []
    for one, other in zip(given, weighed, strict=True):
        same_length("token log-probabilities", one, "relevances", other)
    found, weights = logprobs(np.concatenate(given)), np.maximum(np.concatenate(weighed), 0.0)
    # A token of probability 0 and relevance 0 would make the sum NaN: only relevant tokens are terms of it.
    kept = weights.nonzero()[0]
    terms = found[kept] * weights[kept]
    ends = list(accumulate(map(len, given)))
    lasts = kept.searchsorted(ends).tolist()
    return [
        _weighted_mean(found[start:end], weights[start:end], terms[first:last])
        for start, end, first, last in zip([0, *ends], ends, [0, *lasts], lasts, strict=False)
    ]


def _weighted_mean(found: Array, weights: Array, terms: Array) -> float:
    if not found.size:
        return MISSING
    total = float(np.add.reduce(weights))
    return -float(np.add.reduce(terms)) / total + 0.0 if total != 0 else perplexity(found)


def token_sar_of_samples(sample_token_logprobs: Sequence[Any], sample_relevances: Sequence[Any]) -> float:
    """Mean over the samples of their TokenSAR, as in the original authors' code, in [0, inf).

    Examples
    --------
    >>> token_sar_of_samples([[-1.0], [-3.0]], [[0.5], [0.5]])
    2.0
    """
    same_length("samples", sample_token_logprobs, "lists of relevances", sample_relevances)
    each = token_sars(sample_token_logprobs, sample_relevances)
    return float(np.mean(each)) if each else MISSING
