"""How large the messages of an Arrow file or stream claim to be, read before Arrow unpacks them.

A packed buffer begins with the number of bytes that it unpacks to, and a few kilobytes can claim gigabytes. Where the
buffers lie stands in front of each message, in a flatbuffer [1]_.

References
----------
.. [1] https://github.com/apache/arrow, ``format/Message.fbs``, ``File.fbs`` and ``docs/source/format/Columnar.rst``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_MAGIC = b"ARROW1"
_DICTIONARY, _BATCH = 2, 3
_CONTINUES = 0xFFFFFFFF
_V4 = 3


class Claim(NamedTuple):
    """How many bytes the dictionaries take together, and the largest batch of rows."""

    dictionaries: int
    batch: int


def claim_of(content: memoryview) -> Claim:
    """Return what the messages of a file or of a stream claim."""
    dictionaries = batch = 0
    try:
        for at in _blocks(content) if bytes(content[:6]) == _MAGIC else _in_sequence(content):
            kind, size = _claimed(content, at)
            dictionaries += size if kind == _DICTIONARY else 0
            batch = max(batch, size if kind == _BATCH else 0)
    except (struct.error, IndexError):
        raise OSError("it is cut or damaged") from None
    return Claim(dictionaries, batch)


def _blocks(content: memoryview) -> Iterator[int]:
    """Yield where the messages of a file begin, as its footer says."""
    (length,) = struct.unpack_from("<i", content, len(content) - 10)
    footer = _Table.root(content, len(content) - 10 - length)
    for field in (2, 3):  # dictionaries, batches
        start, count = footer.vector(field)
        yield from (struct.unpack_from("<q", content, start + 24 * k)[0] for k in range(count))


def _in_sequence(content: memoryview) -> Iterator[int]:
    """Yield where the messages of a stream begin."""
    at = 0
    while at + 8 <= len(content):
        start, length = _metadata(content, at)
        if not length:
            return
        yield at
        at = start + length + max(_Table.root(content, start).number(3, "<q"), 0)


def _metadata(content: memoryview, at: int) -> tuple[int, int]:
    """Return where the flatbuffer of a message begins, and its length; before Arrow 0.15 only that stood there."""
    (first,) = struct.unpack_from("<I", content, at)
    if first != _CONTINUES:
        return at + 4, first
    return at + 8, struct.unpack_from("<I", content, at + 4)[0]


def _claimed(content: memoryview, at: int) -> tuple[int, int]:
    """Return the kind of a message, and how many bytes its buffers take once unpacked."""
    start, length = _metadata(content, at)
    message = _Table.root(content, start)
    kind, body = message.number(1, "<B"), start + length
    if kind not in (_DICTIONARY, _BATCH):
        return kind, 0
    batch = message.table(2)
    batch = batch.table(1) if kind == _DICTIONARY else batch
    first, count = batch.vector(2)
    # Arrow 0.17 noted in the message's own metadata that it is packed.
    is_packed = batch.field(3) is not None or (message.number(0, "<h") == _V4 and message.field(4) is not None)
    return kind, sum(_buffer_bytes(content, body, first + 16 * k, is_packed=is_packed) for k in range(count))


def _buffer_bytes(content: memoryview, body: int, at: int, *, is_packed: bool) -> int:
    offset, length = map(int, struct.unpack_from("<qq", content, at))
    if not is_packed or length <= 8:
        return max(length, 0)
    unpacked = int(struct.unpack_from("<q", content, body + offset)[0])
    return length if unpacked == -1 else max(unpacked, 0)  # -1: it was left unpacked


class _Table:
    """A flatbuffer's table: its fields are found through a second table, of offsets."""

    def __init__(self, content: memoryview, at: int) -> None:
        self.content, self.at = content, at
        (back,) = struct.unpack_from("<i", content, at)
        self.offsets = at - back
        (self.n_bytes,) = struct.unpack_from("<H", content, self.offsets)

    @staticmethod
    def root(content: memoryview, at: int) -> _Table:
        """Return the table that a flatbuffer begins with."""
        return _Table(content, at + struct.unpack_from("<I", content, at)[0])

    def field(self, k: int) -> int | None:
        """Return where a field lies, or None if it is left out."""
        if 4 + 2 * k >= self.n_bytes:
            return None
        (offset,) = struct.unpack_from("<H", self.content, self.offsets + 4 + 2 * k)
        return self.at + offset if offset else None

    def number(self, k: int, form: str) -> int:
        """Return a number, 0 if it is left out."""
        place = self.field(k)
        return 0 if place is None else int(struct.unpack_from(form, self.content, place)[0])

    def table(self, k: int) -> _Table:
        """Return the table that a field refers to."""
        return _Table(self.content, self._target(k))

    def vector(self, k: int) -> tuple[int, int]:
        """Return where the entries of a vector begin, and how many there are."""
        if self.field(k) is None:
            return 0, 0
        start = self._target(k)
        return start + 4, int(struct.unpack_from("<I", self.content, start)[0])

    def _target(self, k: int) -> int:
        place = self.field(k)
        if place is None:
            raise IndexError(f"field {k} is missing")
        return place + int(struct.unpack_from("<I", self.content, place)[0])
