"""What dropping a token changes in the words of a text: found for all tokens at once, from the words around each."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecuq.compare import STEMS, WITHOUT_SPACES, common_subsequence, stemmed_words, words

Counts = NDArray[np.intp]
_IS_LETTER = np.array([chr(code).isalnum() for code in range(128)])
# What stands between words: spaces, and characters that are words of their own.
_APART = re.compile(rf"[\s{WITHOUT_SPACES}]")


class Changes(NamedTuple):
    """For each token: words of its text, words around it, words left of these, and how many both have in common."""

    n_words: Counts
    before: Counts
    after: Counts
    common: Counts


def changes_of(answers: Sequence[Sequence[str]]) -> Changes:
    """Return what dropping each token changes, for the tokens of all answers in a row.

    Examples
    --------
    >>> found = changes_of([["one ", "two"], ["Par", "is"]])
    >>> found.n_words.tolist(), found.before.tolist(), found.after.tolist()
    ([2, 2, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1])
    """
    texts = ["".join(tokens) for tokens in answers]
    if all(map(str.isascii, texts)):
        return _of_ascii(texts, answers)
    found = [
        _of_ascii([text], [tokens]) if text.isascii() else _of_any(text, tokens)
        for text, tokens in zip(texts, answers, strict=True)
    ]
    return Changes(*map(np.concatenate, zip(*found, strict=True)))


def _of_ascii(texts: Sequence[str], answers: Sequence[Sequence[str]]) -> Changes:
    """Return the changes in texts of ASCII characters, where each word is a run of letters and digits.

    The texts are read as one, with a space between them. With a token go whole words, or all words around it are left
    as one.
    """
    text, sizes = " ".join(texts).lower(), [len(tokens) for tokens in answers]
    starts, ends = _runs(text)
    lengths = np.fromiter(map(len, chain.from_iterable(answers)), dtype=np.intp, count=sum(sizes))
    right = lengths.cumsum() + np.repeat(np.arange(len(sizes)), sizes)
    left = right - lengths
    first, last = ends.searchsorted(left), starts.searchsorted(right, side="right")
    some = last > first
    at_left, at_right = some & (starts[first] < left), some & (ends[last - 1] > right)
    joined = at_left & (at_right | (ends[first] > left)) | at_right & (starts[last - 1] < right)
    # Words that end or begin where the token does, and are not joined, stay as they are.
    before = last - first - (at_left & ~joined) - (at_right & ~joined)
    common = np.zeros(len(before), dtype=np.intp)
    places = joined.nonzero()[0].tolist()
    if places:
        stems = stemmed_words(text)
        for k in places:
            a, b, begin, end = first[k], last[k], left[k], right[k]
            word = text[min(starts[a], begin) : begin] + text[end : max(ends[b - 1], end)]
            common[k] = STEMS[word] in stems[a:b]
    ends_of_texts = starts.searchsorted(list(accumulate(len(one) + 1 for one in texts))).tolist()
    n_words = [end - start for start, end in pairwise([0, *ends_of_texts])]
    return Changes(np.repeat(n_words, sizes), before, joined.astype(np.intp), common)


def _runs(text: str) -> tuple[Counts, Counts]:
    """Return where the runs of letters and digits of a text of ASCII characters start and end, and one beyond it."""
    inside = _IS_LETTER[np.frombuffer(f" {text}  a ".encode(), dtype=np.uint8)]
    edges = (inside[1:] != inside[:-1]).nonzero()[0]
    return edges[::2], edges[1::2]


def _of_any(text: str, tokens: Sequence[str]) -> Changes:
    """Return the changes in a text with other letters, where a letter may change those beside it."""
    apart = [found.start() for found in _APART.finditer(text)]
    end, found = 0, []
    for token in tokens:
        start, end = end, end + len(token)
        found.append(_without(text, apart, start, end))
    before, after, common = np.array(found, dtype=np.intp).T
    return Changes(np.full(len(tokens), len(words(text))), before, after, common)


def _without(text: str, apart: Sequence[int], start: int, end: int) -> tuple[int, int, int]:
    """Compare the words from the last separator before ``text[start:end]`` to the first one after it."""
    ends = end == len(text) or text[end] == " "
    if ends and (start == 0 or " " in text[start - 1 : start + 1]):
        return len(words(text[start:end])), 0, 0  # whole words go
    before, after = bisect_left(apart, start), bisect_left(apart, end)
    first, last = apart[before - 1] + 1 if before else 0, apart[after] if after < len(apart) else len(text)
    around, left = stemmed_words(text[first:last]), stemmed_words(text[first:start] + text[end:last])
    return len(around), len(left), common_subsequence(around, left) if left else 0
