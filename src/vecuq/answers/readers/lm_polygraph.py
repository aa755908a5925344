"""Statistics of lm-polygraph, written as JSON: one list per statistic, as its manager holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_text, as_texts
from vecuq.answers.parts import Part
from vecuq.answers.readers.columns import bounded, is_column, name_of_row, parts_of_row, rows_in
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.rows import Spoken
from vecuq.answers.schema import MOST_ANSWERS, Answer
from vecuq.answers.tokens import logprob

END_COUNTED = "lm-polygraph does not say which token ended an answer, so its end counts as a token, as it does there."
_GREEDY, _SAMPLES = "greedy_texts", "sample_texts"


def is_lm_polygraph(fields: Mapping[str, Any]) -> bool:
    """Whether a line holds the statistics of greedy or sampled texts."""
    stats = _stats(fields)
    return any(is_column(stats.get(name)) for name in (_GREEDY, _SAMPLES))


def _stats(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    stats = fields.get("stats")
    return stats if isinstance(stats, Mapping) else fields


def read_lm_polygraph(fields: Mapping[str, Any], *, renormalise: bool = False) -> list[Part]:
    """Return the answers of every input text; log-likelihoods are those of the tokens, as in lm-polygraph."""
    stats = _stats(fields)
    leading = _GREEDY if is_column(stats.get(_GREEDY)) else _SAMPLES
    rows = enumerate(rows_in(stats, leading, needed=(_SAMPLES, "input_texts", "greedy_log_likelihoods")))
    is_only = is_column(stats.get(leading)) and len(stats[leading]) == 1
    return bounded(
        _parts(row, _shared(row, name_of_row(fields, place, is_only=is_only, is_asked=_is_asked(row))))
        for place, row in rows
    )


def _is_asked(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("input_texts"), str)


def _shared(row: Mapping[str, Any], name: str | None) -> Part:
    """Return what the answers of a row have in common."""
    question = row["input_texts"] if _is_asked(row) else None
    return Part((), id=name, question=question, references=as_texts(row.get("target_texts"), "target_texts"))


def _parts(row: Mapping[str, Any], shared: Part) -> list[Part]:
    """Return the greedy answer and the samples of a row; ``shared`` is what they have in common."""
    text = row.get(_GREEDY)
    answer = None if text is None else _answer(text, row.get("greedy_log_likelihoods"), None, row.get("entropy"))
    texts = as_list(row.get(_SAMPLES) or [], _SAMPLES, most=MOST_ANSWERS)
    each, totals = (_beside(row.get(name), len(texts)) for name in ("sample_log_likelihoods", "sample_log_probs"))
    said = [_answer(*one, None) for one in zip(texts, each, totals, strict=True)]
    return parts_of_row(shared, answer, said)


def _beside(values: Any, size: int) -> list[Any]:
    """Return one value per sample; none where the statistic was not computed."""
    return values if isinstance(values, list) and len(values) == size else [None] * size


def _answer(text: Any, values: Any, total: Any, entropies: Any) -> Spoken:
    listed = None if values is None else tuple(map(logprob, as_list(values, "log_likelihoods")))
    known = entropies if isinstance(entropies, list) and listed is not None and len(entropies) == len(listed) else None
    answer = Answer(
        text=as_text(text, "a text").strip(),
        logprobs=listed,
        entropies=None if known is None else tuple(known),
        logprob=None if total is None else logprob(total),
    )
    return Spoken(answer, (END_COUNTED,) if listed else ())


LM_POLYGRAPH = Format(
    "lm-polygraph",
    "statistics of lm-polygraph, written as JSON",
    "columns `greedy_texts` or `sample_texts`, alone or under `stats`",
    is_lm_polygraph,
    read_lm_polygraph,
)
