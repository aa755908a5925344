"""The final answers of the texts of one question, where they can be found: boxed, after ####, after "the answer is"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from vecuq.compare.extract import boxed_in, choice_in
from vecuq.compare.numbers import last_number_text

WORDS = "content words"
_CUE = re.compile(
    r"(?:\banswer\b(?:\s{1,3}(?:to|for|of)\s{1,3}[^.\n:]{1,80}?)?\s{0,3}\*{0,3}"
    r"(?:\s{0,3}\b(?:is|are|was|would be|must be)\b\s{0,3}:?|\s{0,3}[:=])"
    r"|\b(?:antwort|reponse|réponse|respuesta|risposta|resposta|ответ)\b\s{0,3}(?:ist|lautet|est|es|è|é)?\s{0,3}:?\s"
    r"|答案是?\s{0,3}[:\uff1a]?|答え\s{0,3}(?:は|[:\uff1a])|####)",
    re.IGNORECASE,
)
# Most texts have none of these, and need no search.
_CUES = ("boxed{", "answer", "####", "antwort", "ponse", "respuesta", "risposta", "resposta", "ответ", "答")
_CHOOSING = ("answer", "choice", "option")
_SEGMENT_END = re.compile(r"\n|[.!?](?=\s|$)|[\u3002\uff01\uff1f]")
_LISTED = re.compile(r"(?:^|\s)\(?([A-J])[).:]\s")
_PLAIN_CHOICE = re.compile(
    r"^\W{0,20}[A-J]\W{0,20}$|\b(?:answer|choice|option)\b(?:\s{1,3}(?:is|letter)){0,2}\W{0,8}[A-J]\W{0,5}(?:$|\n)",
    re.I,
)
_FRACTION = re.compile(r"\\[dt]?frac\{(-?\d+)\}\{(\d+)\}")
_MARKS = re.compile(r"\\text\w*\{([^{}]*)\}|\\[()\[\],;! ]|[*`_]|\\(?=[$%])")
_CALCULATED = re.compile(r"=\s*\**\s*[-$€£]?\s*\d")
_LETTER, _SHORT = 12, 80
MOST_LETTERS = 20_000
# Nearly all: one text in five may have been cut off before its answer.
_MOST = 0.8


class Finals(NamedTuple):
    """What is compared of each text, None where its final answer is missing; and what these are, in words."""

    kind: str
    parts: dict[str, str | None]


def final_answers(question: str, texts: Sequence[str]) -> Finals:
    """Return what is compared of the texts of one question: final answers if nearly all have one, else all of them.

    Examples
    --------
    >>> final_answers("", ["2 + 2 = 4. The answer is 4.", "So the answer is 5."])
    Finals(kind='final answers (numbers)', parts={'2 + 2 = 4. The answer is 4.': '4', 'So the answer is 5.': '5'})
    >>> final_answers("", ["Paris", "It is Lyon."]).kind
    'content words'
    """
    given = [text for text in texts if text.strip()]
    if any(len(text) > MOST_LETTERS for text in given):
        return _of_ends(question, given)
    # Most questions have no mark of a final answer in any text: one look at all texts is enough.
    together = "\n".join(given).lower()
    chosen = _choices(question, given, together)
    if chosen is not None:
        return Finals("final answers (choices)", chosen)
    for find, marks in ((_after_cue, _CUES), (_calculated, ("=",))):
        if any(mark in together for mark in marks):
            found = {text: find(text) for text in given}
            if _nearly_all(found, given):
                return _completed(found)
    return Finals(WORDS, {text: text for text in texts})


def _of_ends(question: str, texts: Sequence[str]) -> Finals:
    """Return the same for very long texts, which are searched at their ends, where final answers are."""
    ends = {text: text[-MOST_LETTERS:] for text in texts}
    found = final_answers(question, list(ends.values()))
    if found.kind == WORDS:
        return Finals(WORDS, {text: text for text in texts})
    return Finals(found.kind, {text: found.parts[end] for text, end in ends.items()})


def _nearly_all(found: dict[str, str | None], texts: Sequence[str]) -> bool:
    return sum(found[text] is not None for text in texts) >= _MOST * len(texts)


def _choices(question: str, texts: Sequence[str], together: str) -> dict[str, str | None] | None:
    """Return the letters that the texts choose; None if the question lists no choices and the texts are no letters."""
    listed = len(set(_LISTED.findall(question))) >= 2
    if not listed and min(map(len, texts), default=0) >= _LETTER and not any(word in together for word in _CHOOSING):
        return None
    fits = [listed or _is_plain_choice(text) for text in texts]
    if not texts or sum(fits) < _MOST * len(texts):
        return None
    found = {text: choice_in(text) if fit else None for text, fit in zip(texts, fits, strict=True)}
    return found if _nearly_all(found, texts) else None


def _is_plain_choice(text: str) -> bool:
    lower = text.lower()
    may_be = len(text) < _LETTER or any(word in lower for word in _CHOOSING)
    return may_be and _PLAIN_CHOICE.search(text) is not None


def _after_cue(text: str) -> str | None:
    """Return what follows the last cue of a final answer, to the end of its sentence; None without one."""
    boxed = boxed_in(text) if "boxed{" in text else None
    if boxed is not None:
        return _cleaned(boxed)
    lower = text.lower()
    if not any(cue in lower for cue in _CUES):
        return None
    for cue in reversed(list(_CUE.finditer(text))):
        rest = text[cue.end() :].lstrip()
        found = _cleaned(_SEGMENT_END.split(rest, maxsplit=1)[0])
        if found:
            return found
    return None


def _cleaned(segment: str) -> str:
    """Return a final answer without marks of LaTeX and Markdown; of an equation, what follows its last sign."""
    plain = _MARKS.sub(lambda found: found[1] or "", _FRACTION.sub(r"\1/\2", segment)).strip()
    return plain.rpartition("=")[2].strip() or plain


def _calculated(text: str) -> str | None:
    """Return the last number of a text that calculates."""
    calculates = "=" in text and "```" not in text and _CALCULATED.search(text)
    return last_number_text(text) if calculates else None


def _completed(cued: dict[str, str | None]) -> Finals:
    """Return final answers; a short text without a cue is one, and a calculation ends with one."""
    numeric = all(found is None or any(map(str.isdigit, found)) for found in cued.values())
    parts = {text: text if found is None and len(text) <= _SHORT else found for text, found in cued.items()}
    if numeric:
        parts = {text: _calculated(text) if found is None else found for text, found in parts.items()}
    return Finals(f"final answers ({'numbers' if numeric else 'texts'})", parts)
