"""Similarity of two texts by their words: ROUGE-L, ROUGE-1 and -2, BLEU, Jaccard. No model is needed.

Words are maximal runs of letters and digits in lower case. ROUGE counts words of more than three letters by their
English stems. On ASCII text that makes it the ROUGE of the package ``rouge-score`` with its stemmer. Unlike there,
letters with accents and of other scripts are letters, and each Chinese or Japanese character is a word.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist

from vecuq.compare.stemming import stem

# Chinese and Japanese characters, as a range of a regular expression.
WITHOUT_SPACES = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
)
_WORD = re.compile(rf"[{WITHOUT_SPACES}]|[^\W_{WITHOUT_SPACES}]+")
# ASCII characters in lower case, and a space for all that are neither letters nor digits.
_ASCII = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128)) + bytes(128)
# Texts of which the last few are remembered have at most so many characters, so that they take little memory.
_SHORT = 4_096


class Stems(dict[str, str]):
    """The stem of each word in lower case, found when it is first needed; up to three letters stay as they are.

    No English word has more than 40 letters; a word of a million must be neither stemmed nor remembered.

    Examples
    --------
    >>> Stems()["running"], Stems()["was"]
    ('run', 'was')
    """

    def __missing__(self, word: str) -> str:
        if len(word) > 40:
            return word
        if len(self) >= 65_536:
            self.clear()
        self[word] = found = stem(word) if len(word) > 3 else word
        return found


STEMS = Stems()


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case and without punctuation.

    Examples
    --------
    >>> words("It's Paris, für 3.5 €")
    ['it', 's', 'paris', 'für', '3', '5']
    """
    if text.isascii():
        return text.encode().translate(_ASCII).decode().split()
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def stemmed_words(text: str) -> list[str]:
    """Return the words of a text, those of more than three letters by their stems.

    Examples
    --------
    >>> stemmed_words("Cats were running")
    ['cat', 'were', 'run']
    """
    return list(map(STEMS.__getitem__, words(text)))


def known_words(text: str) -> list[str]:
    """Return what :func:`stemmed_words` does, remembering the last short texts; the list must not be changed."""
    return _last_words(text) if len(text) <= _SHORT else stemmed_words(text)


_last_words = lru_cache(maxsize=64)(stemmed_words)


def common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two lists of words."""
    return int(LCSseq.similarity(one, other))


def common_subsequences(texts: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return :func:`common_subsequence` of every text with every other, (texts, texts)."""
    return np.asarray(cdist(texts, texts, scorer=LCSseq.similarity, dtype=np.int64))


def rouge_l(one: str, other: str) -> float:
    """ROUGE-L: F-measure of the longest common subsequence of stemmed words, ``2 LCS / (n + m)``, in [0, 1].

    Lin, ROUGE: A Package for Automatic Evaluation of Summaries (2004), with precision and recall weighing the same.
    0 where a text has no words.

    Examples
    --------
    >>> rouge_l("the cat sat", "the cat sat down quietly")
    0.75
    """
    left, right = stemmed_words(one), stemmed_words(other)
    return 2.0 * common_subsequence(left, right) / (len(left) + len(right)) if left and right else 0.0


def rouge_n(one: str, other: str, n: int = 1) -> float:
    """ROUGE-N: F-measure of the shared runs of n stemmed words, in [0, 1]; 0 where a text has no such run.

    Examples
    --------
    >>> rouge_n("the cat sat", "the cat ran"), rouge_n("the cat sat", "the cat ran", 2)
    (0.6666666666666666, 0.5)
    """
    left, right = _runs(stemmed_words(one), n), _runs(stemmed_words(other), n)
    total = left.total() + right.total()
    return 2.0 * (left & right).total() / total if total else 0.0


def jaccard(one: str, other: str) -> float:
    """Share of distinct words that two texts have in common, in [0, 1]; 0 where neither has a word.

    Examples
    --------
    >>> jaccard("Paris, France", "in paris")
    0.3333333333333333
    """
    left, right = set(words(one)), set(words(other))
    return len(left & right) / len(left | right) if left or right else 0.0


def bleu(reference: str, text: str) -> float:
    """BLEU of a text against one reference, in [0, 1]; runs of up to four words, or as many as the shorter text has.

    Papineni et al., BLEU (ACL 2002), of one sentence and without smoothing. Words are what spaces separate.

    Examples
    --------
    >>> round(bleu("the cat sat on a mat", "the cat sat on the mat"), 6)
    0.537285
    """
    truth, said = reference.split(), text.split()
    longest = min(4, len(truth), len(said))
    if not longest:
        return 0.0
    shared = [_precision(truth, said, n) for n in range(1, longest + 1)]
    if min(shared) == 0:
        return 0.0
    brevity = min(0.0, 1.0 - len(truth) / len(said))
    return math.exp(brevity + sum(map(math.log, shared)) / longest)


def _runs(listed: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(listed[k:] for k in range(n)), strict=False))


def _precision(truth: Sequence[str], said: Sequence[str], n: int) -> float:
    runs = _runs(said, n)
    return (runs & _runs(truth, n)).total() / runs.total()
