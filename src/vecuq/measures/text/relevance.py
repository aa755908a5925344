"""Relevance of each token of an answer: how much the text changes without it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from vecuq._check import Array, whole_number
from vecuq.compare import COMPARISONS, PairCache, comparison_of, words
from vecuq.measures.text.dropping import changes_of

_SPECIAL = re.compile(
    r"<\|[^|<>]*\|>|<\uff5c[^<>]*\uff5c>|</?s>|<(?:bos|eos|pad|unk|end_of_turn|start_of_turn)>|\[(?:BOS|EOS|PAD|SEP|CLS)\]"
)


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
        How many of the last tokens ended the answer; they count as special, besides those that look like one.

    Examples
    --------
    >>> token_relevance(["Par", "is", "!", "</s>"], "Capital of France?").round(3)
    array([0.25, 0.25, 0.  , 0.  ])
    """
    whole_number("n_end", n_end, 0)
    cache = similarity if isinstance(similarity, PairCache) else PairCache(comparison_of(similarity))
    return token_relevances([(tokens, n_end)], question, similarity=cache)[0]


def token_relevances(
    answers: Sequence[tuple[Sequence[str], int]], question: str, *, similarity: PairCache
) -> list[Array]:
    """Return :func:`token_relevance` of several answers to one question, each its tokens and ``n_end``, at once."""
    texts = [tokens[: max(len(tokens) - n_end, 0)] if len(tokens) > 1 else () for tokens, n_end in answers]
    pieces = [_plain(tokens) for tokens in texts]
    weigh = _by_rouge_l if similarity.comparison is COMPARISONS["rouge_l"] else _by_comparison
    weighed = weigh(pieces, question, similarity)
    return [
        one if len(one) == len(tokens) else _placed(one, tokens, text)
        for one, (tokens, _), text in zip(weighed, answers, texts, strict=True)
    ]


def _plain(tokens: Sequence[str]) -> Sequence[str]:
    """Return the tokens that are text."""
    text = "".join(tokens)
    may_differ = "<" in text or "[" in text or "" in tokens
    return [token for token in tokens if not is_special(token)] if may_differ else tokens


def _placed(relevance: Array, tokens: Sequence[str], text: Sequence[str]) -> Array:
    """Return the relevance of all tokens from that of the ones that are text; the others have none."""
    found = np.full(len(tokens), 0.5 if len(tokens) == 1 else 0.0)
    found[[k for k, token in enumerate(text) if not is_special(token)]] = relevance
    return found


def _by_comparison(answers: Sequence[Sequence[str]], question: str, cache: PairCache) -> Iterator[Array]:
    for tokens in answers:
        full = f"{question} {''.join(tokens)}".strip()
        less = ("".join(tokens[:k]) + "".join(tokens[k + 1 :]) for k in range(len(tokens)))
        yield np.asarray(1.0 - cache.of_pairs((full, f"{question} {text}".strip()) for text in less))


def _by_rouge_l(answers: Sequence[Sequence[str]], question: str, _cache: PairCache) -> Iterator[Array]:
    """Compute the same faster: a longest common subsequence contains the common start and end of two texts.

    So only the words around the token are compared; all others, those of the question included, are in common.
    """
    if not any(answers):
        yield from (np.zeros(0) for _ in answers)
        return
    changes, asked = changes_of(answers), _n_words(question)
    shared = asked + changes.n_words - changes.before + changes.common
    total = 2 * (asked + changes.n_words) - changes.before + changes.after
    relevance, end = 1.0 - 2.0 * shared / np.maximum(total, 1), 0  # 1 where there is no word at all
    for tokens in answers:
        start, end = end, end + len(tokens)
        yield relevance[start:end]


@lru_cache(maxsize=1)
def _n_words(question: str) -> int:
    """Return how many words a question has; all its answers need it."""
    return len(words(question))
