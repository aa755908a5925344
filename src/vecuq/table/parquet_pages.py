"""How large the pages of a parquet file claim to be, read before Arrow unpacks them.

The footer states the size of whole columns, and may lie. What Arrow allocates is what the header in front of each page
says, and by some encodings many cells share the bytes of one: a few of these make gigabytes. The headers are structs
of Thrift's compact protocol [1]_.

References
----------
.. [1] https://github.com/apache/parquet-format, ``parquet.thrift`` and ``Encodings.md``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

DATA, DICTIONARY, DATA_V2 = 0, 2, 3
# Encodings, by number.
DICTIONARIES, DELTA_LENGTHS, SHARED_PREFIXES = (2, 8), 6, 7
# Arrow itself reads no longer header.
_HEADER_BYTES = 16 * 2**20
_MOST_DEPTH = 10
# A longer dictionary takes too long to look through.
_MOST_ENTRIES = 2**24


class Page(NamedTuple):
    """What the header of a page states."""

    kind: int
    unpacked: int  # bytes
    packed: int
    n_values: int
    encoding: int
    start: int  # where its content begins in the file


def pages_of(content: memoryview, chunk: Any) -> Iterator[Page]:
    """Yield the pages of a column chunk, just those that Arrow would read."""
    at = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < at:
        at = chunk.dictionary_page_offset
    seen, end = 0, min(at + chunk.total_compressed_size, len(content))
    while seen < chunk.num_values and at < end:
        page = _page(content, at)
        yield page
        seen += page.n_values if page.kind in (DATA, DATA_V2) else 0
        at = page.start + page.packed


def _page(content: memoryview, at: int) -> Page:
    try:
        fields, start = _struct(content[at : at + _HEADER_BYTES], 0, 0)
        kind, unpacked, packed = fields[1], fields[2], fields[3]
        about = fields.get({DATA: 5, DICTIONARY: 7, DATA_V2: 8}.get(kind, 0), {})
        page = Page(kind, unpacked, packed, about.get(1, 0), about.get(4 if kind == DATA_V2 else 2, 0), at + start)
    except (IndexError, KeyError, TypeError, AttributeError):
        raise OSError("the header of a page is damaged") from None
    if min(page[1:5]) < 0:
        raise OSError("a page states a negative size")
    return page


def _struct(data: memoryview, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a struct by number, and where it ends."""
    if depth > _MOST_DEPTH:
        raise TypeError("no header is as deep")
    fields: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _whole(data, at)
        fields[number], at = _value(data, at, head & 15, depth)
    return fields, at + 1


def _value(data: memoryview, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (1, 2):  # true, false
        return kind == 1, at
    if kind == 5:
        return _whole(data, at)
    if kind in (4, 6):  # Arrow skips numbers of another width, and so must this
        return None, _varint(data, at)[1]
    if kind == 8:  # bytes
        length, at = _varint(data, at)
        return None, at + length
    if kind == 12:
        return _struct(data, at, depth + 1)
    if kind in (3, 7):  # byte, double
        return None, at + (1 if kind == 3 else 8)
    raise TypeError("headers of pages hold no lists and no maps")


def _whole(data: memoryview, at: int) -> tuple[int, int]:
    number, at = _varint(data, at)
    return (number >> 1) ^ -(number & 1), at


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
        if shift > 63:
            raise TypeError("a number of more than 64 bits")


def longest_entry(packed: memoryview, page: Page, compression: str) -> int:
    """Return the bytes of the longest text in a dictionary page; those of the whole page if it cannot be looked into.

    Each text stands behind its length, four bytes.
    """
    content = _unpacked(packed, page, compression)
    if content is None or page.n_values > _MOST_ENTRIES:
        return page.unpacked
    longest = at = 0
    length_at = struct.Struct("<I").unpack_from
    try:
        for _ in range(page.n_values):
            (length,) = length_at(content, at)
            longest, at = max(longest, length), at + 4 + length
    except struct.error:
        raise OSError("a dictionary is damaged") from None
    return longest


def _unpacked(packed: memoryview, page: Page, compression: str) -> Any:
    import pyarrow as pa

    if compression == "UNCOMPRESSED":
        return packed
    try:
        codec = pa.Codec({"LZ4": "lz4_raw"}.get(compression, compression.lower()))
        return codec.decompress(packed, decompressed_size=page.unpacked)
    except (pa.ArrowException, OSError, ValueError):
        return None
