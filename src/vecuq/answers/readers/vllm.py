"""Answers as vLLM's ``RequestOutput`` holds them, dumped to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq.answers.alignment import own_tokens
from vecuq.answers.fields import as_list, as_mapping, as_name, as_text, first_of, references_of, role_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.format import Format
from vecuq.answers.schema import MOST_ANSWERS, Answer
from vecuq.answers.tokens import entropies_of_top, logprob
from vecuq.errors import TableError


def is_vllm(fields: Mapping[str, Any]) -> bool:
    """Whether a line has the outputs of a request."""
    outputs = fields.get("outputs")
    return isinstance(outputs, list) and all(isinstance(one, Mapping) and "text" in one for one in outputs)


def read_vllm(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answers of one request; its sampling parameters say whether they are greedy.

    ``request_id`` does not name a question: vLLM numbers its requests, from 0 in each run.
    """
    outputs = as_list(fields.get("outputs"), "outputs", most=MOST_ANSWERS)
    if not outputs:
        raise TableError("the request has no outputs.")
    question = first_of(fields, ("question", "prompt"))
    answers, notes = zip(*(_answer(as_mapping(output, "an output"), renormalise) for output in outputs), strict=True)
    return Part(
        answers=answers,
        notes=sum(notes, ()),
        role=role_of(fields, fields.get("sampling_params")),
        id=as_name(first_of(fields, ("id", "question_id")), "id"),
        question=question if isinstance(question, str) else None,
        references=references_of(fields),
    )


def _answer(output: Mapping[str, Any], renormalise: bool) -> tuple[Answer, tuple[str, ...]]:
    """Return one output as an answer, with notes."""
    text = as_text(output.get("text"), "text")
    total, finish = output.get("cumulative_logprob"), output.get("finish_reason")
    finish = finish if isinstance(finish, str) else None
    if output.get("logprobs") is None:
        return Answer(text=text.strip(), finish=finish, logprob=None if total is None else logprob(total)), ()
    own, notes = own_tokens(text, _tokens(output, renormalise), finish)
    return Answer(text=text.strip(), finish=finish, **own), notes


def _tokens(output: Mapping[str, Any], renormalise: bool) -> dict[str, Any]:
    """Return tokens, log-probs and entropies; every step maps token ids to log-probs, the chosen token among them."""
    ids = as_list(output.get("token_ids"), "token_ids")
    steps = [as_mapping(step, "a step of logprobs") for step in as_list(output["logprobs"], "logprobs")]
    if len(ids) != len(steps):
        raise TableError(f"there are {len(ids):,} token_ids and {len(steps):,} logprobs; one each was expected.")
    chosen = [_entry(step, token) for step, token in zip(steps, ids, strict=True)]
    values = tuple(logprob(entry.get("logprob")) for entry in chosen)
    tops = [[logprob(_as_entry(entry).get("logprob")) for entry in step.values()] for step in steps]
    spelt = [entry.get("decoded_token") for entry in chosen]
    tokens = tuple(spelt) if all(isinstance(token, str) for token in spelt) else None
    return {"tokens": tokens, "logprobs": values, **entropies_of_top(tops, len(values), renormalise)}


def _entry(step: Mapping[str, Any], token: Any) -> Mapping[str, Any]:
    name = as_name(token, "a token id")
    if name is None or name not in step:
        raise TableError("logprobs must have the chosen token at every step, under its id.")
    return _as_entry(step[name])


def _as_entry(entry: Any) -> Mapping[str, Any]:
    """Return an entry with its fields; some dumps have only the number."""
    return entry if isinstance(entry, Mapping) else {"logprob": entry}


VLLM = Format(
    "vllm", "vLLM's RequestOutput, dumped to JSON", "a list `outputs` of objects with `text`", is_vllm, read_vllm
)
