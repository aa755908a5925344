"""Streamed replies, put together again: the events of a file become the replies that would have come without a stream.

A file may hold Server-Sent Events as curl saves them, or one JSON object per event, and several replies. Besides the
replies that are open, nothing is held, and these together are no larger than one line may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vecuq._check import one_line
from vecuq.answers.lines import LINE_BYTES, MOST_BRACKETS, Entry, TornFileError, parsed
from vecuq.answers.stream_replies import ChatStream, ResponseStream
from vecuq.errors import TableError

CUT_SHORT = "The stream of an answer ends before the answer does; what came of it was read."
_SSE = (b"data:", b"event:", b"id:", b"retry:", b":")
_MARKS = (b'"chat.completion.chunk"', b'"text_completion"', b'"response.')
_BEGINS = "response.created"
_MOST_OPEN = 32


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


@dataclass
class _Open:
    """A reply that has begun: its first entry, its events so far, and what share of the memory of a line they take."""

    first: Entry
    stream: ChatStream | ResponseStream
    load: float = 0.0


class _Streams:
    """The replies that have begun and not ended, by their names."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
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
            return
        if fields.get("type") == _BEGINS:
            yield from self._begin_anew(name)
        if name not in self._too_long:
            yield from self._make_room(name)
            one = self._open.setdefault(name, _Open(entry, _stream_of(fields)))
            one.stream.add(fields)
            load = max(len(data) / LINE_BYTES, (data.count(b"[") + data.count(b"{")) / MOST_BRACKETS)
            one.load, self._load = one.load + load, self._load + load
            yield from self._ended_by(name)

    def _begin_anew(self, name: str) -> Iterator[Entry]:
        """Yield a reply of the same name that never ended; events of the Responses API do not name theirs."""
        self._too_long.discard(name)
        if name in self._open:
            yield self._closed(name)

    def _name(self, fields: Any) -> str | None:
        """Return the name of the reply that an event belongs to; None if it is no event."""
        if not isinstance(fields, Mapping):
            return None
        if ResponseStream.takes(fields):
            return "response"
        name = f"chat {one_line(fields.get('id'), most=100)}"
        # The last chunk of an older completion looks like a whole one, but for its id.
        goes_on = fields.get("object") == "text_completion" and fields.get("id") is not None and name in self._open
        return name if goes_on or ChatStream.takes(fields) else None

    def _make_room(self, name: str) -> Iterator[Entry]:
        """Yield replies that have ended where another begins, and the oldest where too many are open."""
        if name not in self._open:
            for ended in [one for one, known in self._open.items() if known.stream.has_ended]:
                yield self._closed(ended)
            if len(self._open) >= _MOST_OPEN:
                yield self._closed(next(iter(self._open)))

    def _ended_by(self, name: str) -> Iterator[Entry]:
        """Yield a reply that an event ended; where those that are open take too much memory, the largest, empty."""
        if self._open[name].stream.is_closed:
            yield self._closed(name)
        elif self._load > 1:
            largest = max(self._open, key=lambda one: self._open[one].load)
            self._too_long.add(largest)
            yield self._closed(largest)._replace(content=None, notes=())

    def close(self) -> Iterator[Entry]:
        """Yield all replies that are open."""
        for name in list(self._open):
            yield self._closed(name)
        self._too_long.clear()

    def _closed(self, name: str) -> Entry:
        one = self._open.pop(name)
        self._load = self._load - one.load if self._open else 0.0
        self._n_closed += 1
        notes = () if one.stream.has_ended else (CUT_SHORT,)
        return Entry(self._n_closed, one.first.place, one.stream.reply(), notes=notes)


def _fields(data: bytes) -> Any:
    try:
        return parsed(data)
    except TableError:
        return None


def _stream_of(fields: Mapping[str, Any]) -> ChatStream | ResponseStream:
    return ResponseStream() if ResponseStream.takes(fields) else ChatStream()
