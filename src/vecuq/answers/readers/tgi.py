"""Answers of Hugging Face's text-generation-inference (TGI), route ``/generate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_text, first_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.envelope import Envelope, finish_of, recognised_in
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.rows import Rows, Spoken, TokenRow, spoken, top_of
from vecuq.answers.schema import MOST_ANSWERS
from vecuq.answers.tokens import logprob

WITH_PROMPT = "A text began with its prompt (`return_full_text`); the answer is what the tokens after it spell."


def is_tgi(fields: Mapping[str, Any]) -> bool:
    """Whether a reply has a generated text with the details of its tokens."""
    details = fields.get("details")
    known = ("tokens", "finish_reason", "generated_tokens", "best_of_sequences")
    return "generated_text" in fields and isinstance(details, Mapping) and any(name in details for name in known)


def read_tgi(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answer, and those of ``best_of_sequences``, which are samples of the same question.

    The server returns a seed where it sampled, and null where it did not.
    """
    envelope = Envelope.of(fields)
    answers = list(_sequences(envelope.reply))
    role = envelope.role or ("samples" if len(answers) > 1 else _role(answers[0][1]))
    return envelope.said([_answer(text, details, renormalise) for text, details in answers], role=role)


def _sequences(body: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    details = as_mapping(body.get("details"), "details")
    yield body.get("generated_text"), details
    others = details.get("best_of_sequences")
    for one in as_list([] if others is None else others, "best_of_sequences", most=MOST_ANSWERS):
        sequence = as_mapping(one, "a sequence")
        yield sequence.get("generated_text"), sequence


def _role(details: Mapping[str, Any]) -> str | None:
    if "seed" not in details:
        return None
    return "greedy" if details["seed"] is None else "samples"


def _answer(given: Any, details: Mapping[str, Any], renormalise: bool) -> Spoken:
    text, finish = as_text(given, "generated_text"), finish_of(details.get("finish_reason"))
    rows = list(_rows(details))
    generated = "".join(row.token or "" for row in rows if not row.is_end)
    table = Rows.table(rows, renormalise=renormalise)
    if not (generated.strip() and text.endswith(generated) and text.removesuffix(generated).strip()):
        return spoken(text, finish, table)
    found = spoken(generated, finish, table)
    return found._replace(notes=(WITH_PROMPT, *found.notes))


def _rows(details: Mapping[str, Any]) -> Iterator[TokenRow]:
    """Yield one row per token; a special one is no part of the text."""
    tokens = as_list(details.get("tokens") or [], "details.tokens")
    tops = as_list(details.get("top_tokens") or [], "details.top_tokens")
    for place, token in enumerate(tokens):
        fields = as_mapping(token, "a token")
        text = fields.get("text")
        yield TokenRow(
            token=text if isinstance(text, str) else None,
            logprob=logprob(first_of(fields, ("logprob", "log_prob"))),
            top=top_of(tops[place], name="top_tokens", spelling="text") if place < len(tops) else (),
            is_end=fields.get("special") is True,
        )


TGI = Format(
    "tgi",
    "replies of text-generation-inference (TGI), with details",
    "`generated_text` beside `details`",
    recognised_in(is_tgi),
    read_tgi,
)
