"""The table of all rows that call for a look: the user's columns, what was decided, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vecuq.errors import ModelFileError
from vecuq.table import BATCH_ROWS, PathLike, is_added, write_batches
from vecuq.workflows.decided_tables import columns_of
from vecuq.workflows.directions import with_directions

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.report import Subject


def write_review(subject: Subject, batches: Iterable[pa.RecordBatch], out: PathLike, *, formulas: bool = True) -> int:
    """Write the rows that call for a look, most uncertain first and those without a score last; return how many.

    ``batches`` are the new rows with all of their columns. The rows that are written are held in memory.
    """
    from vecuq.report import by_uncertainty

    rows = np.concatenate([by_uncertainty(subject, subject.chosen), np.flatnonzero(~subject.scored)])
    written = _with_reasons(subject, _taken(batches, rows), rows)
    write_batches(out, written, formulas=formulas)
    return len(rows)


def _taken(batches: Iterable[pa.RecordBatch], rows: NDArray[np.intp]) -> pa.Table:
    """Return the rows of these numbers, in this order, without the columns of an earlier scoring."""
    import pyarrow as pa

    ordered, parts, first = np.sort(rows), [], 0
    for batch in batches:
        start, end = np.searchsorted(ordered, [first, first + len(batch)])
        kept = batch.drop_columns([name for name in batch.schema.names if is_added(name)])
        parts.append(kept.take(pa.array(ordered[start:end] - first)))
        first += len(batch)
    return pa.Table.from_batches(parts).take(pa.array(np.searchsorted(ordered, rows)))


def _with_reasons(subject: Subject, table: pa.Table, rows: NDArray[np.intp]) -> Iterator[pa.RecordBatch]:
    """Yield the rows with what was decided about each, and why."""
    ranker, found = subject.ranker, subject.decided.some(rows)
    with suppress(ModelFileError):  # models of an older vecuq keep no medians, and so have no reasons
        why, contributions = replace(subject.deciding, n_jobs=-1).explained(subject.values[rows])
        found = replace(found, why=why, contributions=contributions)
    for name, cells in columns_of(found, ranker.columns).items():
        table = table.append_column(name, cells)
    whole = table.combine_chunks()
    for batch in whole.to_batches(max_chunksize=BATCH_ROWS) or [_empty(whole)]:
        yield with_directions(batch, ranker.columns, ranker.flipped)


def _empty(table: pa.Table) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pylist([], schema=table.schema)
