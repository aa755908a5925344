"""Answers of Ollama, routes ``/api/chat`` and ``/api/generate``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq.answers.fields import as_text, first_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.envelope import ONLY_REASONING, TOOL_CALLS, Envelope, finish_of, recognised_in
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.messages import calls_of
from vecuq.answers.readers.rows import Rows, Spoken, spoken
from vecuq.answers.schema import Answer
from vecuq.errors import TableError

NOT_OF_CALLS = "Ollama returns no log-probs of tool calls."


def is_ollama(fields: Mapping[str, Any]) -> bool:
    """Whether a reply has a message or a response, and says whether it is done."""
    said = isinstance(fields.get("message"), Mapping) or isinstance(fields.get("response"), str)
    return said and isinstance(fields.get("done"), bool)


def read_ollama(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answer of one reply. Its log-probs begin with those of the reasoning, which are left out."""
    envelope = Envelope.of(fields)
    if envelope.reply.get("done") is not True:
        raise TableError('a streamed answer without its end ("done": true); ask Ollama with "stream": false.')
    return envelope.said([_answer(envelope.reply, renormalise)])


def _answer(body: Mapping[str, Any], renormalise: bool) -> Spoken | str:
    message = body.get("message")
    said = message if isinstance(message, Mapping) else body
    text = as_text(first_of(said, ("content", "response")) or "", "the content of the message")
    calls = calls_of(said)
    if calls:
        return Spoken(Answer(text=f"{text.strip()}\n{calls}".strip(), finish=TOOL_CALLS), (NOT_OF_CALLS,))
    if not text.strip() and said.get("thinking"):
        return ONLY_REASONING
    rows = Rows.of(body.get("logprobs"), "logprobs", renormalise=renormalise)
    return spoken(text, finish_of(body.get("done_reason")), rows)


OLLAMA = Format(
    "ollama",
    "replies of Ollama, /api/chat and /api/generate",
    "`done` beside `message` or a text `response`",
    recognised_in(is_ollama),
    read_ollama,
)
