"""In which order ranked rows are written: as they come, or the most uncertain first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from vecuq.table import BATCH_ROWS

if TYPE_CHECKING:
    import pyarrow as pa


def ordered(batches: Iterable[pa.RecordBatch], *, sort: bool, top: int | None) -> Iterable[pa.RecordBatch]:
    """Return the rows as they come, all of them with the most uncertain first, or so many of the most uncertain.

    Rows without a score are the last of all rows, and never among the most uncertain.
    """
    if top is not None:
        return _most_uncertain(batches, top)
    return _sorted(batches) if sort else batches


def _sorted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    yield from _first_rows(pa.Table.from_batches(list(batches)), None).to_batches(max_chunksize=BATCH_ROWS)


def _most_uncertain(batches: Iterable[pa.RecordBatch], top: int) -> Iterator[pa.RecordBatch]:
    """Keep the best so far, and compare every batch with them; none may have a score."""
    import pyarrow as pa

    best = None
    for batch in batches:
        scored = batch.filter(batch["uncertainty"].is_valid())
        some = _first_rows(pa.Table.from_batches([scored]), top)
        best = some if best is None else _first_rows(pa.concat_tables([best, some]), top)
    if best is not None:
        yield from best.to_batches(max_chunksize=BATCH_ROWS) or [pa.RecordBatch.from_pylist([], schema=best.schema)]


def _first_rows(table: pa.Table, most: int | None) -> pa.Table:
    """Return the rows with the most uncertain first, equals in their order, and those without a score last."""
    import pyarrow.compute as pc

    order = pc.sort_indices(table, sort_keys=[("uncertainty", "descending")])
    return table.take(order[:most])
