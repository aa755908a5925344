"""Relevance of each token of an answer: how much the text changes without it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from vecuq._check import Array, whole_number
from vecuq.compare import (
    COMPARISONS,
    STEMS,
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
_RUN = re.compile("[a-z0-9]+")
# What stands between words: spaces, and characters that are words of their own.
_APART = re.compile(rf"[\s{WITHOUT_SPACES}]")


def is_special(token: str) -> bool:
    """Whether a token is a mark of the model and not text: ``</s>``, ``<|im_end|>``, ``<eos>`` ..., or empty.

    Examples
    --------
    >>> is_special("<|im_end|>"), is_special(" Paris")
    (True, False)
    """
    if "<" in token or "[" in token:
        return _SPECIAL.fullmatch(token.strip()) is not None
    return token == ""


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
    plain = [k for k, token in enumerate(tokens[: max(len(tokens) - n_end, 0)]) if not is_special(token)]
    cache = similarity if isinstance(similarity, PairCache) else PairCache(comparison_of(similarity))
    weigh = _by_rouge_l if cache.comparison is COMPARISONS["rouge_l"] else _by_comparison
    relevance = np.zeros(len(tokens))
    if plain:
        relevance[plain] = weigh([tokens[k] for k in plain], question, cache)
    return relevance


def _by_comparison(tokens: Sequence[str], question: str, cache: PairCache) -> Array:
    full = f"{question} {''.join(tokens)}".strip()
    less = ("".join(tokens[:k]) + "".join(tokens[k + 1 :]) for k in range(len(tokens)))
    return np.asarray(1.0 - cache.of_pairs((full, f"{question} {text}".strip()) for text in less))


def _by_rouge_l(tokens: Sequence[str], question: str, _cache: PairCache) -> list[float]:
    """Compute the same faster: a longest common subsequence contains the common start and end of two texts.

    So only the words around the token are compared; all others, those of the question included, are in common.
    """
    text = "".join(tokens)
    listed = _AsciiText(text) if text.isascii() else _AnyText(text)
    n_words, end, relevance = _n_words(question) + listed.n_words, 0, []
    for token in tokens:
        start, end = end, end + len(token)
        before, after, common = listed.without(start, end)
        shared = n_words - before + common
        relevance.append(1.0 - (2.0 * shared / (2 * n_words - before + after) if shared else 0.0))
    return relevance


# How many words there are around a token, how many are left without it, and how many both have in common.
_Change = tuple[int, int, int]


class _AsciiText:
    """A text of ASCII characters: each word is a run of letters and digits, whatever stands around it."""

    def __init__(self, text: str) -> None:
        self._text = text.lower()
        spans = [found.span() for found in _RUN.finditer(self._text)]
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]
        self.n_words = len(spans)

    def without(self, start: int, end: int) -> _Change:
        """Return what dropping ``text[start:end]`` changes: whole words go, or one word is left of all around."""
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first == last:
            return 0, 0, 0
        begins, ends = self._starts[first], self._ends[last - 1]
        left, right = begins < start, ends > end
        if (left and (right or self._ends[first] > start)) or (right and self._starts[last - 1] < end):
            word = self._text[min(begins, start) : start] + self._text[end : max(ends, end)]
            return last - first, 1, STEMS[word] in self._stems[first:last]
        return last - first - left - right, 0, 0

    @cached_property
    def _stems(self) -> list[str]:
        return stemmed_words(self._text)


class _AnyText:
    """A text with other letters, where a letter may change those beside it; what stands apart changes no word."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._apart = [found.start() for found in _APART.finditer(text)]
        self.n_words = len(words(text))

    def without(self, start: int, end: int) -> _Change:
        """Compare the words from the last separator before ``text[start:end]`` to the first one after it."""
        text, apart = self._text, self._apart
        ends = end == len(text) or text[end] == " "
        if ends and (start == 0 or " " in text[start - 1 : start + 1]):
            return len(words(text[start:end])), 0, 0  # whole words go
        before, after = bisect_left(apart, start), bisect_left(apart, end)
        first, last = apart[before - 1] + 1 if before else 0, apart[after] if after < len(apart) else len(text)
        around, left = stemmed_words(text[first:last]), stemmed_words(text[first:start] + text[end:last])
        return len(around), len(left), common_subsequence(around, left) if left else 0


@lru_cache(maxsize=1)
def _n_words(question: str) -> int:
    """Return how many words a question has; all its answers need it."""
    return len(words(question))
