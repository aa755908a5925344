"""Streamed replies of Ollama: consecutive lines, ``"done": false`` until the last, that become one reply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from vecuq.answers.lines import LINE_BYTES, MOST_BRACKETS, Entry, TornFileError
from vecuq.answers.readers.ollama import is_ollama
from vecuq.errors import TableError

# Within a text the quotes would be escaped, so this is a field.
_UNFINISHED = re.compile(rb'"done"\s*:\s*false')

_GROWING = ("response", "thinking", "content", "logprobs", "tool_calls")


def whole_replies(entries: Iterator[Entry]) -> Iterator[Entry]:
    """Yield entries as they are, but the chunks of a streamed reply as one entry, at the place of the first.

    A line that is no chunk is not parsed. Chunks of one reply must follow each other; a reply that is cut off stays
    unfinished, and its reader refuses it. At most ``LINE_BYTES`` of chunks are held at once.
    """
    held: _Chunks | None = None
    try:
        for entry in entries:
            fields = _chunk(entry, within=held is not None)
            if held is not None and not held.goes_on(fields):
                yield held.entry
                held = None
            if fields is None or (held is None and fields["done"]):
                yield entry
                continue
            held = held or _Chunks(entry)
            held.add(entry, fields)
            if fields["done"]:
                yield held.entry
                held = None
    except TornFileError:
        yield from [held.entry] if held is not None else []
        raise
    yield from [held.entry] if held is not None else []


def _chunk(entry: Entry, *, within: bool) -> Mapping[str, Any] | None:
    """Return the fields of a line of a stream; None for any other line."""
    content = entry.content
    if not isinstance(content, bytes) or not (within or _UNFINISHED.search(content)):
        return None
    try:
        fields = entry.fields()
    except TableError:
        return None
    return fields if isinstance(fields, Mapping) and is_ollama(fields) else None


class _Chunks:
    """The chunks of one reply so far, as long as they are not too many together."""

    def __init__(self, first: Entry) -> None:
        self._first = first
        self._held: list[Mapping[str, Any]] = []
        self._model: Any = None
        self._id: Any = None
        self._n_bytes = self._n_brackets = 0

    def goes_on(self, fields: Mapping[str, Any] | None) -> bool:
        """Whether a line belongs to the same reply; an id of another question ends it."""
        return fields is not None and fields.get("model") == self._model and fields.get("id") in (None, self._id)

    def add(self, entry: Entry, fields: Mapping[str, Any]) -> None:
        """Add a chunk; it is not held if they are too many."""
        content = entry.content if isinstance(entry.content, bytes) else b""
        self._n_bytes += len(content)
        self._n_brackets += content.count(b"[") + content.count(b"{")
        self._model, self._id = fields.get("model"), fields.get("id") if self._id is None else self._id
        if self._is_too_long:
            self._held.clear()
        else:
            self._held.append(fields)

    @property
    def _is_too_long(self) -> bool:
        return self._n_bytes > LINE_BYTES or self._n_brackets > MOST_BRACKETS

    @property
    def entry(self) -> Entry:
        """The reply as one entry; without content where it is too long."""
        return self._first._replace(content=None if self._is_too_long else _whole(self._held))


def _whole(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return chunks as one: their texts and lists put together, and of everything else the latest."""
    whole = {name: value for chunk in chunks for name, value in chunk.items() if value is not None}
    for name in _GROWING:
        pieces = [chunk[name] for chunk in chunks if chunk.get(name) is not None]
        if pieces and all(isinstance(one, str) for one in pieces):
            whole[name] = "".join(pieces)
        elif pieces and all(isinstance(one, list) for one in pieces):
            whole[name] = list(chain.from_iterable(pieces))
    messages = [chunk["message"] for chunk in chunks if isinstance(chunk.get("message"), Mapping)]
    return {**whole, "message": _whole(messages)} if messages else whole
