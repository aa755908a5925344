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

from rapidfuzz.distance import LCSseq

from vecuq.compare.stemming import stem

# Chinese and Japanese characters, as a range of a regular expression.
WITHOUT_SPACES = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
)
_WORD = re.compile(rf"[{WITHOUT_SPACES}]|[^\W_{WITHOUT_SPACES}]+")
ASCII_WORD = re.compile("[a-z0-9]+")
# No English word is longer; a word of a million letters must be neither stemmed nor cached.
LONGEST = 40


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case and without punctuation.

    Examples
    --------
    >>> words("It's Paris, für 3.5 €")
    ['it', 's', 'paris', 'für', '3', '5']
    """
    if text.isascii():
        return ASCII_WORD.findall(text.lower())
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def stemmed_words(text: str) -> list[str]:
    """Return the words of a text, those of more than three letters by their stems.

    Examples
    --------
    >>> stemmed_words("Cats were running")
    ['cat', 'were', 'run']
    """
    return [stem(word) if 3 < len(word) <= LONGEST else word for word in words(text)]


def stemmed(word: str) -> str:
    """Return a word in lower case as :func:`stemmed_words` lists it.

    Examples
    --------
    >>> stemmed("running"), stemmed("was")
    ('run', 'was')
    """
    return stem(word) if 3 < len(word) <= LONGEST else word


def common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two lists of words."""
    return int(LCSseq.similarity(one, other))


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
