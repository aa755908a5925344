"""Streamed replies, put together again: the events of a file become the replies that would have come without a stream.

A file may hold Server-Sent Events as curl saves them, or one JSON object per event, and several replies. Besides the
replies that are open, nothing is held, and these together are no larger than one line may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vecuq._check import one_line
from vecuq.answers.lines import LINE_BYTES, MOST_BRACKETS, Entry, TornFileError, parsed
from vecuq.answers.stream_replies import ChatStream, ResponseStream
from vecuq.errors import TableError

CUT_SHORT = "The stream of an answer ends before the answer does; what came of it was read."
_SSE = (b"data:", b"event:", b"id:", b"retry:", b":")
_MARKS = (b'"chat.completion.chunk"', b'"text_completion"', b'"response.')
_MOST_OPEN = 1_000


def assembled(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield entries as they are, and for the events of a stream one entry with the whole reply."""
    streams = _Streams()
    try:
        for entry in entries:
            data = _data(entry.content)
            if data is None:
                yield entry
            elif data:
                yield from streams.add(entry, data)
    except TornFileError:
        yield from streams.close()
        raise
    yield from streams.close()


def _data(content: bytes | Mapping[str, Any] | None) -> bytes | None:
    """Return the JSON of an event; nothing for a line without data, None for what is no part of a stream."""
    if not isinstance(content, bytes):
        return None
    if content.startswith(_SSE):
        return content.removeprefix(b"data:").strip() if content.startswith(b"data:") else b""
    return content if any(mark in content for mark in _MARKS) else None


class _Streams:
    """The replies that have begun and not ended, by their names."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Entry, ChatStream | ResponseStream]] = {}
        self._too_long: set[str] = set()
        self._load = 0.0
        self._n_closed = 0

    def add(self, entry: Entry, data: bytes) -> Iterator[Entry]:
        """Add one event, and yield the replies that it ends."""
        if data == b"[DONE]":
            yield from self.close()
            return
        fields = _fields(data)
        name = self._name(fields)
        if name is None:  # no event of a stream: whoever reads it says what it is
            yield entry._replace(content=data)
        elif name not in self._too_long:
            yield from self._make_room(name, data)
            stream = self._open.setdefault(name, (entry, _stream_of(fields)))[1]
            stream.add(fields)
            if stream.is_closed:
                yield self._closed(name)

    def _name(self, fields: Any) -> str | None:
        """Return the name of the reply that an event belongs to; None if it is no event."""
        if not isinstance(fields, Mapping):
            return None
        if ResponseStream.takes(fields):
            return "response"
        name = f"chat {one_line(fields.get('id'), most=100)}"
        return name if name in self._open or ChatStream.takes(fields) else None

    def _make_room(self, name: str, data: bytes) -> Iterator[Entry]:
        """Yield replies that have ended where another begins; where too much is open, all of them without content."""
        self._load += max(len(data) / LINE_BYTES, (data.count(b"[") + data.count(b"{")) / MOST_BRACKETS)
        if name not in self._open:
            for ended in [one for one, (_, stream) in self._open.items() if stream.has_ended]:
                yield self._closed(ended)
        if self._load > 1 or len(self._open) >= _MOST_OPEN:
            yield from (self._closed(one)._replace(content=None, notes=()) for one in list(self._open))
            self._too_long = {name} if self._load > 1 else set()

    def close(self) -> Iterator[Entry]:
        """Yield all replies that are open."""
        for name in list(self._open):
            yield self._closed(name)
        self._too_long.clear()

    def _closed(self, name: str) -> Entry:
        first, stream = self._open.pop(name)
        self._load = self._load if self._open else 0.0
        self._n_closed += 1
        notes = () if stream.has_ended else (CUT_SHORT,)
        return Entry(self._n_closed, first.place, stream.reply(), notes=notes)


def _fields(data: bytes) -> Any:
    try:
        return parsed(data)
    except TableError:
        return None


def _stream_of(fields: Mapping[str, Any]) -> ChatStream | ResponseStream:
    return ResponseStream() if ResponseStream.takes(fields) else ChatStream()
