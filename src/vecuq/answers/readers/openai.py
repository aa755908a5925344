"""Answers as OpenAI-style servers return them: chat completions, the older completions, and batches of either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_text, first_of
from vecuq.answers.parts import Part, split
from vecuq.answers.readers.envelope import REFUSAL, TOOL_CALLS, Envelope
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.messages import calls_of, text_of
from vecuq.answers.readers.openai_responses import is_responses
from vecuq.answers.readers.rows import Rows, Spoken, TokenRow, spoken
from vecuq.answers.schema import MOST_ANSWERS
from vecuq.answers.tokens import logprob
from vecuq.errors import TableError

_WRAPPED = ("choices", "body", "status_code", "error")


def is_openai(fields: Mapping[str, Any]) -> bool:
    """Whether a line has a server's reply, alone or under ``response``, or is a request of a Batch."""
    if is_responses(fields):
        return False
    response = fields.get("response")
    if isinstance(response, Mapping):
        return any(name in response for name in _WRAPPED)
    of_batch = "custom_id" in fields and ("response" in fields or isinstance(fields.get("body"), Mapping))
    return "choices" in fields or of_batch


def read_openai(fields: Mapping[str, Any], *, renormalise: bool = False) -> list[Part]:
    """Return the answers of one line: a reply, or an object with the reply under ``response`` and perhaps ``request``.

    The request's temperature says whether the answers are greedy (0) or samples. A request alone brings its question
    and no answer. Several prompts become several parts.
    """
    envelope = Envelope.of(fields)
    prompts = _prompts(envelope.request)
    if envelope.is_request:
        return [envelope.part(answers=(), prompts=prompts)]
    envelope.refuse_error()
    choices = as_list(envelope.reply.get("choices"), "choices", most=MOST_ANSWERS)
    if not choices:
        raise TableError("the reply has no choices.")
    said = [said_by(choice, renormalise=renormalise) for choice in _in_order(choices)]
    return split(envelope.said(said, prompts=prompts), n=envelope.request.get("n"))


def _prompts(request: Mapping[str, Any]) -> tuple[str | None, ...]:
    """Return the prompts of a request that has several; one given by the ids of its tokens is None."""
    given = request.get("prompt")
    if not isinstance(given, list) or len(given) < 2 or all(isinstance(one, int) for one in given):
        return ()
    listed = as_list(given, "request.prompt", most=MOST_ANSWERS)
    return tuple(one if isinstance(one, str) else None for one in listed)


def _in_order(choices: list[Any]) -> list[Any]:
    """Return the choices by their index, where each has one of its own."""
    places = [one.get("index") if isinstance(one, Mapping) else None for one in choices]
    known = [place for place in places if isinstance(place, int)]
    if sorted(known) != list(range(len(choices))):
        return choices
    return [choice for _, choice in sorted(zip(known, choices, strict=True), key=lambda pair: pair[0])]


def said_by(choice: Any, *, renormalise: bool = False) -> Spoken:
    """Return one element of ``choices`` as an answer with notes; without log-probs where none belong to its text.

    Some servers return the token that ended the answer, others do not; ``n_end`` counts it where it is there. A refusal
    is an answer with ``finish="refusal"``; the text of a tool call is its name with its arguments.

    Examples
    --------
    >>> said_by({"message": {"content": " Paris"}, "logprobs": None, "finish_reason": "stop"}).answer.text
    'Paris'
    """
    fields = as_mapping(choice, "a choice")
    message = fields.get("message")
    given = {"content": fields.get("text")} if message is None else as_mapping(message, "message")
    finish = fields.get("finish_reason")
    text, finish = _text_and_finish(given, finish if isinstance(finish, str) else None)
    return spoken(text, finish, _rows(fields.get("logprobs"), finish, renormalise), hidden=_reasoning(given))


def _text_and_finish(message: Mapping[str, Any], finish: str | None) -> tuple[str, str | None]:
    """Return what a message says, and why it ended: a refusal and a tool call are reasons of their own."""
    text, calls = text_of(message.get("content"), "the content of a choice"), calls_of(message)
    if calls:
        return f"{text.strip()}\n{calls}".strip(), TOOL_CALLS
    if message.get("refusal") and not text:
        return as_text(message["refusal"], "refusal"), REFUSAL
    return text, REFUSAL if _is_refusal(message.get("content")) else finish


def _is_refusal(content: Any) -> bool:
    parts = content if isinstance(content, list) else ()
    return any(isinstance(one, Mapping) and one.get("type") == "refusal" for one in parts)


def _reasoning(message: Mapping[str, Any]) -> str | None:
    found = first_of(message, ("reasoning_content", "reasoning"))
    return found if isinstance(found, str) else None


def _rows(given: Any, finish: str | None, renormalise: bool) -> Rows:
    """Return the tokens of either style of reply."""
    logprobs = {} if given is None else as_mapping(given, "logprobs")
    if finish == REFUSAL and logprobs.get("refusal") is not None:
        return Rows.of(logprobs["refusal"], "logprobs.refusal", renormalise=renormalise)
    if logprobs.get("content") is not None:
        return Rows.of(logprobs["content"], "logprobs.content", renormalise=renormalise)
    return Rows.table(_of_completion(logprobs), renormalise=renormalise)


def _of_completion(logprobs: Mapping[str, Any]) -> Iterator[TokenRow]:
    """Yield the tokens of an older completion: one list for each field."""
    values = as_list(logprobs.get("token_logprobs") or [], "token_logprobs")
    beside = (logprobs.get(name) for name in ("tokens", "top_logprobs"))
    tokens, tops = (as_list(one or [None] * len(values), "tokens") for one in beside)
    if not len(values) == len(tokens) == len(tops):
        raise TableError(f"one entry per token was expected; got {len(values):,}, {len(tokens):,} and {len(tops):,}.")
    for token, value, top in zip(tokens, values, tops, strict=True):
        entries = as_mapping(top or {}, "top_logprobs").items()
        yield TokenRow(
            None if token is None else as_text(token, "a token"),
            logprob(value),
            [(name, logprob(one)) for name, one in entries],
        )


OPENAI = Format(
    "openai",
    "replies of OpenAI-style servers: chat completions, completions, Batch input and output",
    "`choices`, a reply under `response`, or `body` beside `custom_id`",
    is_openai,
    read_openai,
)
