"""Do two texts say the same? Final answers where there are some, content words elsewhere; no model is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from vecuq.compare.comparison import Comparison, Pair
from vecuq.compare.content import Content, Sentence, content_of, words_of
from vecuq.compare.finals import WORDS, Finals, final_answers
from vecuq.compare.vocabulary import PREFIXES

_ALTERNATIVES = frozenset(("or", "vs", "versus", "between", "either", "oder", "ou"))
# Texts that share words and differ in others are not the same, and more alike than texts that share nothing.
_PARTLY = 0.49
_LONG = 3


class _Read(NamedTuple):
    """A text that was read once for all comparisons.

    ``is_plain``: it is short and no code. ``may_reduce``: some of its words may not count, see ``_still_differ``.
    """

    content: Content
    words: frozenset[str]
    n_words: int
    denies: bool
    is_plain: bool
    may_reduce: bool


class Meaning:
    """Compares the texts of one question. Each text is read once.

    Parameters
    ----------
    question
        The question; empty where it is not known. Its own words say nothing about an answer, unless it offers them as
        alternatives.
    texts
        All texts of the question: whether final answers are compared depends on these, and on nothing else.

    Examples
    --------
    >>> compare = Meaning("", ["Canberra is the capital.", "It is Canberra.", "The capital is Sydney."])
    >>> compare("Canberra is the capital.", "It is Canberra.")
    1.0
    >>> compare("It is Canberra.", "The capital is Sydney.") < 0.5
    True
    """

    def __init__(self, question: str, texts: Sequence[str]) -> None:
        self.finals: Finals = final_answers(question, texts)
        self._known: dict[str, _Read | None] = {}
        plain = question.lower().replace(",", " ").split()
        self._asked = frozenset() if _ALTERNATIVES & set(plain) else words_of(question) if question else frozenset()
        self._choices = self.finals.kind.endswith("(choices)")

    def __call__(self, one: str, other: str) -> float:
        """Return 1 for the same meaning, below 0.5 for different ones; long texts by the share of their sentences."""
        left, right = self._read(one), self._read(other)
        if left is None or right is None:
            return 0.0
        if left.is_plain and right.is_plain:
            return self._short(left, right)
        if left.content.code or right.content.code:
            same = left.content.code == right.content.code
            return 1.0 if same else _PARTLY * _shared(left.content.words, right.content.words)
        if min(len(left.content.sentences), len(right.content.sentences)) >= _LONG:
            return (_supported(left.content, right.content) + _supported(right.content, left.content)) / 2
        return self._short(left, right)

    def _read(self, text: str) -> _Read | None:
        """Return what a text says; None where there is nothing to compare."""
        if text not in self._known:
            part = self.finals.parts.get(text, text)
            self._known[text] = None if part is None else self._read_part(part)
        return self._known[text]

    def _read_part(self, part: str) -> _Read | None:
        found = Content(frozenset((part,))) if self._choices else content_of(part)
        if found.is_empty:
            return None
        is_plain = not found.code and len(found.sentences) < _LONG
        may_reduce = bool(found.prefixed) or not self._asked.isdisjoint(found.words)
        return _Read(found, found.words, len(found.words), _denies(found), is_plain, may_reduce)

    def _short(self, left: _Read, right: _Read) -> float:
        shared = len(left.words & right.words)
        differ, flipped = shared < left.n_words and shared < right.n_words, False
        if differ and (left.may_reduce or right.may_reduce):
            differ, flipped = self._still_differ(left.content, right.content)
        if _opposed(left, right, flipped):
            return 0.0
        return _PARTLY * (2.0 * shared / (left.n_words + right.n_words)) if differ else 1.0

    def _still_differ(self, left: Content, right: Content) -> tuple[bool, bool]:
        """Whether each text has words that the other lacks, prefixes and the question's words left aside.

        The second result is whether one of these prefixes denies what the other text says.
        """
        mine, theirs = left.words - right.words, right.words - left.words
        mine, theirs, flipped = _without_prefixes(mine, theirs, left.prefixed | right.prefixed)
        # The question's own words are no difference between two answers that agree on something else.
        if mine and theirs and (left.words & right.words) - self._asked:
            mine, theirs = _reduced(mine, theirs, self._asked)
        return bool(mine and theirs), flipped


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words that two texts have in common, ``2 |A and B| / (|A| + |B|)``."""
    return 2.0 * len(one & other) / (len(one) + len(other))


def _reduced(
    mine: frozenset[str], theirs: frozenset[str], asked: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return two differences without the words of the question, unless both consist of them: then they count."""
    left, right = mine - asked, theirs - asked
    return (left, right) if left or right else (mine, theirs)


def _without_prefixes(
    mine: frozenset[str], theirs: frozenset[str], prefixed: frozenset[str]
) -> tuple[frozenset[str], frozenset[str], bool]:
    """Take ``unsafe`` for not ``safe`` where the other text has ``safe``; whether that negates is the last result."""
    negated = False
    for one, other in ((mine, theirs), (theirs, mine)):
        for word in one & prefixed:
            base = _without_prefix(word, other)
            if base is not None:
                mine, theirs, negated = mine - {word, base}, theirs - {word, base}, not negated
    return mine, theirs, negated


def _without_prefix(word: str, among: frozenset[str]) -> str | None:
    """Return the word that another one negates by its prefix; stems of the two may end differently."""
    for prefix in PREFIXES:
        base = word.removeprefix(prefix)
        if base != word and len(base) >= 3:
            for other in among:
                if other.startswith(base) and len(other) - len(base) <= 3:
                    return other
    return None


def _opposed(left: _Read, right: _Read, flipped: bool) -> bool:
    """Whether one text denies what the other says."""
    if left.content.lead and right.content.lead:
        if left.content.lead != right.content.lead:
            return True
        if not left.words or not right.words:
            return False
    return (left.denies != right.denies) != flipped


def _denies(content: Content) -> bool:
    """Whether a text is negated; of a bare yes or no, whether it is no."""
    return content.negated if content.words or not content.lead else content.lead == "no"


def _supported(text: Content, by: Content) -> float:
    """Return the share of a text's sentences that some sentence of another says too, each as far as it does."""
    return sum(max(_covered(one, other) for other in by.sentences) for one in text.sentences) / len(text.sentences)


def _covered(one: Sentence, other: Sentence) -> float:
    if not one.words or one.negated != other.negated:
        return 0.0
    return len(one.words & other.words) / len(one.words)


def meaning_of(question: str, texts: Sequence[str]) -> Comparison:
    """Return the comparison of the texts of one question by :class:`Meaning`."""
    meaning = Meaning(question, texts)
    return replace(AUTO, name=meaning.finals.kind, compare=lambda pairs: [meaning(one, other) for one, other in pairs])


def _pair_by_pair(pairs: Sequence[Pair]) -> list[float]:
    return [Meaning("", pair)(*pair) for pair in pairs]


AUTO = Comparison("auto", _pair_by_pair, symmetric=True, of_question=meaning_of, weighs_tokens=False)
__all__ = ["AUTO", "WORDS", "Meaning", "meaning_of"]
