"""Results of uqlm: ``UQResult.to_dict()``, its ``data`` alone, or the rows of ``to_df()``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_text, first_of, plain_fields, references_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.columns import bounded, is_column, name_of_row, parts_of_row, rows_in
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.rows import Rows, Spoken, spoken
from vecuq.answers.schema import MOST_ANSWERS
from vecuq.errors import TableError

SAMPLED = "uqlm drew the answers that it scored at a temperature above 0; they are read as the answers in question."
_TEXTS = ("prompt", "prompts", "response", "responses")


def is_uqlm(fields: Mapping[str, Any]) -> bool:
    """Whether a line is a result with columns of responses, or a row with a response and its samples."""
    data = _data(fields)
    if isinstance(data.get("response"), str):
        return "sampled_responses" in data
    responses = first_of(data, ("responses", "response"))
    beside: list[Any] = [data.get(name) for name in ("prompts", "sampled_responses")]
    # One list of prompts could be the messages of a conversation; what pandas writes for a column is a column.
    beside += [data.get("prompt")] if isinstance(data.get("prompt"), Mapping) else []
    return is_column(responses) and any(is_column(one) and len(one) == len(responses) for one in beside)


def _data(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    data = fields.get("data")
    return data if isinstance(data, Mapping) else fields


def read_uqlm(fields: Mapping[str, Any], *, renormalise: bool = False) -> list[Part]:
    """Return the answers of every prompt; the scores of uqlm, which are confidences, are kept beside them."""
    about = fields.get("metadata")
    metadata = about if isinstance(about, Mapping) else {}
    notes = (SAMPLED,) if _is_sampled(metadata) else ()
    data = _data(fields)
    responses = first_of(data, ("responses", "response"))
    is_only = not is_column(responses) or len(responses) == 1
    rows = enumerate(_rows(data, metadata))
    return bounded(_parts(row, _shared(row, fields, place, is_only, notes), renormalise) for place, row in rows)


def _shared(
    row: Mapping[str, Any], fields: Mapping[str, Any], place: int, is_only: bool, notes: tuple[str, ...]
) -> Part:
    """Return what the answers of a row have in common."""
    question = first_of(row, ("prompt", "prompts"))
    asked = question if isinstance(question, str) else None
    return Part(
        (),
        id=name_of_row(fields, place, is_only=is_only, is_asked=asked is not None),
        question=asked,
        references=references_of(row),
        meta=plain_fields({name: value for name, value in row.items() if name not in _TEXTS}),
        notes=notes,
    )


def _is_sampled(metadata: Mapping[str, Any]) -> bool:
    settings = metadata.get("parameters")
    temperature = first_of({**(settings if isinstance(settings, Mapping) else {}), **metadata}, ("temperature",))
    return isinstance(temperature, int | float) and temperature > 0


def _rows(data: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    leading = "responses" if "responses" in data else "response"
    if not is_column(data.get(leading)):
        yield {**data}
        return
    beside = {name: metadata[name] for name in ("logprobs", "multiple_logprobs") if name in metadata}
    yield from rows_in({**beside, **data}, leading, needed=("prompts", "prompt", "sampled_responses", *beside))


def _parts(row: Mapping[str, Any], shared: Part, renormalise: bool) -> list[Part]:
    """Return the answer and the samples of a row; ``shared`` is what they have in common."""
    text = as_text(first_of(row, ("response", "responses")), "a response")
    answer = _answer(text, first_of(row, ("logprobs", "logprob")), renormalise)
    others = as_list(row.get("sampled_responses") or [], "sampled_responses", most=MOST_ANSWERS)
    theirs = as_list(
        first_of(row, ("multiple_logprobs", "multiple_logprob")) or [None] * len(others), "multiple_logprobs"
    )
    if len(theirs) != len(others):
        raise TableError(f"there are {len(others):,} sampled_responses and {len(theirs):,} multiple_logprobs.")
    said = [_answer(as_text(one, "a response"), rows, renormalise) for one, rows in zip(others, theirs, strict=True)]
    return parts_of_row(shared, answer, said)


def _answer(text: str, logprobs: Any, renormalise: bool) -> Spoken:
    return spoken(text, None, Rows.of(logprobs, "logprobs", renormalise=renormalise))


UQLM = Format(
    "uqlm",
    "results of uqlm",
    "columns `responses` beside `prompts` or `sampled_responses`, alone or under `data`; or rows of them",
    is_uqlm,
    read_uqlm,
)
