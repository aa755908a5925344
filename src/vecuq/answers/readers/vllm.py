"""Answers as vLLM's ``RequestOutput`` holds them, dumped to JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_name, as_text, role_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.envelope import Envelope, recognised_in
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.rows import Rows, Spoken, TokenRow, spoken
from vecuq.answers.schema import MOST_ANSWERS, Answer
from vecuq.answers.tokens import logprob
from vecuq.errors import TableError


def is_vllm(fields: Mapping[str, Any]) -> bool:
    """Whether a line has the outputs of a request."""
    outputs = fields.get("outputs")
    return isinstance(outputs, list) and all(isinstance(one, Mapping) and "text" in one for one in outputs)


def read_vllm(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answers of one request; its sampling parameters say whether they are greedy.

    ``request_id`` does not name a question: vLLM numbers its requests, from 0 in each run.
    """
    envelope = Envelope.of(fields)
    outputs = as_list(envelope.reply.get("outputs"), "outputs", most=MOST_ANSWERS)
    if not outputs:
        raise TableError("the request has no outputs.")
    role = envelope.role or role_of(envelope.reply.get("sampling_params"))
    return envelope.said([_answer(as_mapping(output, "an output"), renormalise) for output in outputs], role=role)


def _answer(output: Mapping[str, Any], renormalise: bool) -> Spoken:
    text = as_text(output.get("text"), "text")
    total, finish = output.get("cumulative_logprob"), output.get("finish_reason")
    finish = finish if isinstance(finish, str) else None
    if output.get("logprobs") is None:
        return Spoken(Answer(text=text.strip(), finish=finish, logprob=None if total is None else logprob(total)))
    return spoken(text, finish, Rows.table(_rows(output), renormalise=renormalise))


def _rows(output: Mapping[str, Any]) -> Iterator[TokenRow]:
    """Yield one row per token; every step maps token ids to log-probs, the chosen token among them."""
    ids = as_list(output.get("token_ids"), "token_ids")
    steps = [as_mapping(step, "a step of logprobs") for step in as_list(output["logprobs"], "logprobs")]
    if len(ids) != len(steps):
        raise TableError(f"there are {len(ids):,} token_ids and {len(steps):,} logprobs; one each was expected.")
    for step, name in zip(steps, ids, strict=True):
        likely = [_token(_as_entry(entry)) for entry in step.values()]
        yield TokenRow(*_token(_entry(step, name)), likely)


def _token(entry: Mapping[str, Any]) -> tuple[str | None, float]:
    spelt = entry.get("decoded_token")
    return spelt if isinstance(spelt, str) else None, logprob(entry.get("logprob"))


def _entry(step: Mapping[str, Any], token: Any) -> Mapping[str, Any]:
    name = as_name(token, "a token id")
    if name is None or name not in step:
        raise TableError("logprobs must have the chosen token at every step, under its id.")
    return _as_entry(step[name])


def _as_entry(entry: Any) -> Mapping[str, Any]:
    """Return an entry with its fields; some dumps have only the number."""
    return entry if isinstance(entry, Mapping) else {"logprob": entry}


VLLM = Format(
    "vllm",
    "vLLM's RequestOutput, dumped to JSON",
    "a list `outputs` of objects with `text`",
    recognised_in(is_vllm),
    read_vllm,
)
