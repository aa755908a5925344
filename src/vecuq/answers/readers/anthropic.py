"""Answers of Anthropic's Messages and Message Batches, which have no log-probs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_text
from vecuq.answers.parts import Part
from vecuq.answers.readers.envelope import ONLY_REASONING, REFUSAL, TOOL_CALLS, Envelope, finish_of
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.messages import call_text
from vecuq.answers.readers.rows import Spoken
from vecuq.answers.schema import Answer
from vecuq.errors import TableError

NO_LOGPROBS = "Anthropic returns no log-probs; measures of texts remain, given several answers to a question."
_OUTCOMES = ("succeeded", "errored", "canceled", "expired")


def is_anthropic(fields: Mapping[str, Any]) -> bool:
    """Whether a line is a message, holds one under ``response``, or is a line of a batch, input or results."""
    return _is_message(Envelope.of(fields).reply) or _outcome(fields) is not None or _is_request(fields)


def _is_message(reply: Mapping[str, Any]) -> bool:
    return reply.get("type") == "message" and isinstance(reply.get("content"), list)


def _is_request(fields: Mapping[str, Any]) -> bool:
    """Whether a line is a request of a batch, without its result."""
    params = fields.get("params")
    asks = isinstance(params, Mapping) and isinstance(params.get("messages"), list)
    return asks and Envelope.of(fields).is_request and not _is_message(fields)


def _outcome(fields: Mapping[str, Any]) -> str | None:
    """Return what became of a request of a batch; None where the line is no result of a batch."""
    result = fields.get("result")
    found = result.get("type") if isinstance(result, Mapping) else None
    return found if "custom_id" in fields and isinstance(found, str) and found in _OUTCOMES else None


def read_anthropic(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the text of one message: its text blocks, and tool calls as their names with arguments; no reasoning."""
    envelope, outcome = Envelope.of(fields), _outcome(fields)
    if _is_request(fields):
        return envelope.part(answers=())
    if outcome not in (None, "succeeded"):
        raise TableError(f"the request was {outcome}; the batch has no answer to it{_why(fields)}.")
    if outcome is not None:
        envelope = envelope._replace(reply=as_mapping(fields["result"].get("message"), "result.message"))
    return envelope.said([_answer(envelope.reply)])


def _why(fields: Mapping[str, Any]) -> str:
    """Return the kind of error that the server names, in a few letters."""
    error: Any = fields["result"].get("error")
    while isinstance(error, Mapping) and isinstance(error.get("error"), Mapping):
        error = error["error"]
    kind = error.get("type") if isinstance(error, Mapping) else None
    return f" ({kind[:40]})" if isinstance(kind, str) and kind.isidentifier() else ""


def _answer(body: Mapping[str, Any]) -> Spoken | str:
    blocks = [as_mapping(one, "a block of content") for one in as_list(body.get("content"), "content")]
    text = "".join(as_text(one.get("text"), "text") for one in blocks if one.get("type") == "text")
    calls = [call_text(one.get("name"), one.get("input")) for one in blocks if one.get("type") == "tool_use"]
    finish = TOOL_CALLS if calls else finish_of(body.get("stop_reason"))
    if calls or text.strip():
        return Spoken(Answer(text="\n".join([text.strip(), *calls]).strip(), finish=finish), (NO_LOGPROBS,))
    if finish == REFUSAL:
        return "the model refused"
    if any(one.get("type") in ("thinking", "redacted_thinking") for one in blocks):
        return ONLY_REASONING
    if any(one.get("type") != "text" for one in blocks):
        return "its content is no text"
    return Spoken(Answer(text="", finish=finish), (NO_LOGPROBS,))


ANTHROPIC = Format(
    "anthropic",
    "messages of Anthropic, and Message Batches, input and results",
    '`type` "message" beside a list `content`, or `custom_id` beside `result` or `params`',
    is_anthropic,
    read_anthropic,
)
