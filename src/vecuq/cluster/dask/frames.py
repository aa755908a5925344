"""Dask DataFrames in, Dask DataFrames out: every partition is scored by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vecuq._run import memory_kept
from vecuq.cluster.dask.client import distributed
from vecuq.workflows import DecidedTable


def is_frame(what: Any) -> bool:
    """Whether something is a Dask DataFrame; Dask is not imported for it."""
    return hasattr(what, "map_partitions") and hasattr(what, "npartitions")


def scored_frame(frame: Any, table: DecidedTable) -> Any:
    """Return a Dask DataFrame with what is decided added; nothing is computed yet."""
    distributed()
    from dask.delayed import delayed

    # As a task of its own, the model is in the graph once and not once per partition.
    return frame.map_partitions(score_partition, delayed(table, pure=True), meta=score_partition(frame._meta, table))


def score_partition(frame: Any, table: DecidedTable) -> Any:
    """Return a partition with its scores added; a row without a score has missing values there."""
    import pyarrow as pa

    needed = [name for name in frame.columns if name in _needed(table)]
    batch = pa.RecordBatch.from_pandas(frame[needed], preserve_index=False)
    with memory_kept():
        ranked, _ = table.scored(batch)
    added = [name for name in ranked.schema.names if name not in needed]
    kept = frame.drop(columns=[name for name in table.dropped if name in frame.columns])
    found = pa.Table.from_batches([ranked]).select(added).to_pandas()
    return kept.assign(**{name: found[name].set_axis(kept.index) for name in added})


def _needed(table: DecidedTable) -> Sequence[str]:
    by = table.deciding.options.by
    return [*table.deciding.ranker.columns, *([] if by is None else [by])]
