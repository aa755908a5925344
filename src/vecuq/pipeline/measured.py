"""From answers to measures, with a note of how each answer was made, and which measures depend on that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from vecuq.decide import Making
from vecuq.measures import Measure, text
from vecuq.table import ScoreTable


def measured_answers(
    answers: Iterable[Any], measures: Sequence[Measure], settings: text.TextSettings
) -> tuple[ScoreTable, Making]:
    """Measure answers one by one, and note how each was made."""
    from vecuq.answers import record_of

    records = [record_of(one) for one in answers]
    values = [list(text.measure_record(record, measures, settings).values.values()) for record in records]
    names = tuple(one.name for one in measures)
    table = ScoreTable(names, np.array(values, dtype=float).reshape(len(values), len(names)))
    return table, Making.of_records(records)


def look_at_samples(measures: Sequence[Measure], settings: text.TextSettings) -> bool:
    """Whether the number of samples can change a measure, also by the sample that stands for the answer."""
    return settings.answer != "first" or any("sample" in one.needs for one in measures)


def look_at_questions(measures: Sequence[Measure]) -> bool:
    """Whether a question can change a measure: texts are compared in its light, and tokens weighed."""
    return any("text" in one.needs or "tokens" in one.needs for one in measures)
