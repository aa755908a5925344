"""Comparisons without a model besides those by words: exact, numeric, choice, and auto."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from vecuq.compare.comparison import COMPARISONS, Comparison, Pair
from vecuq.compare.extract import choice_in
from vecuq.compare.meaning import AUTO
from vecuq.compare.normalised import normalised
from vecuq.compare.numbers import last_number_text, number_in, same_number
from vecuq.compare.vocabulary import MARK, SYMBOLS, UNITS

_AFTER = re.compile(r"\s*°?\s*([^\W\d_]+|[%€£$])")


def exact(one: str, other: str) -> float:
    """1 if two texts are equal but for case, punctuation, articles and spaces; else 0.

    Examples
    --------
    >>> exact("The Eiffel Tower.", "eiffel tower"), exact("5", "-5")
    (1.0, 0.0)
    """
    return float(_exact_key(one) == _exact_key(other))


def numeric(one: str, other: str) -> float:
    """1 if the last numbers of two texts are equal, and their units where both have a known one; else 0.

    Examples
    --------
    >>> numeric("It is $1,000.", "1000 dollars"), numeric("5 mg", "5 g"), numeric("-3", "3")
    (1.0, 0.0, 0.0)
    """
    return _same_quantity(_quantity(one), _quantity(other))


def choice(one: str, other: str) -> float:
    """1 if two texts choose the same letter, A to J; else 0, also where one chooses none.

    Examples
    --------
    >>> choice("(B)", "The answer is B."), choice("(B)", "C")
    (1.0, 0.0)
    """
    return _same_choice(choice_in(one), choice_in(other))


def _exact_key(text: str) -> tuple[str, float]:
    """Return the normalised text, which lacks the sign of a number, and the number where it is nothing else."""
    bare = text.strip().rstrip(".")
    alone = last_number_text(bare)
    return normalised(text), number_in(bare) if alone == bare else 0.0


def _quantity(text: str) -> tuple[float, str]:
    """Return the last number of a text, NaN for none, and its unit if that is a known one."""
    written = last_number_text(text)
    if written is None:
        return number_in(text), ""
    before, _, after = text.rpartition(written)
    found = _AFTER.match(after)
    word = "" if found is None else found[1].lower()
    unit = SYMBOLS.get(word) or UNITS.get(word) or UNITS.get(word + MARK, "")
    return number_in(written), unit or SYMBOLS.get(before.rstrip()[-1:], "")


def _same_quantity(one: tuple[float, str], other: tuple[float, str]) -> float:
    units_differ = one[1] and other[1] and one[1] != other[1]
    return float(same_number(one[0], other[0]) and not units_differ)


def _same_choice(one: str | None, other: str | None) -> float:
    return float(one is not None and one == other)


def _by_parts(name: str, read: Callable[[str], Any], same: Callable[[Any, Any], float]) -> Comparison:
    """Make a comparison that reads each text once."""

    def compare(pairs: Sequence[Pair]) -> list[float]:
        known = {text: read(text) for text in {text for pair in pairs for text in pair}}
        return [same(known[one], known[other]) for one, other in pairs]

    return Comparison(name, compare, symmetric=True, weighs_tokens=False)


NAMED = (
    AUTO,
    _by_parts("exact", _exact_key, lambda one, other: float(one == other)),
    _by_parts("numeric", _quantity, _same_quantity),
    _by_parts("choice", choice_in, _same_choice),
)
COMPARISONS.update({comparison.name: comparison for comparison in NAMED})
