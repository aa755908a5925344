"""The content of a text: its words without stop words, its numbers, and whether it is negated. No model is needed.

Words count by their English stems and without accents; a Chinese or Japanese character is a word. Numbers count by
their value, however they are written: ``1,000``, ``0.5`` and ``1/2``, ``five``, ``two million``. Units and currencies
have one spelling. Order is not seen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from vecuq.compare.lexical import WITHOUT_SPACES
from vecuq.compare.numbers import number_in
from vecuq.compare.stemming import stem
from vecuq.compare.vocabulary import (
    LEADS,
    MONTHS,
    NEGATIONS,
    SCALES,
    SPELT,
    STOP_WORDS,
    SYMBOLS,
    TENS,
    UNITS,
)

_ISO_DATE = re.compile(r"(?<![\w-])(\d{4})-(\d\d)-(\d\d)(?![\w-])")
_NUMBER = r"(?:(?<![\w.])[-\u2212])?(?<![^\W\d_])(?:\d+/\d+(?![\d/])|(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)"
_TOKEN = re.compile(
    rf"{_NUMBER}(?:(?:st|nd|rd|th)\b)?|[{WITHOUT_SPACES}]|[^\W_{WITHOUT_SPACES}]+(?:['\u2019][^\W_]+)?|[%$€£¥<>≤≥≠]"
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f])|\s*\n\s*")
_ACCENT = re.compile("[\u0300-\u036f]")
_CODE = re.compile(r"```|^\s*(?:def|class|import|from|return|function|const|let|var|public|#include)\b.*[({;:=]", re.M)
_FENCE = re.compile(r"```\w*")
_CODE_TOKEN = re.compile(r"\w+|[^\w\s]")
_NOT = "!"
# Longer texts are compared by their start: what follows costs time and memory, and seldom changes the meaning.
MOST_LETTERS = 20_000


class Sentence(NamedTuple):
    """The words of a sentence, and whether the number of its negations is odd."""

    words: frozenset[str]
    negated: bool


class Content(NamedTuple):
    """What a text says: all its words, polarity, a leading yes or no, its sentences, its tokens if it is code."""

    words: frozenset[str]
    negated: bool = False
    lead: str = ""
    sentences: tuple[Sentence, ...] = ()
    code: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare."""
        return not (self.words or self.negated or self.lead or self.code)


def content_of(text: str) -> Content:
    """Return the content of a text.

    Examples
    --------
    >>> found = content_of("No, the dose is not 1,000 mg.")
    >>> sorted(found.words), found.negated, found.lead
    (['#1000.0', 'dose', 'mg'], True, 'no')
    """
    plain = _plain(text[:MOST_LETTERS])
    if _CODE.search(plain):
        tokens = tuple(_CODE_TOKEN.findall(_FENCE.sub("", text[:MOST_LETTERS])))
        return Content(frozenset(tokens), code=tokens)
    parts = [part for part in _SENTENCE_END.split(plain) if part]
    lead, sentences = "", []
    for part in parts:
        tokens_here = _TOKEN.findall(part)
        if not lead and not sentences and tokens_here and tokens_here[0] in LEADS:
            lead = LEADS[tokens_here.pop(0)]
        if tokens_here:
            sentences.append(_sentence(tokens_here))
    words = frozenset[str]().union(*(one.words for one in sentences))
    return Content(words, sum(one.negated for one in sentences) % 2 == 1, lead, tuple(sentences))


def words_of(text: str) -> frozenset[str]:
    """Return the content words of a text, negations left out."""
    return _sentence(_TOKEN.findall(_plain(text[:MOST_LETTERS]))).words


def _plain(text: str) -> str:
    """Return a text in lower case, without accents, with dates in one spelling."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text)))
    lower = text.lower()
    return _ISO_DATE.sub(_spelt_date, lower) if "-" in lower else lower


def _spelt_date(found: re.Match[str]) -> str:
    month = int(found[2])
    return f"{int(found[3])} {MONTHS[month - 1]} {found[1]}" if 1 <= month <= 12 else found[0]


def _sentence(tokens: list[str]) -> Sentence:
    read = [code for token in tokens for code in _read(token)]
    kept = _composed(read) if any(code[0] in "u+*" and code[1:2].isdigit() for code in read) else read
    negations = kept.count(_NOT)
    words = frozenset(kept) - {_NOT}
    if not words and not negations:  # nothing but stop words: they are all there is
        words = frozenset(tokens)
    return Sentence(words, negations % 2 == 1)


@lru_cache(maxsize=65_536)
def _read(token: str) -> tuple[str, ...]:
    """Return what a token counts as: nothing, a negation, a number (#), a part of one (u, +, *), or a stem."""
    if token in SYMBOLS:
        return (SYMBOLS[token],)
    if token[-1:].isdigit() or token[0].isdigit() or token[0] in "-\u2212.":
        return (f"#{number_in(token)!r}",)
    word, _, ending = token.replace("\u2019", "'").partition("'")
    if ending == "t" and word.endswith("n"):
        return (_NOT,) if word[:-1] in STOP_WORDS or word in ("can", "won", "shan") else (_NOT, stem(word[:-1]))
    if word in NEGATIONS:
        return (_NOT,)
    if word == "false":
        return (_NOT, "true")
    if word in STOP_WORDS:
        return ()
    return (_number_word(word) or UNITS.get(word) or (stem(word) if 3 < len(word) <= 40 else word[:200]),)


def _number_word(word: str) -> str:
    if word in SPELT:
        return f"u{SPELT[word]}"
    if word in TENS:
        return f"+{TENS[word]}"
    return f"*{SCALES[word]}" if word in SCALES else ""


def _composed(read: Iterable[str]) -> list[str]:
    """Return the words with runs of number words joined: +20 u1 becomes #21.0, #2.0 *1000000 becomes #2000000.0."""
    kept: list[str] = []
    total, group, running = 0.0, 0.0, False
    for code in [*read, ""]:
        digits = code[1:]
        if code[:1] == "*" and digits.isdigit():
            scale = float(digits)
            if not running and kept and kept[-1][0] == "#":
                group = float(kept.pop()[1:])
            group = (group or 1.0) * scale
            if scale >= 1_000:
                total, group = total + group, 0.0
            running = True
        elif code[:1] in ("u", "+") and digits.isdigit():
            group, running = group + float(digits), True
        else:
            if running:
                kept.append(f"#{total + group!r}")
            total, group, running = 0.0, 0.0, False
            kept += [code] if code else []
    return kept
