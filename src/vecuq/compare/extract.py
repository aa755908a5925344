"""The final answer within a text: the last number, a choice, what is boxed, a field of JSON, a regular expression."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from vecuq._check import one_line
from vecuq.compare.numbers import last_number_text
from vecuq.compare.patterns import checked_pattern, last_match
from vecuq.errors import SettingError

Extraction = Callable[[str], str | None]
# Longer texts are searched in their last part only, where answers end.
MOST_LETTERS = 100_000
_MOST_OBJECTS, _LONGEST_SPEC = 200, 1_100
# Every repeat is bounded or cannot start twice at one place, so that no text takes long.
_LETTER = r"[\(\[]?\s{0,2}\*{0,3}\s{0,2}([A-J])\s{0,2}\*{0,3}\s{0,2}[\)\]]?"
_ALONE = re.compile(rf"\W{{0,20}}{_LETTER}\W{{0,20}}")
_LEADING = re.compile(r"\W{0,20}(?:\(([A-J])\)|\[([A-J])\]|([A-J])\s{0,2}[.):])\*{0,3}\s{1,3}\S")
_CUED = re.compile(
    r"(?i:\b(?:answer|choice|option)\b)(?i:\s{1,3}(?:is|would be|should be|letter|choice|option)){0,3}"
    rf"\W{{0,8}}?{_LETTER}(?![\w'])"
)
_IN_BRACKETS = re.compile(r"\(([A-J])\)")


def choice_in(text: str) -> str | None:
    """Return the letter (A to J) that a text chooses, as models write it; None where there is none.

    Examples
    --------
    >>> [choice_in(said) for said in ("(B)", "B.", "Answer: B", "The correct answer is **B**", "B) Paris", "Paris")]
    ['B', 'B', 'B', 'B', 'B', None]
    """
    alone = _ALONE.fullmatch(text.strip())
    if alone:
        return alone[1]
    cued = _CUED.findall(text)
    if cued:
        return str(cued[-1])
    leading = _LEADING.match(text)
    if leading:
        return next(letter for letter in leading.groups() if letter)
    bracketed = set(_IN_BRACKETS.findall(text))
    return bracketed.pop() if len(bracketed) == 1 else None


def boxed_in(text: str) -> str | None:
    r"""Return what the last ``\boxed{...}`` of a text holds, with its inner braces; None where there is none.

    Examples
    --------
    >>> boxed_in(r"so \boxed{\frac{1}{2}}.")
    '\\frac{1}{2}'
    """
    start = max(text.rfind("\\boxed{"), text.rfind("\\fbox{"))
    if start < 0:
        return None
    first, depth = text.index("{", start), 0
    for place in range(first, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return text[first + 1 : place].strip()
    return None


def json_field_in(text: str, path: str) -> str | None:
    """Return a field of the last JSON object in a text that has it, also within a code fence; a dot enters an object.

    Examples
    --------
    >>> json_field_in('Sure: {"final": {"answer": 18}}', "final.answer")
    '18'
    """
    decoder, place, found = json.JSONDecoder(), 0, None
    for _ in range(_MOST_OBJECTS):
        place = text.find("{", place)
        if place < 0:
            break
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
            continue
        inner = _entered(value, path.split("."))
        found = found if inner is None else inner
    return found


def _entered(value: Any, path: list[str]) -> str | None:
    for name in path:
        if isinstance(value, list) and len(name) < 10 and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return None
    if value is None:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


_NAMED: dict[str, Extraction] = {"last_number": last_number_text, "choice": choice_in, "boxed": boxed_in}
_KINDS = "'last_number', 'choice', 'boxed', 'json:FIELD' or 'regex:PATTERN'"


@lru_cache(maxsize=64)
def extraction(spec: str) -> Extraction:
    r"""Return the function from a text to its final answer, or to None where it has none.

    Parameters
    ----------
    spec
        ``"last_number"``; ``"choice"``: a letter A to J; ``"boxed"``: LaTeX; ``"json:FIELD"``, also
        ``"json:a.b"``; ``"regex:PATTERN"``: the first group of the last match, or the whole match if no group
        took part. A pattern runs with a time bound.

    Examples
    --------
    >>> extraction(r"regex:#### (\S+)")("so #### 18"), extraction("last_number")("18 of 20 eggs")
    ('18', '20')
    """
    kind, colon, rest = spec[:_LONGEST_SPEC].partition(":")
    if kind == "json" and len(spec) > _LONGEST_SPEC:
        raise SettingError(f"extract='json:...' needs the name of a field of at most {_LONGEST_SPEC:,} letters.")
    if kind == "regex" and colon:
        return _within_bounds(partial(last_match, checked_pattern(rest)))
    if kind == "json" and rest:
        return _within_bounds(partial(json_field_in, path=rest))
    if spec not in _NAMED:
        raise SettingError(f"extract must be {_KINDS}; got {one_line(repr(spec), most=60)}.")
    return _within_bounds(_NAMED[spec])


def _within_bounds(extract: Extraction) -> Extraction:
    def bounded(text: str) -> str | None:
        found = extract(text[-MOST_LETTERS:])
        return None if found is None or not found.strip() else found.strip()

    return bounded
