"""Answers of SGLang's own route ``/generate``, and of its engine in Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_text
from vecuq.answers.parts import Part
from vecuq.answers.readers.envelope import Envelope, finish_of, recognised_in
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.rows import Rows, Spoken, TokenRow, spoken
from vecuq.answers.tokens import logprob
from vecuq.errors import TableError

UNKNOWN_END = (
    "SGLang sent tokens without their text, and a stop string ended the answer: which tokens are its own is not known, "
    "so its log-probs were left out; ask with `return_text_in_logprobs: true`."
)


def is_sglang(fields: Mapping[str, Any]) -> bool:
    """Whether a reply has a text and what SGLang says about it."""
    info = fields.get("meta_info")
    known = ("output_token_logprobs", "completion_tokens", "finish_reason")
    return "text" in fields and isinstance(info, Mapping) and any(name in info for name in known)


def read_sglang(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answer of one reply; tokens may come as ids alone, and the last may be the one that ended it."""
    envelope = Envelope.of(fields)
    info = as_mapping(envelope.reply.get("meta_info"), "meta_info")
    text = as_text(envelope.reply.get("text"), "text")
    return envelope.said([_answer(text, info, renormalise)])


def _answer(text: str, info: Mapping[str, Any], renormalise: bool) -> Spoken:
    reason = info.get("finish_reason")
    ended = reason if isinstance(reason, Mapping) else {"type": reason}
    finish, matched = finish_of(ended.get("type")), ended.get("matched")
    if finish == "abort":
        raise TableError("the server gave this request up (finish_reason abort); there is no answer to measure.")
    rows = list(_rows(info, matched))
    if isinstance(matched, str) and any(row.token is None for row in rows):
        return spoken(text, finish)._replace(notes=(UNKNOWN_END,))
    return spoken(text, finish, Rows.table(rows, renormalise=renormalise))


def _rows(info: Mapping[str, Any], matched: Any) -> Iterator[TokenRow]:
    """Yield one row per token; ``matched`` is the id of the token that ended the answer, or a stop string."""
    tokens = as_list(info.get("output_token_logprobs") or [], "output_token_logprobs")
    tops = as_list(info.get("output_top_logprobs") or [], "output_top_logprobs")
    for place, token in enumerate(tokens):
        value, name, text = _entry(token)
        top = as_list((tops[place] if place < len(tops) else None) or [], "output_top_logprobs")
        is_last = place == len(tokens) - 1
        yield TokenRow(
            token=text,
            logprob=value,
            top=[(spelling, likely) for likely, _, spelling in map(_entry, top)],
            is_end=is_last and type(matched) is int and name == matched,
        )


def _entry(token: Any) -> tuple[float, Any, str | None]:
    """Return log-prob, id and text of a token; older and shorter dumps have no text."""
    entry = as_list(token, "a token", most=8)
    if len(entry) < 2:
        raise TableError("a token of SGLang must be a list of log-prob, id and text.")
    text = entry[2] if len(entry) > 2 else None
    return logprob(entry[0]), entry[1], text if isinstance(text, str) else None


SGLANG = Format(
    "sglang",
    "replies of SGLang's /generate",
    "`text` beside `meta_info`",
    recognised_in(is_sglang),
    read_sglang,
)
