"""Answers of OpenAI's Responses API: one reply, alone or as a line of Batch output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_text, first_of, role_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.envelope import REFUSAL, TOOL_CALLS, Envelope
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.messages import call_text, text_of
from vecuq.answers.readers.rows import Rows, Spoken, spoken
from vecuq.errors import TableError

_ITEMS = ("message", "reasoning", "function_call", "custom_tool_call")
_CALLS = ("function_call", "custom_tool_call")
_FINISHES = {"max_output_tokens": "length", "content_filter": "content_filter"}
_OF_BATCH = "/responses"
_MOST_ITEMS = 100_000


def is_responses(fields: Mapping[str, Any]) -> bool:
    """Whether a line has a response with ``output`` items, alone or under ``response``, or requests one in a Batch."""
    reply = Envelope.of(fields).reply
    if reply.get("object") == "response":
        return True
    output = reply.get("output")
    if isinstance(output, list) and output and isinstance(output[0], Mapping):
        return output[0].get("type") in _ITEMS
    return str(fields.get("url")).endswith(_OF_BATCH) and isinstance(fields.get("body"), Mapping)


def read_responses(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answer of one response; a request alone brings its question and no answer.

    Servers repeat the temperature of a request, 1 if it had none: in a reply only 0 says something.
    """
    envelope = Envelope.of(fields)
    asked = role_of(envelope.request) if fields is envelope.reply else role_of(fields, envelope.request)
    if envelope.is_request:
        return replace(envelope.part(answers=()), role=asked)
    envelope.refuse_error()
    role = asked or ("greedy" if role_of(envelope.reply) == "greedy" else None)
    return replace(envelope.said([_said(envelope.reply, renormalise)]), role=role)


def _said(reply: Mapping[str, Any], renormalise: bool) -> Spoken:
    output = as_list(reply.get("output"), "output", most=_MOST_ITEMS)
    items = [as_mapping(item, "an item of output") for item in output]
    text, refused = "", False
    calls = [call_text(item.get("name"), first_of(item, ("arguments", "input"))) for item in items if _is_call(item)]
    rows: list[Any] = []
    for part in _parts(items):
        text += text_of([part], "output")
        rows += as_list(part.get("logprobs") or [], "logprobs")
        refused = refused or part.get("type") == REFUSAL
    finish = TOOL_CALLS if calls else REFUSAL if refused else _finish(reply)
    return spoken("\n".join([text, *calls]).strip("\n"), finish, Rows.of(rows, "logprobs", renormalise=renormalise))


def _is_call(item: Mapping[str, Any]) -> bool:
    return item.get("type") in _CALLS


def _parts(items: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the parts of the messages, in order; reasoning and calls have none."""
    messages = [item for item in items if item.get("type") in (None, "message")]
    listed = [as_list(item.get("content") or [], "content", most=_MOST_ITEMS) for item in messages]
    return [as_mapping(part, "a part of content") for content in listed for part in content]


def _finish(reply: Mapping[str, Any]) -> str | None:
    """Return why a response ended, in the words of chat completions; one that has not ended is an error."""
    status = reply.get("status")
    if status in (None, "completed"):
        return None if status is None else "stop"
    if status == "incomplete":
        details = reply.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        return _FINISHES.get(reason, reason) if isinstance(reason, str) else None
    raise TableError(f"the response has no answer: its status is {as_text(status, 'status')[:40]!r}.")


OPENAI_RESPONSES = Format(
    "openai-responses",
    "replies of OpenAI's Responses API, Batch input and output",
    '`"object": "response"`, or `output` items with a `type`',
    is_responses,
    read_responses,
)
