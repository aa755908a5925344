"""Comparisons by a model that is asked for each pair: entailment, and a judge of equivalence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.compare.checked import floats
from vecuq.compare.comparison import ENTAILMENT, Comparison, Pair, nli_comparison
from vecuq.errors import TableError

Triple = tuple[str, str, str]


def entailment(nli: Callable[[Sequence[Pair]], Any]) -> Comparison:
    """Make a comparison by the probability that one text entails the other, from a model of NLI.

    Examples
    --------
    >>> entailment(lambda pairs: [[0.1, 0.2, 0.7] for _ in pairs]).compare([("Paris", "in Paris")])
    array([0.7])
    """
    inner = nli_comparison(nli)

    def compare(pairs: Sequence[Pair]) -> Array:
        return np.asarray(inner.compare(pairs)[:, ENTAILMENT])

    return Comparison("nli", compare, weighs_tokens=False)


def judgement(judge: Callable[[Sequence[Triple]], Any], *, name: str = "judge") -> Comparison:
    """Make a comparison from a judge: whether two answers to a question mean the same.

    ``judge`` maps triples (question, one answer, another) to one number in [0, 1] each; the question is empty where it
    is not known.

    Examples
    --------
    >>> same_length = judgement(lambda asked: [float(len(one) == len(other)) for _, one, other in asked])
    >>> same_length.compare([("Paris", "Tokyo")])
    array([1.])
    """

    def of_question(question: str, _texts: Sequence[str]) -> Comparison:
        def compare(pairs: Sequence[Pair]) -> Array:
            found = floats(judge([(question, one, other) for one, other in pairs])).ravel()
            if len(found) != len(pairs):
                raise TableError(f"{name} must return one number per pair: {len(pairs)} were needed, got {len(found)}.")
            return found

        return replace(unbound, compare=compare)

    unbound = Comparison(name, list, symmetric=True, weighs_tokens=False, of_question=of_question)
    return replace(of_question("", ()), of_question=of_question)
