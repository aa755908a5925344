"""From one answer to its measures, and to the reasons why others are absent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vecuq.measures.registry import find_measures, measures_of
from vecuq.measures.text.missing import MissingPartError
from vecuq.measures.text.output import TextOutput
from vecuq.measures.text.parts import Parts
from vecuq.measures.text.settings import TextSettings


class MeasuredAnswer(NamedTuple):
    """The measures of one answer: ``values`` by name, NaN where missing, and ``reasons`` for those that are."""

    values: dict[str, float]
    reasons: dict[str, str]


def measure_answer(
    answer: TextOutput | Mapping[str, Any],
    names: Sequence[str] | None = None,
    settings: TextSettings | None = None,
) -> MeasuredAnswer:
    """Compute text measures of one answer; what it does not allow is NaN, with the reason.

    Similarities are computed once for all measures. Reasons are the same words for all answers that lack the same, so
    that they can be counted.

    Parameters
    ----------
    answer
        An :class:`TextOutput`, or a plain record for :meth:`TextOutput.of`.
    names
        Which measures, see ``vecuq.measures.list_measures()["text"]``; all of them by default.
    settings
        How texts are compared, and the options of the original papers.

    Examples
    --------
    >>> found = measure_answer({"text": "Paris", "samples": ["Paris", "Lyon"]}, ["consistency", "msp"])
    >>> found.values
    {'consistency': 0.5, 'msp': nan}
    >>> found.reasons
    {'msp': 'no token log-probabilities'}
    """
    given = answer if isinstance(answer, TextOutput) else TextOutput.of(answer)
    parts = Parts(given, TextSettings() if settings is None else settings)
    values: dict[str, float] = {}
    reasons: dict[str, str] = {}
    asked = tuple(measures_of("text")) if names is None else names
    for wanted in find_measures(asked, modality="text"):
        try:
            values[wanted.name] = float(wanted.compute(parts))
        except MissingPartError as absent:
            values[wanted.name], reasons[wanted.name] = math.nan, str(absent)
        else:
            if math.isnan(values[wanted.name]):
                reasons[wanted.name] = "the numbers given make no number: a gap, or 0 times infinity"
    return MeasuredAnswer(values, reasons)
