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
from itertools import chain
from typing import NamedTuple

from vecuq.compare.lexical import WITHOUT_SPACES
from vecuq.compare.numbers import number_in
from vecuq.compare.stemming import stem
from vecuq.compare.vocabulary import (
    IRREGULAR,
    LEADS,
    MARK,
    MONTHS,
    NEGATIONS,
    PREFIXES,
    SCALES,
    SPELT,
    STOP_WORDS,
    SYMBOLS,
    TENS,
    UNITS,
)

# A leading yes or no speaks for itself: "No, ..." and "No it is ...", but not "No evidence" and not "No es seguro".
_LEAD = re.compile(
    rf"\W*({'|'.join(LEADS)})(?=\s*(?:[-,.!;:\u2013\u2014\u3001\u3002\uff0c]|$)|\s+(?:it|he|she|they|there|that|this|i|you|we)\b)"
)
_ISO_DATE = re.compile(r"(?<![\w-])(\d{4})-(\d\d)-(\d\d)(?![\w-])")
# Words first, since most tokens are; a number after a letter belongs to the word.
_TOKEN = re.compile(
    rf"[^\W\d_{WITHOUT_SPACES}][^\W_{WITHOUT_SPACES}]*(?:['\u2019][^\W_]+)?"
    r"|(?:(?<![\w.])[-\u2212])?(?:\d+/\d+(?![\d/])|(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?:(?:st|nd|rd|th)\b)?"
    rf"|[{WITHOUT_SPACES}]|[%$€£¥<>≤≥]|!="
)
# Single letters that are words of little meaning elsewhere: units ("5 m", "20 °C") and names ("vitamin C", "type A").
_LETTER = re.compile(
    r"(?<=\d)(?:\s?°)?\s?([cmls])(?![\w'\u2019])"
    r"|(?<![\w.'\u2019])([CDLMNST])(?![\w'\u2019])|(?<=[^\W\d_] )([AEOY])(?![\w'\u2019])"
)
_SENTENCE_END = re.compile(r"[.!?;](?=\s)|[\n\u3002\uff01\uff1f]")
_ACCENT = re.compile("[\u0300-\u036f]")
_CODE = re.compile(r"```|^\s*(?:def|class|import|from|return|function|const|let|var|public|#include)\b.*[({;:=]", re.M)
_CODE_MARK = re.compile("[`({;:=]")  # most texts have none of these, and need no slow search
_FENCE = re.compile(r"```\w*")
_CODE_TOKEN = re.compile(r"\w+|[^\w\s]")
# Within the codes of some tokens, one per line; see `_read`.
_NUMBER_PART = re.compile(r"^[u+*]\d", re.M)
_NOT = "!"
_POLAR: dict[str, tuple[str, ...]] = {"false": (_NOT, "true")} | dict.fromkeys((*NEGATIONS, "!="), (_NOT,))
# Longer texts are compared by their start: what follows costs time and memory, and seldom changes the meaning.
MOST_LETTERS = 20_000
_MOST_SENTENCES, _LONGEST = 100, 60


class Sentence(NamedTuple):
    """The words of a sentence, and whether the number of its negations is odd."""

    words: frozenset[str]
    negated: bool


class Content(NamedTuple):
    """What a text says: all its words, polarity, a leading yes or no, its sentences, its tokens if it is code.

    ``prefixed`` are the words that may deny another one by their prefix, such as ``unsafe``.
    """

    words: frozenset[str]
    negated: bool = False
    lead: str = ""
    sentences: tuple[Sentence, ...] = ()
    code: tuple[str, ...] = ()
    prefixed: frozenset[str] = frozenset()

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
    if _CODE_MARK.search(plain) and _CODE.search(plain):
        written = tuple(_CODE_TOKEN.findall(_FENCE.sub("", text[:MOST_LETTERS])))
        return Content(frozenset(written), code=written)
    lead = _LEAD.match(plain)
    parts = _SENTENCE_END.split(plain if lead is None else plain[lead.end() :])
    sentences = tuple(_sentence(tokens) for part in parts if (tokens := _TOKEN.findall(part)))
    words = sentences[0].words if len(sentences) == 1 else frozenset[str]().union(*(one.words for one in sentences))
    negated = sum(one.negated for one in sentences) % 2 == 1
    return Content(words, negated, LEADS[lead[1]] if lead else "", sentences[:_MOST_SENTENCES], (), _prefixed(words))


def words_of(text: str) -> frozenset[str]:
    """Return the content words of a text, negations left out."""
    return _sentence(_TOKEN.findall(_plain(text[:MOST_LETTERS]))).words


def _prefixed(words: frozenset[str]) -> frozenset[str]:
    return frozenset([word for word in words if word.startswith(PREFIXES)])


def _plain(text: str) -> str:
    """Return a text in lower case, without accents, with dates in one spelling."""
    if not text.isascii():
        apart = text.replace("≠", "!=")  # which is "=" with an accent
        text = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", apart)))
    lower = _LETTER.sub(_marked, text).lower()
    return _ISO_DATE.sub(_spelt_date, lower) if "-" in lower else lower


def _marked(found: re.Match[str]) -> str:
    """Return a single letter that has a meaning as a word of its own."""
    letter = found[1] or found[2] or found[3]
    return f" {letter}{MARK}"


def _spelt_date(found: re.Match[str]) -> str:
    month = int(found[2])
    return f"{int(found[3])} {MONTHS[month - 1]} {found[1]}" if 1 <= month <= 12 else found[0]


def _sentence(tokens: list[str]) -> Sentence:
    short = tokens if max(map(len, tokens), default=0) <= _LONGEST else [token[:_LONGEST] for token in tokens]
    read = list(chain.from_iterable(map(_read, short)))
    kept = _composed(read) if _NUMBER_PART.search("\n".join(read)) else read
    negations = kept.count(_NOT)
    words = frozenset(kept) - {_NOT} if negations else frozenset(kept)
    if not words and not negations:  # nothing but stop words: they are all there is
        words = frozenset(tokens)
    return Sentence(words, negations % 2 == 1)


@lru_cache(maxsize=65_536)
def _read(token: str) -> tuple[str, ...]:
    """Return what a token counts as: nothing, a negation, a number (#), a part of one (u, +, *), or a stem."""
    if token in SYMBOLS:
        return (SYMBOLS[token],)
    if token[0].isdigit() or token[0] in "-\u2212.":
        return (f"#{number_in(token)!r}",)
    word, _, ending = token.replace("\u2019", "'").partition("'")
    if ending == "t" and word.endswith("n"):
        verb = word[:-1]
        return (_NOT,) if verb in STOP_WORDS or verb in ("ca", "wo", "sha") else (_NOT, _stemmed(verb))
    if word in _POLAR:
        return _POLAR[word]
    if len(word) == 1 and ending:  # l'eau, n'est
        word = ending
    return () if word in STOP_WORDS else (_number_word(word) or UNITS.get(word) or _stemmed(word),)


def _stemmed(word: str) -> str:
    plain = IRREGULAR.get(word, word)
    return stem(plain) if 3 < len(plain) <= 40 else plain[:200]


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
        if code[:1] == "*" and digits.isdecimal():
            scale = float(digits)
            if not running and kept and kept[-1][0] == "#":
                group = float(kept.pop()[1:])
            group = (group or 1.0) * scale
            if scale >= 1_000:
                total, group = total + group, 0.0
            running = True
        elif code[:1] in ("u", "+") and digits.isdecimal():
            group, running = group + float(digits), True
        else:
            if running:
                kept.append(f"#{total + group!r}")
            total, group, running = 0.0, 0.0, False
            kept += [code] if code else []
    return kept
