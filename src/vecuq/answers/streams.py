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
from vecuq.answers.message_streams import GeminiStream, MessageStream
from vecuq.answers.readers.gemini import either_case
from vecuq.answers.stream_replies import DONE, SSE, ChatStream, ResponseStream
from vecuq.errors import TableError

CUT_SHORT = "The stream of an answer ends before the answer does; what came of it was read."
_MARKS = (
    *(b'"chat.completion.chunk"', b'"text_completion"', b'"response.', b'"responseId"', b'"response_id"'),
    *(b'"message_', b'"content_block_'),
)
_BEGINS = ("response.created", "message_start")
_KEEP_ALIVE, _LONGEST_PING = {"type": "ping"}, 32
_MOST_OPEN = 32
# An event may be spread over several lines of data; each is tried, so they are few and short.
_MOST_LINES, _MOST_BYTES = 1_000, 2**20
_Stream = ChatStream | ResponseStream | MessageStream | GeminiStream


def assembled(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield entries as they are, and for the events of a stream one entry with the whole reply."""
    streams, last = _Streams(), 0
    for entry in _with_replies(_whole_events(entries), streams):
        # A stream has many lines: from the first on, entries are counted, and no number comes twice.
        last = last + 1 if streams.n_closed else entry.number
        yield entry._replace(number=last)


def _with_replies(entries: Iterable[Entry], streams: _Streams) -> Iterator[Entry]:
    try:
        for entry in entries:
            data = _data(entry.content)
            if data is None:
                yield from streams.ended()
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
    if content.startswith(SSE):
        return content.removeprefix(b"data:").strip() if content.startswith(b"data:") else b""
    is_event = any(mark in content for mark in _MARKS) or (len(content) < _LONGEST_PING and b'"ping"' in content)
    return content if is_event else None


def _whole_events(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield entries as they are, and events whose data is spread over several lines as one."""
    held: list[Entry] = []
    for entry in entries:
        goes_on = _is_data(entry) and bool(held) and entry.number == held[-1].number + 1
        if held and not goes_on:
            yield from held
            held = []
        data = b"\n".join(_data(one.content) or b"" for one in [*held, entry])
        if not held and (not _is_data(entry) or _is_whole(data)):
            yield entry
            continue
        held.append(entry)
        if _is_whole(data):
            yield held[0]._replace(content=b"data:" + data)
            held = []
        elif len(held) >= _MOST_LINES or len(data) > _MOST_BYTES:
            yield from held
            held = []
    yield from held


def _is_whole(data: bytes) -> bool:
    """Whether the data of an event is all of it; nearly always its brackets say so."""
    looks_whole = data.endswith(b"}") and data.count(b"{") == data.count(b"}") and data.count(b"[") == data.count(b"]")
    return looks_whole or not data or data == DONE or _fields(data) is not None


def _is_data(entry: Entry) -> bool:
    return isinstance(entry.content, bytes) and entry.content.startswith(b"data:")


@dataclass
class _Open:
    """A reply that has begun: its first entry, its events so far, and what share of the memory of a line they take."""

    first: Entry
    stream: _Stream
    load: float = 0.0


class _Streams:
    """The replies that have begun and not ended, by their names."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._given_up: set[str] = set()
        self._load = 0.0
        self.n_closed = 0

    def add(self, entry: Entry, data: bytes) -> Iterator[Entry]:
        """Add one event, and yield the replies that it ends."""
        if data == DONE:
            yield from self.close()
            return
        fields = _fields(data)
        name = self._name(fields, is_event=_is_data(entry))
        if fields == _KEEP_ALIVE:
            return
        if name is None:  # no event of a stream: whoever reads it says what it is
            yield from self.ended()
            yield entry._replace(content=data)
            return
        if fields.get("type") in _BEGINS:
            yield from self._begin_anew(name)
        if name not in self._given_up:
            yield from self._make_room(name)
            one = self._open.setdefault(name, _Open(entry, _stream_of(fields)))
            try:
                one.stream.add(fields)
            except TableError as error:
                yield self._spoilt(name, f"an event of a stream cannot be read: {error}")
                return
            load = max(len(data) / LINE_BYTES, (data.count(b"[") + data.count(b"{")) / MOST_BRACKETS)
            one.load, self._load = one.load + load, self._load + load
            yield from self._ended_by(name)

    def _begin_anew(self, name: str) -> Iterator[Entry]:
        """Yield a reply of the same name that never ended; events of the Responses API do not name theirs."""
        self._given_up.discard(name)
        if name in self._open:
            yield self._closed(name)

    def _spoilt(self, name: str, why: str | None) -> Entry:
        """Return a reply that is given up, with what follows of it, as an entry that cannot be read."""
        self._given_up.add(name)
        return self._closed(name)._replace(content=None, notes=(), problem=why)

    def _name(self, fields: Any, *, is_event: bool) -> str | None:
        """Return the name of the reply that an event belongs to; None if it is no event."""
        if not isinstance(fields, Mapping):
            return None
        if ResponseStream.takes(fields):
            return "response"
        if MessageStream.takes(fields):
            return "message"
        return self._name_of_gemini(fields, is_event) or self._name_of_chat(fields)

    def _name_of_gemini(self, fields: Mapping[str, Any], is_event: bool) -> str | None:
        """Return the name of a reply of Gemini; older servers do not name it, then only an event is surely a piece."""
        given = either_case(fields, "responseId")
        name = f"gemini {one_line(given, most=100)}"
        goes_on = (name in self._open or name in self._given_up) and (given is not None or "candidates" in fields)
        return name if goes_on or (GeminiStream.takes(fields) and (is_event or given is not None)) else None

    def _name_of_chat(self, fields: Mapping[str, Any]) -> str | None:
        name = f"chat {one_line(fields.get('id'), most=100)}"
        # The last chunk of an older completion looks like a whole one, but for its id.
        goes_on = fields.get("object") == "text_completion" and fields.get("id") is not None and name in self._open
        return name if goes_on or ChatStream.takes(fields) else None

    def _make_room(self, name: str) -> Iterator[Entry]:
        """Yield replies that have ended where another begins, and the oldest where too many are open."""
        if name not in self._open:
            yield from self.ended()
            if len(self._open) >= _MOST_OPEN:
                yield self._closed(next(iter(self._open)))

    def _ended_by(self, name: str) -> Iterator[Entry]:
        """Yield a reply that an event ended; where those that are open take too much memory, the largest, empty."""
        if self._open[name].stream.is_closed:
            yield self._closed(name)
        elif self._load > 1:
            yield self._spoilt(max(self._open, key=lambda one: self._open[one].load), None)

    def ended(self) -> Iterator[Entry]:
        """Yield the replies that have ended: when something else comes, nothing follows."""
        for name in [one for one, known in self._open.items() if known.stream.has_ended]:
            yield self._closed(name)

    def close(self) -> Iterator[Entry]:
        """Yield all replies that are open."""
        for name in list(self._open):
            yield self._closed(name)
        self._given_up.clear()

    def _closed(self, name: str) -> Entry:
        one = self._open.pop(name)
        self._load = self._load - one.load if self._open else 0.0
        self.n_closed += 1
        notes = () if one.stream.has_ended else (CUT_SHORT,)
        return one.first._replace(content=one.stream.reply(), notes=notes)


def _fields(data: bytes) -> Any:
    """Return what an event says; None where it is no JSON, or not all of it."""
    try:
        return parsed(data)
    except TableError:
        return None


def _stream_of(fields: Mapping[str, Any]) -> _Stream:
    kinds = (ResponseStream, MessageStream, GeminiStream)
    return next((kind() for kind in kinds if kind.takes(fields)), ChatStream())
