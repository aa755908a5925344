"""Where the columns of a parquet file are, read from its footer without Arrow.

Arrow reads a footer without looking at all of it. If a part of it makes no sense, asking for that part through pyarrow
ends the whole process (an exception of C++ that nobody catches), so it is not asked.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from vecuq.table.thrift import Long, read_struct

_CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4")


class Chunk(NamedTuple):
    """Where the rows of one column are, in one row group."""

    start: int  # of its first page
    packed: int  # bytes
    n_values: int
    compression: str


class RowGroup(NamedTuple):
    """Some rows, and where each of their columns is."""

    n_rows: int
    chunks: tuple[Chunk, ...]


def row_groups(content: memoryview, n_columns: int) -> list[RowGroup]:
    """Return what the footer of a file says of its row groups; a footer that makes no sense is an OSError."""
    length = int.from_bytes(content[-8:-4], "little")
    try:
        footer, _ = read_struct(content[len(content) - 8 - length : len(content) - 8])
        found = [RowGroup(_long(group, 3), tuple(map(_chunk, group[1]))) for group in footer[4]]
    except (IndexError, KeyError, TypeError):
        raise OSError("the footer is damaged") from None
    if any(len(group.chunks) != n_columns for group in found):
        raise OSError("the footer has a row group with other columns than the file")
    return found


def _chunk(column: dict[int, Any]) -> Chunk:
    about = column[3]
    start = _long(about, 9)
    if type(about.get(11)) is Long and 0 < about[11] < start:
        start = _long(about, 11)  # of the dictionary, which comes first
    return Chunk(start, _long(about, 7), _long(about, 5), _CODECS[about[4]])


def _long(fields: dict[int, Any], number: int) -> int:
    """Return a number of 64 bits that is not negative."""
    found = fields[number]
    if type(found) is not Long or found < 0:
        raise TypeError("the field must be a size, a count or a place")
    return int(found)
