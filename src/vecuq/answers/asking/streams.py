"""Event streams: the pieces of a streamed reply, put together to the reply that the server would have sent at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from vecuq.answers.fields import as_list, as_mapping
from vecuq.answers.schema import MOST_ANSWERS
from vecuq.errors import TableError

DONE = b"[DONE]"
# Parts of a message that come in pieces of text.
_PIECES = ("content", "reasoning_content", "reasoning", "refusal")
_LISTS = ("content", "refusal", "tokens", "token_logprobs", "top_logprobs", "text_offset")


class BrokenStreamError(TableError):
    """The stream ends before its answers do."""


def is_stream(content: bytes) -> bool:
    """Whether a reply is an event stream, and not one JSON object.

    Examples
    --------
    >>> is_stream(b"data: {}"), is_stream(b'{"data": 1}')
    (True, False)
    """
    return content.lstrip()[:6].startswith((b"data:", b"event:", b"id:", b"retry:", b":"))


def reply_of_stream(content: bytes) -> dict[str, Any]:
    r"""Return the whole reply; :class:`BrokenStreamError` if it ends too early, TableError if it makes no sense.

    Examples
    --------
    >>> reply_of_stream(b'data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}\n\n')
    {'choices': [{'finish_reason': 'stop', 'message': {'content': 'Hi'}, 'logprobs': None}]}
    """
    head: dict[str, Any] = {}
    choices: dict[int, _Choice] = {}
    for chunk in _chunks(content):
        if chunk is None:
            break
        if chunk.get("error"):
            return {"error": chunk["error"]}
        head |= {name: chunk[name] for name in ("id", "model", "usage") if chunk.get(name) is not None}
        for piece in as_list(chunk.get("choices") or [], "choices", most=MOST_ANSWERS):
            fields = as_mapping(piece, "a choice")
            choices.setdefault(_index(fields), _Choice()).add(fields)
    else:
        if not choices or any(choice.finish is None for choice in choices.values()):
            raise BrokenStreamError("the stream ends before its answers do.")
    return {**head, "choices": [choices[index].whole() for index in sorted(choices)]}


def _chunks(content: bytes) -> Iterator[dict[str, Any] | None]:
    """Yield the object of every event; None for the end that the server marks."""
    for data in _data(content):
        if data == DONE:
            yield None
            return
        try:
            found = json.loads(data)
        except RecursionError:
            raise TableError("an event of the stream is nested too deeply.") from None
        except ValueError:
            raise BrokenStreamError("an event of the stream is not valid JSON.") from None
        yield dict(as_mapping(found, "an event"))


def _data(content: bytes) -> Iterator[bytes]:
    """Yield the data of every event; an event ends with an empty line."""
    lines: list[bytes] = []
    for line in [*content.replace(b"\r\n", b"\n").split(b"\n"), b""]:
        name, _, value = line.partition(b":")
        if name == b"data":
            lines.append(value.strip())
        elif not line and lines:
            yield b"\n".join(lines)
            lines = []


def _index(fields: Any) -> int:
    index = fields.get("index", 0)
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < MOST_ANSWERS:
        raise TableError(f"the index of a choice must be a whole number from 0 to {MOST_ANSWERS - 1:,}.")
    return index


class _Choice:
    """One answer of a stream so far."""

    def __init__(self) -> None:
        self.finish: str | None = None
        self._pieces: dict[str, list[str]] = {}
        self._texts: list[str] = []
        self._logprobs: dict[str, list[Any]] = {}
        self._chat = False

    def add(self, fields: Any) -> None:
        """Add what one event says of it."""
        if fields.get("delta") is not None:
            self._chat = True
            self._add_delta(as_mapping(fields["delta"], "a delta"))
        if fields.get("text") is not None:
            self._texts.append(_text(fields["text"], "text"))
        logprobs = as_mapping(fields.get("logprobs") or {}, "logprobs")
        for name in _LISTS:
            if logprobs.get(name) is not None:
                self._logprobs.setdefault(name, []).extend(as_list(logprobs[name], f"logprobs.{name}"))
        if isinstance(fields.get("finish_reason"), str):
            self.finish = fields["finish_reason"]

    def _add_delta(self, delta: Any) -> None:
        for name in _PIECES:
            if delta.get(name) is not None:
                self._pieces.setdefault(name, []).append(_text(delta[name], name))

    def whole(self) -> dict[str, Any]:
        """Return it as an element of ``choices``."""
        message = {name: "".join(pieces) for name, pieces in self._pieces.items()}
        said = {"message": {"content": None, **message}} if self._chat else {"text": "".join(self._texts)}
        return {"finish_reason": self.finish, **said, "logprobs": self._logprobs or None}


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TableError(f"the {name} of a stream must be a text.")
    return value
