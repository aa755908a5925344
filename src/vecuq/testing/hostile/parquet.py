"""Parquet files whose footers and page headers lie, and files that are small only on disk."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from vecuq.testing.hostile import thrift

_LIES = (0, 1, -1, 2, 7, 15, 100, 2**16, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, -(2**63))
_MAGIC = b"PAR1"


def spelt(draw: st.DrawFn, table: pa.Table) -> bytes:
    """Write a table with any of the ways that parquet has to write one."""
    sink = io.BytesIO()
    how = {
        "compression": draw(st.sampled_from(("none", "snappy", "gzip", "zstd"))),
        "use_dictionary": draw(st.booleans()),
        "data_page_version": draw(st.sampled_from(("1.0", "2.0"))),
        "row_group_size": draw(st.sampled_from((1, 3, 1000))),
        "write_page_checksum": draw(st.booleans()),
    }
    pq.write_table(table, sink, **how)
    return sink.getvalue()


@st.composite
def lying(draw: st.DrawFn, content: bytes) -> bytes:
    """Return a strategy of the same file with lies in its footer, or in the header of its last page."""
    if content[-4:] != _MAGIC or len(content) < 12:
        return content
    return _lying_footer(draw, content) if draw(st.booleans()) else _lying_page(draw, content)


def _lying_footer(draw: st.DrawFn, content: bytes) -> bytes:
    footer, start = _footer(content)
    for _ in range(draw(st.integers(1, 3))):
        _lie(draw, footer)
    return _with_footer(content[:start], footer)


def _footer(content: bytes) -> tuple[thrift.Value, int]:
    length = int.from_bytes(content[-8:-4], "little")
    start = len(content) - 8 - length
    return thrift.parse(content, start)[0], start


def _with_footer(body: bytes, footer: thrift.Value) -> bytes:
    text = thrift.spell(footer)
    return body + text + len(text).to_bytes(4, "little") + _MAGIC


def _lying_page(draw: st.DrawFn, content: bytes) -> bytes:
    """Lie in the header of a page; the last chunk may change its length, for only the footer follows it."""
    footer, start = _footer(content)
    groups = footer.fields[4].content
    if not groups:
        return content
    chunk = groups[-1].fields[1].content[-1].fields[3].fields  # ColumnMetaData of the last column
    places = [chunk[number].content for number in (9, 11) if number in chunk]  # data and dictionary page
    at = draw(st.sampled_from(places))
    header, behind = thrift.parse(content, at)
    _lie(draw, header)
    if draw(st.booleans()):  # the same lie in the footer, as a hostile writer would write it
        _lie(draw, footer)
    return _with_footer(content[:at] + thrift.spell(header) + content[behind:start], footer)


def _lie(draw: st.DrawFn, tree: thrift.Value) -> None:
    _, leaf = draw(st.sampled_from(list(thrift.leaves(tree)) or [("", tree)]))
    if thrift.is_number(leaf):
        leaf.content = draw(st.sampled_from(_LIES) | st.just(leaf.content + 1))
    elif thrift.is_list(leaf) and leaf.content:
        way = draw(st.sampled_from(("drop", "double", "many")))
        leaf.content = leaf.content[:-1] if way == "drop" else leaf.content * (2 if way == "double" else 50)
    elif isinstance(leaf.content, bytes):
        leaf.content = draw(st.binary(max_size=6) | st.just(b"entropy") | st.just(b"x" * 4000))
