"""Relevance of each token of an answer: how much the text changes without it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, whole_number
from vecuq.compare import (
    COMPARISONS,
    WITHOUT_SPACES,
    PairCache,
    common_subsequence,
    comparison_of,
    stemmed_words,
    words,
)

_SPECIAL = re.compile(
    r"<\|[^|<>]*\|>|<\uff5c[^<>]*\uff5c>|</?s>|<(?:bos|eos|pad|unk|end_of_turn|start_of_turn)>|\[(?:BOS|EOS|PAD|SEP|CLS)\]"
)
# What stands between words: spaces, and characters that are words of their own.
_APART = re.compile(rf"[\s{WITHOUT_SPACES}]")


def is_special(token: str) -> bool:
    """Whether a token is a mark of the model and not text: ``</s>``, ``<|im_end|>``, ``<eos>`` ..., or empty.

    Examples
    --------
    >>> is_special("<|im_end|>"), is_special(" Paris")
    (True, False)
    """
    stripped = token.strip()
    if not stripped:
        return token == ""
    return stripped[0] in "<[" and _SPECIAL.fullmatch(stripped) is not None


def token_relevance(tokens: Sequence[str], question: str = "", *, similarity: Any = "rouge_l", n_end: int = 0) -> Array:
    """Relevance of each token, ``1 - similarity(question + answer, the same without the token)``, each in [0, 1].

    Question and answer are joined by a space. A special token has relevance 0; the token of a one-token answer 0.5.

    Parameters
    ----------
    tokens
        The answer in pieces, as text with their spaces: ``["Par", "is", " is", " big", "</s>"]``.
    question
        The question.
    similarity
        ``"rouge_l"``, another name of :data:`COMPARISONS`, a function of two texts, a Comparison or a PairCache.
    n_end
        How many of the last tokens ended the answer; they count as special, besides those of :func:`is_special`.

    Examples
    --------
    >>> token_relevance(["Par", "is", "!", "</s>"], "Capital of France?").round(3)
    array([0.25, 0.25, 0.  , 0.  ])
    """
    if len(tokens) == 1:
        return np.array([0.5])
    whole_number("n_end", n_end, 0)
    marks = np.array([k >= len(tokens) - n_end or is_special(token) for k, token in enumerate(tokens)], dtype=bool)
    cache = similarity if isinstance(similarity, PairCache) else PairCache(comparison_of(similarity))
    weigh = _by_rouge_l if cache.comparison is COMPARISONS["rouge_l"] else _by_comparison
    return weigh(tokens, question, marks, cache)


def _by_comparison(tokens: Sequence[str], question: str, marks: NDArray[np.bool_], cache: PairCache) -> Array:
    plain = [k for k in range(len(tokens)) if not marks[k]]
    full = f"{question} {_without(tokens, plain, None)}".strip()
    pairs = [(full, f"{question} {_without(tokens, plain, k)}".strip()) for k in plain]
    relevance = np.zeros(len(tokens))
    if plain:
        relevance[plain] = 1.0 - cache.of_pairs(pairs)
    return relevance


def _by_rouge_l(tokens: Sequence[str], question: str, marks: NDArray[np.bool_], _cache: PairCache) -> Array:
    """Compute the same faster: a longest common subsequence contains the common start and end of two texts.

    So only the words around the token are compared; all others, those of the question included, are in common.
    """
    text = "".join(token for token, mark in zip(tokens, marks, strict=True) if not mark)
    n_words, apart = len(words(question)) + len(words(text)), [found.start() for found in _APART.finditer(text)]
    relevance, start = np.zeros(len(tokens)), 0
    for k, token in enumerate(tokens):
        if not marks[k]:
            around, left = _words_around(text, start, start + len(token), apart)
            shared = n_words - len(around) + (common_subsequence(around, left) if left else 0)
            relevance[k] = 1.0 - (2.0 * shared / (2 * n_words - len(around) + len(left)) if shared else 0.0)
            start += len(token)
    return relevance


def _words_around(text: str, start: int, end: int, apart: list[int]) -> tuple[list[str], list[str]]:
    """Return the words that dropping ``text[start:end]`` may change, before and after the change.

    They reach from the last separator (``apart``) before it to the first one after it.
    """
    ends = end == len(text) or text[end] == " "
    if ends and (start == 0 or " " in text[start - 1 : start + 1]):
        return words(text[start:end]), []  # whole words go
    before, after = bisect_left(apart, start), bisect_left(apart, end)
    first, last = apart[before - 1] + 1 if before else 0, apart[after] if after < len(apart) else len(text)
    return stemmed_words(text[first:last]), stemmed_words(text[first:start] + text[end:last])


def _without(tokens: Sequence[str], kept: Sequence[int], dropped: int | None) -> str:
    return "".join(tokens[k] for k in kept if k != dropped)
