"""Event streams: the pieces of a streamed reply, put together to the reply that the server would have sent at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from vecuq.answers.fields import as_mapping
from vecuq.answers.stream_replies import DONE, SSE, ChatStream
from vecuq.errors import TableError


class BrokenStreamError(TableError):
    """The stream ends before its answers do."""


def is_stream(content: bytes) -> bool:
    """Whether a reply is an event stream, and not one JSON object.

    Examples
    --------
    >>> is_stream(b"data: {}"), is_stream(b'{"data": 1}')
    (True, False)
    """
    return content.lstrip()[:6].startswith(SSE)


def reply_of_stream(content: bytes) -> dict[str, Any]:
    r"""Return the whole reply; :class:`BrokenStreamError` if it ends too early, TableError if it makes no sense.

    Examples
    --------
    >>> reply = reply_of_stream(b'data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}\n\n')
    >>> reply["choices"][0]["message"]["content"]
    'Hi'
    """
    stream = ChatStream()
    for data in _data(content):
        if data == DONE:
            return stream.reply()
        fields = _fields(data)
        if fields.get("error"):
            return {"error": fields["error"]}
        stream.add(fields)
    if not stream.has_ended:
        raise BrokenStreamError("the stream ends before its answers do.")
    return stream.reply()


def _fields(data: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(data)
    except RecursionError:
        raise TableError("an event of the stream is nested too deeply.") from None
    except ValueError:
        raise BrokenStreamError("an event of the stream is not valid JSON.") from None
    return as_mapping(found, "an event")


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
