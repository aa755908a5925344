"""Agreement of sampled answers with each other and with the answer, alone and times its uncertainty (CoCoA)."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecuq.compare import MISSING, PairCache, comparison_of, floats, square
from vecuq.compare import similarities as checked
from vecuq.errors import TableError
from vecuq.measures.text.tokens import mean_token_entropy, msp, perplexity


def consistency(similarities: Any) -> float:
    """Mean dissimilarity of the answer and its samples, ``mean_j (1 - s_j)``, in [0, 1]; NaN without samples.

    ``similarities`` holds one number in [0, 1] per sample, the mean of both directions where the two differ.

    Examples
    --------
    >>> consistency([1.0, 0.5])
    0.25
    """
    found = checked(similarities).ravel()
    return float((1.0 - found).mean()) if found.size else MISSING


def cocoa_msp(token_logprobs: Any, similarities: Any) -> float:
    """CoCoA with MSP: minus the log-probability of the answer times :func:`consistency`, in [0, inf).

    Vashurin et al., Uncertainty Quantification for LLMs through Minimum Bayes Risk (2025).

    Examples
    --------
    >>> cocoa_msp([-1.0, -3.0], [1.0, 0.5])
    1.0
    """
    return msp(token_logprobs) * consistency(similarities)


def cocoa_perplexity(token_logprobs: Any, similarities: Any) -> float:
    """CoCoA with perplexity: the log-perplexity of the answer times :func:`consistency`, in [0, inf).

    Examples
    --------
    >>> cocoa_perplexity([-1.0, -3.0], [1.0, 0.5])
    0.5
    """
    return perplexity(token_logprobs) * consistency(similarities)


def cocoa_mean_token_entropy(token_entropies: Any, similarities: Any) -> float:
    """CoCoA with mean token entropy: that entropy times :func:`consistency`, in [0, log V].

    Examples
    --------
    >>> cocoa_mean_token_entropy([0.5, 1.5], [1.0, 0.5])
    0.25
    """
    return mean_token_entropy(token_entropies) * consistency(similarities)


def non_contradiction(contradictions: Any) -> float:
    """Mean probability that answer and sample contradict each other, in [0, 1]; NaN without samples.

    ``contradictions`` holds P(contradiction) of the answer and each sample, one number for each direction, in any
    shape. Chen and Mueller, Quantifying Uncertainty in Answers (ACL 2024); one minus ``noncontradiction`` of uqlm.

    Examples
    --------
    >>> non_contradiction([[0.0, 0.5], [0.5, 1.0]])
    0.5
    """
    found = checked(contradictions).ravel()
    return float(found.mean()) if found.size else MISSING


def cosine(cosines: Any) -> float:
    """Half the mean cosine distance of the answer and its samples, ``mean_j (1 - c_j) / 2``, in [0, 1].

    NaN without samples. One minus ``cosine_sim`` of uqlm, which is ``(1 + c) / 2``. By embeddings, texts of a negative
    cosine count as 0 (see :func:`embeddings`); it is then half of :func:`consistency`.

    Examples
    --------
    >>> cosine([1.0, 0.5])
    0.125
    """
    found = floats(cosines).ravel()
    if found.size and (found.min() < -1.0 - 1e-5 or found.max() > 1.0 + 1e-5):
        raise TableError(f"Cosines must lie in [-1, 1]; these lie in [{found.min():g}, {found.max():g}].")
    return float(((1.0 - np.clip(found, -1.0, 1.0)) / 2).mean()) if found.size else MISSING


def lexical_similarity(samples: Any, *, by: Any = "rouge_l") -> float:
    """Minus the mean similarity of two samples, ``-mean_{i<j} S_ij``, in [-1, 0]; NaN for fewer than two samples.

    Parameters
    ----------
    samples
        The texts of the samples, or a matrix (samples, samples) of similarities.
    by
        How texts are compared: ``"rouge_l"``, ``"rouge_1"``, ``"rouge_2"``, ``"bleu"``, ``"jaccard"`` or a function.

    Examples
    --------
    >>> lexical_similarity(["Paris", "in Paris", "Paris"])
    -0.7777777777777777
    """
    if isinstance(samples, str):
        raise TableError("lexical_similarity compares several samples, a list of texts; got a single text.")
    texts = list(samples)
    if len(texts) < 2:
        return MISSING
    given = PairCache(comparison_of(by)).table(texts, texts) if isinstance(texts[0], str) else samples
    matrix = square(given, len(texts))
    return float(0.0 - matrix[np.triu_indices(len(matrix), 1)].mean())
