"""Answers in files: none may grow far beyond the largest body, and text is made in pieces of bounded size.

Parquet and Arrow hold a text that stands in a million rows once; csv and lines of JSON write it a million times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vecuq._check import Array
from vecuq.service.refusal import Refusal
from vecuq.service.settings import MEGABYTE

if TYPE_CHECKING:
    import pyarrow as pa

PIECE = 32 * MEGABYTE  # of text that is made at once
GROWTH = 4  # times the largest body is the largest answer


def bounded(batches: Iterable[pa.RecordBatch], folder: Path, *, largest_body: int) -> Iterator[pa.RecordBatch]:
    """Yield batches while body and answer, which are files in a folder, are not too large together."""
    most = (GROWTH + 1) * largest_body
    for batch in batches:
        if sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) > most:
            raise _large(largest_body)
        yield batch


def in_pieces(batches: Iterable[pa.RecordBatch], *, largest_body: int) -> Iterator[pa.RecordBatch]:
    """Yield batches so that none takes much more than a piece as text; refuse what would take too much in all."""
    left = float(GROWTH * largest_body)
    for batch in batches:
        sizes = repeated_bytes(batch)
        if sizes is None:
            yield batch
            continue
        left -= float(sizes.sum())
        if left < 0:
            raise _large(largest_body)
        yield from _cut(batch, sizes)


def repeated_bytes(batch: pa.RecordBatch) -> Array | None:
    """Return how many bytes each row takes in columns that hold every text once; None if there is no such column."""
    import pyarrow.types as pt

    found = [_lengths(batch.column(k)) for k, field in enumerate(batch.schema) if pt.is_dictionary(field.type)]
    return np.sum(found, axis=0, dtype=float) if found else None


def _lengths(column: pa.DictionaryArray) -> Array:
    import pyarrow.compute as pc
    import pyarrow.types as pt

    kind = column.type.value_type
    is_text = pt.is_string(kind) or pt.is_large_string(kind) or pt.is_binary(kind) or pt.is_large_binary(kind)
    if not is_text:
        return np.full(len(column), column.dictionary.nbytes / max(len(column.dictionary), 1))
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return np.asarray(lengths.fill_null(0).to_numpy(zero_copy_only=False), dtype=float)


def _cut(batch: pa.RecordBatch, sizes: Array) -> Iterator[pa.RecordBatch]:
    pieces = (np.cumsum(sizes) // PIECE).astype(int)
    starts = np.flatnonzero(np.diff(pieces, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts[1:], len(batch)], strict=True):
        yield batch.slice(start, end - start)


def _large(largest_body: int) -> Refusal:
    return Refusal(
        413,
        "large_answer",
        f"The answer would take more than {GROWTH * largest_body:,} bytes, since texts that come once in the body are "
        f"repeated in it. Ask for parquet by Accept, or leave columns out.",
    )
