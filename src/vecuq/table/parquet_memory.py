"""How much memory parquet columns take while they are read, known before Arrow unpacks them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vecuq._files import refuse_bomb, refuse_flood
from vecuq.table.parquet_footer import Chunk, RowGroup, row_groups
from vecuq.table.parquet_pages import (
    DELTA_LENGTHS,
    DICTIONARIES,
    DICTIONARY,
    SHARED_PREFIXES,
    Page,
    longest_entry,
    pages_of,
)
from vecuq.table.source import PartFile
from vecuq.table.text import is_text

if TYPE_CHECKING:
    import pyarrow as pa

# What Arrow needs beside the bytes of a value: its place in a list, or in a dictionary.
_PLACE_BYTES = 16


class Need(NamedTuple):
    """How many bytes columns take while they are read, and in every row of a batch."""

    held: float
    row: float


def need_of(part: PartFile, file: Any, names: Sequence[str]) -> Need:
    """Return what some columns of an open parquet file take; one that takes too much by itself is refused."""
    import pyarrow as pa

    with pa.memory_map(str(part.path)) as mapped:
        content = memoryview(mapped.read_buffer()).cast("B")
    leaves, wanted = [file.schema.column(k) for k in range(file.metadata.num_columns)], set(names)
    chosen = [(k, leaf) for k, leaf in enumerate(leaves) if _paths_to(leaf.path) & wanted]
    groups = row_groups(content, len(leaves))
    needs = [_need_of_column(part, content, groups, k, leaf) for k, leaf in chosen]
    return Need(sum(need.held for need in needs), sum(need.row for need in needs))


def refuse_repeats(part: PartFile, schema: pa.Schema, n_rows: int) -> None:
    """Refuse a file whose texts unpack to more than they may, by the numbers that stand for them in every row."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    texts = [field.name for field in schema if is_text(field.type)]
    unpacked, n_bytes = 0, part.path.stat().st_size
    with pq.ParquetFile(part.path, read_dictionary=texts, pre_buffer=False) as file:
        for batch in file.iter_batches(batch_size=n_rows, columns=texts, use_threads=False):
            for column in batch.columns:
                lengths = pc.binary_length(column.dictionary)
                unpacked += pc.sum(lengths.take(column.indices).cast("int64")).as_py() or 0
            refuse_flood(part, unpacked, n_bytes)


def _paths_to(path: str) -> set[str]:
    """Return what a leaf may belong to: ``a``, ``a.b`` and ``a.b.c`` for ``a.b.c``, as names may hold dots."""
    names = path.split(".")
    return {".".join(names[:k]) for k in range(1, len(names) + 1)}


def _need_of_column(part: PartFile, content: memoryview, groups: Sequence[RowGroup], k: int, leaf: Any) -> Need:
    """Return what a column takes: that of its largest row group, for they are read one after the other."""
    held = row = 0.0
    for group in groups:
        need = _need_of_chunk(part, content, group.chunks[k], leaf, group.n_rows)
        held, row = max(held, need.held), max(row, need.row)
    return Need(held, row)


def _need_of_chunk(part: PartFile, content: memoryview, chunk: Chunk, leaf: Any, n_rows: int) -> Need:
    pages = list(pages_of(content, chunk))
    # A dictionary, the page that is read, and the one before it, from which cells may still be taken.
    held = sum(sorted(map(_unpacked, pages))[-3:])
    refuse_bomb(part, held, len(content))
    cell = _PLACE_BYTES + _widest_cell(content, pages, chunk, leaf)
    n_values = sum(page.n_values for page in pages if page.kind != DICTIONARY)
    if not leaf.max_repetition_level:
        return Need(held, cell)
    # One row may hold the lists of all the others.
    return Need(held + cell * n_values, cell * n_values / max(n_rows, 1))


def _unpacked(page: Page) -> int:
    """Return what a page takes; the lengths or places of its values are unpacked all at once."""
    listed = page.kind == DICTIONARY or page.encoding in (DELTA_LENGTHS, SHARED_PREFIXES)
    return page.unpacked + (_PLACE_BYTES * page.n_values if listed else 0)


def _widest_cell(content: memoryview, pages: Sequence[Page], chunk: Chunk, leaf: Any) -> float:
    """Return how many bytes a cell may take; those of an average one on the page, where cells share no bytes."""
    if leaf.physical_type != "BYTE_ARRAY":
        return float(leaf.length if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY" else 8)
    return max((_widest_text(content, page, chunk.compression) for page in pages), default=0.0)


def _widest_text(content: memoryview, page: Page, compression: str) -> float:
    if page.kind == DICTIONARY:
        return longest_entry(content[page.start : page.start + page.packed], page, compression)
    if page.encoding in DICTIONARIES:
        return 0.0  # its texts are those of the dictionary
    return page.unpacked / (1 if page.encoding == SHARED_PREFIXES else max(page.n_values, 1))
