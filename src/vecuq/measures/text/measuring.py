"""From one answer to its measures, and to the reasons why others are missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vecuq.measures.registry import Measure, find_measures
from vecuq.measures.text.features import AnswerFeatures
from vecuq.measures.text.lacking import MissingFeatureError
from vecuq.measures.text.settings import TextSettings

if TYPE_CHECKING:
    from vecuq.answers import Answer, AnswerRecord


class MeasuredAnswer(NamedTuple):
    """The measures of one answer: ``values`` by name, NaN where missing, and ``reasons`` for those that are.

    ``answer`` is the greedy one, or the sample that stands for it; ``compared`` says how texts were compared, empty if
    they were not; ``thinks`` whether they contain thinking that was not stripped.
    """

    values: dict[str, float]
    reasons: dict[str, str]
    answer: Answer | None = None
    compared: str = ""
    thinks: bool = False


def measure_answer(
    answer: AnswerRecord | Mapping[str, Any],
    measures: Sequence[str] | None = None,
    settings: TextSettings | None = None,
) -> MeasuredAnswer:
    """Compute text measures of one answer; a measure that it does not allow is NaN, with the reason.

    Similarities are computed once for all measures. Answers that lack the same have the same reason, word for word, so
    that reasons can be counted.

    Parameters
    ----------
    answer
        A :class:`vecuq.answers.AnswerRecord`, or a mapping for :meth:`vecuq.answers.AnswerRecord.of`.
    measures
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
    from vecuq.answers import AnswerRecord

    found = find_measures(measures, modality="text")
    return measure_record(AnswerRecord.of(answer), found, TextSettings() if settings is None else settings)


def measure_record(record: AnswerRecord, measures: Sequence[Measure], settings: TextSettings) -> MeasuredAnswer:
    """Compute measures that are found already, see :func:`measure_answer`."""
    features = AnswerFeatures(record, settings)
    values: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for measure in measures:
        try:
            values[measure.name] = float(measure.compute(features))
        except MissingFeatureError as absent:
            values[measure.name], reasons[measure.name] = math.nan, str(absent)
        else:
            if math.isnan(values[measure.name]):
                reasons[measure.name] = "not a number: a missing value, or 0 times infinity"
    return MeasuredAnswer(values, reasons, features.answer, features.compared, features.thinks)
