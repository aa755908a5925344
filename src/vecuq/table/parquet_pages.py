"""How large the pages of a parquet file claim to be, read before Arrow unpacks them.

The footer states the size of whole columns, and may lie. What Arrow allocates is what the header in front of each page
says, and by some encodings many cells share the bytes of one: a few of these make gigabytes [1]_.

References
----------
.. [1] https://github.com/apache/parquet-format, ``parquet.thrift`` and ``Encodings.md``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from vecuq.table.parquet_footer import Chunk
from vecuq.table.thrift import read_struct

DATA, DICTIONARY, DATA_V2 = 0, 2, 3
# Encodings, by number.
DICTIONARIES, DELTA_LENGTHS, SHARED_PREFIXES = (2, 8), 6, 7
# Arrow itself reads no longer header.
_HEADER_BYTES = 16 * 2**20
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


def pages_of(content: memoryview, chunk: Chunk) -> Iterator[Page]:
    """Yield the pages of a column chunk, just those that Arrow would read."""
    at, seen, end = chunk.start, 0, min(chunk.start + chunk.packed, len(content))
    while seen < chunk.n_values and at < end:
        page = _page(content, at)
        yield page
        seen += page.n_values if page.kind in (DATA, DATA_V2) else 0
        at = page.start + page.packed


def _page(content: memoryview, at: int) -> Page:
    try:
        fields, start = read_struct(content[at : at + _HEADER_BYTES])
        kind = _int(fields, 1)
        about = fields.get({DATA: 5, DICTIONARY: 7, DATA_V2: 8}.get(kind, 0), {1: 0, 2: 0})
        n_values, encoding = _int(about, 1), _int(about, 4 if kind == DATA_V2 else 2)
        return Page(kind, _int(fields, 2), _int(fields, 3), n_values, encoding, at + start)
    except (IndexError, KeyError, TypeError):
        raise OSError("the header of a page is damaged") from None


def _int(fields: dict[int, Any], number: int) -> int:
    """Return a number of 32 bits that is not negative."""
    found = fields[number]
    if type(found) is not int or found < 0:
        raise TypeError("the field must be a kind, a size or a count")
    return found


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
