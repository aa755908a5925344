"""Comparisons of a part of each text: without thinking, and of the final answer alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vecuq._check import one_line
from vecuq.compare.comparison import Comparison, Pair, PairCache
from vecuq.compare.extract import extraction
from vecuq.compare.thinking import without_thinking
from vecuq.errors import SettingError

Preparation = Callable[[str], str | None]


def text_preparation(extract: str | None, *, strip_think: bool) -> Preparation | None:
    """Return what is done to a text before it is compared: a function to a text, or to None where nothing is found.

    Examples
    --------
    >>> text_preparation("last_number", strip_think=True)("<think>3 or 4?</think>It is 4.")
    '4'
    """
    if not isinstance(strip_think, bool):
        raise SettingError(f"strip_think must be True or False; got {strip_think!r}.")
    if not isinstance(extract, str | None):
        raise SettingError(f"extract must be a text or None; got {one_line(repr(extract), most=60)}.")
    found = None if extract is None else extraction(extract)
    if found is None:
        return without_thinking if strip_think else None
    return (lambda text: found(without_thinking(text))) if strip_think else found


def prepared(comparison: Comparison, prepare: Preparation | None) -> Comparison:
    """Return a comparison of what ``prepare`` leaves of each text.

    A text in which nothing is found differs from all in which something is; two such texts are compared whole.
    """
    if prepare is None:
        return comparison
    cache, known = PairCache(comparison), dict[str, str | None]()

    def compare(pairs: Sequence[Pair]) -> Any:
        for text in {text for pair in pairs for text in pair}:
            if text not in known:
                known[text] = prepare(text)
        found = [(known[one], known[other]) for one, other in pairs]
        mixed = np.array([(one is None) != (other is None) for one, other in found])
        values = cache.of_pairs(_whole(pair, *left) for pair, left in zip(pairs, found, strict=True))
        values[mixed] = comparison.blank
        return values

    bind = comparison.of_question
    bound = None if bind is None else lambda question, texts: prepared(bind(question, _left(texts, prepare)), prepare)
    return replace(comparison, compare=compare, of_question=bound)


def _whole(pair: Pair, one: str | None, other: str | None) -> Pair:
    """Return what was found in both texts, or both whole."""
    return pair if one is None or other is None else (one, other)


def _left(texts: Sequence[str], prepare: Preparation) -> list[str]:
    """Return what is left of texts; those in which nothing is found are whole."""
    found = [prepare(text) for text in texts]
    return [text if left is None else left for text, left in zip(texts, found, strict=True)]
