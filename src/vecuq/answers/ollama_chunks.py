"""Streamed replies of Ollama: consecutive lines, ``"done": false`` until the last, that become one reply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from vecuq.answers.lines import LINE_BYTES, Entry, TornFileError
from vecuq.answers.readers.ollama import is_ollama
from vecuq.errors import TableError

# Within a text the quotes would be escaped, so this is a field.
_UNFINISHED = re.compile(rb'"done"\s*:\s*false')


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
    """The chunks of one reply so far."""

    def __init__(self, first: Entry) -> None:
        self._first = first
        self._fields: dict[str, Any] = {}
        self._size = 0

    def goes_on(self, fields: Mapping[str, Any] | None) -> bool:
        """Whether a line belongs to the same reply."""
        return fields is not None and fields.get("model") == self._fields.get("model", fields.get("model"))

    def add(self, entry: Entry, fields: Mapping[str, Any]) -> None:
        """Add a chunk; too many are counted and not held."""
        self._size += len(entry.content or b"")
        if self._size > LINE_BYTES:
            self._fields = {"model": fields.get("model")}
        else:
            self._fields = _added(self._fields, fields)

    @property
    def entry(self) -> Entry:
        """The reply as one entry; without content where it was too long."""
        return self._first._replace(content=None if self._size > LINE_BYTES else self._fields)


def _added(so_far: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return two pieces as one: texts and lists are put together, everything else is that of the later piece."""
    found = {**so_far, **{name: value for name, value in more.items() if value is not None}}
    for name in ("response", "thinking", "content", "logprobs", "tool_calls"):
        before: Any = so_far.get(name)
        after: Any = more.get(name)
        if type(before) is type(after) and isinstance(before, str | list):
            found[name] = before + after
    if isinstance(so_far.get("message"), Mapping) and isinstance(more.get("message"), Mapping):
        found["message"] = _added(dict(so_far["message"]), more["message"])
    return found
