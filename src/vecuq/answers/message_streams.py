"""One streamed reply of Anthropic or Gemini: events are added one by one, and it is read as if it had come whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_text
from vecuq.answers.readers.gemini import either_case
from vecuq.answers.schema import MOST_ANSWERS
from vecuq.answers.stream_replies import index_of

# What an event of Anthropic adds to which field of a block.
_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("partial_json", "input"),
}
_EVENTS = (
    *("message_start", "message_delta", "message_stop"),
    *("content_block_start", "content_block_delta", "content_block_stop"),
)
_IDS = ("responseId", "response_id")


class MessageStream:
    """A message of Anthropic in events.

    Examples
    --------
    >>> stream = MessageStream()
    >>> stream.add({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Paris"}})
    >>> stream.reply()["content"], stream.has_ended
    ([{'type': 'text', 'text': 'Paris'}], False)
    """

    def __init__(self) -> None:
        self._head: dict[str, Any] = {"type": "message"}
        self._blocks: dict[int, tuple[dict[str, Any], dict[str, list[str]]]] = {}
        self.has_ended = self.is_closed = False

    @staticmethod
    def takes(fields: Mapping[str, Any]) -> bool:
        """Whether an event is one of such a message."""
        return fields.get("type") in _EVENTS

    def add(self, fields: Mapping[str, Any]) -> None:
        """Add one event."""
        kind = fields["type"]
        if kind == "message_start":
            self._head |= {**as_mapping(fields.get("message"), "message"), "type": "message"}
        elif kind == "message_delta":
            self._head |= as_mapping(fields.get("delta"), "delta")
            self.has_ended = self._head.get("stop_reason") is not None
        elif kind == "content_block_start":
            block = as_mapping(fields.get("content_block"), "content_block")
            self._blocks[index_of(fields)] = ({**block}, {})
        elif kind == "content_block_delta":
            self._add_delta(index_of(fields), as_mapping(fields.get("delta"), "delta"))
        self.is_closed = kind == "message_stop"

    def _add_delta(self, place: int, delta: Mapping[str, Any]) -> None:
        source, name = _DELTAS.get(str(delta.get("type")), (None, ""))
        if source is not None:  # others, such as signatures, are no part of an answer
            kind = "tool_use" if name == "input" else name
            _, pieces = self._blocks.setdefault(place, ({"type": kind}, {}))
            pieces.setdefault(name, []).append(as_text(delta.get(source), source))

    def reply(self) -> dict[str, Any]:
        """Return the message as it would have come whole."""
        content = [_block(*known) for _, known in sorted(self._blocks.items(), key=lambda pair: pair[0])]
        return {**self._head, "content": content}


def _block(start: Mapping[str, Any], pieces: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return a block with its texts; a block begins with what it has of them, an empty text most often."""
    begun = {name: start[name] if isinstance(start.get(name), str) else "" for name in pieces}
    return {**start, **{name: begun[name] + "".join(said) for name, said in pieces.items()}}


class GeminiStream:
    """A reply of Gemini in pieces, each a reply with a part of the text; the last says why it ended.

    Examples
    --------
    >>> stream = GeminiStream()
    >>> for text, finish in [("Par", None), ("is", "STOP")]:
    ...     stream.add({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": finish}]})
    >>> stream.reply()["candidates"][0]["content"]["parts"]
    [{'text': 'Par'}, {'text': 'is'}]
    """

    is_closed = False  # a piece with usage may follow the last token

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}
        self._candidates: dict[int, dict[str, Any]] = {}

    @staticmethod
    def takes(fields: Mapping[str, Any]) -> bool:
        """Whether a reply is a piece: its candidates have a content and say nothing of their end."""
        listed = fields.get("candidates")
        return (
            isinstance(listed, list)
            and bool(listed)
            and all(isinstance(one, Mapping) and isinstance(one.get("content"), Mapping) for one in listed)
            and all(either_case(one, "finishReason") is None for one in listed)
        )

    def add(self, fields: Mapping[str, Any]) -> None:
        """Add one piece."""
        self._last |= {name: value for name, value in fields.items() if value is not None}
        for candidate in as_list(fields.get("candidates") or [], "candidates", most=MOST_ANSWERS):
            given = as_mapping(candidate, "a candidate")
            known = self._candidates.setdefault(index_of(given), {"parts": [], "steps": {}, "finish": None})
            content = as_mapping(given.get("content") or {}, "content")
            known["parts"] += as_list(content.get("parts") or [], "parts")
            known["finish"] = either_case(given, "finishReason") or known["finish"]
            _add_steps(known["steps"], either_case(given, "logprobsResult"))

    @property
    def has_ended(self) -> bool:
        """Whether every candidate says why it ended."""
        return all(known["finish"] is not None for known in self._candidates.values())

    def reply(self) -> dict[str, Any]:
        """Return the reply as it would have come whole; the mean log-prob of a piece is not that of the answer."""
        whole = [
            {
                "content": {"parts": known["parts"]},
                "finishReason": known["finish"],
                **({"logprobsResult": known["steps"]} if known["steps"] else {}),
            }
            for _, known in sorted(self._candidates.items())
        ]
        # With its id, a reply without an end would look like a piece again.
        left_out = () if self.has_ended else _IDS
        return {**{name: value for name, value in self._last.items() if name not in left_out}, "candidates": whole}


def _add_steps(known: dict[str, list[Any]], given: Any) -> None:
    for name in ("chosenCandidates", "topCandidates"):
        values = either_case(given, name) if isinstance(given, Mapping) else None
        if values is not None:
            known.setdefault(name, []).extend(as_list(values, name))
