"""Dask DataFrames in, Dask DataFrames out: every partition is scored by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vecuq._run import memory_kept
from vecuq.cluster.dask.client import distributed
from vecuq.workflows import BatchScorer


def is_frame(what: Any) -> bool:
    """Whether something is a Dask DataFrame; Dask is not imported for it."""
    return hasattr(what, "map_partitions") and hasattr(what, "npartitions")


def scored_frame(frame: Any, scoring: BatchScorer) -> Any:
    """Return a Dask DataFrame with the columns of a scoring added; nothing is computed yet."""
    distributed()
    from dask.delayed import delayed

    # As a task of its own, the model is in the graph once and not once per partition.
    return frame.map_partitions(
        score_partition, delayed(scoring, pure=True), meta=score_partition(frame._meta, scoring)
    )


def score_partition(frame: Any, scoring: BatchScorer) -> Any:
    """Return a partition with its scores added; a row without a score has missing values there."""
    import pyarrow as pa

    needed = [name for name in frame.columns if name in _needed(scoring)]
    batch = pa.RecordBatch.from_pandas(frame[needed], preserve_index=False)
    with memory_kept():
        ranked = scoring.ranked(batch)
    added = [name for name in ranked.schema.names if name not in needed]
    kept = frame.drop(columns=[name for name in scoring.dropped if name in frame.columns])
    found = pa.Table.from_batches([ranked]).select(added).to_pandas()
    return kept.assign(**{name: found[name].set_axis(kept.index) for name in added})


def _needed(scoring: BatchScorer) -> Sequence[str]:
    by = [] if scoring.judge is None or scoring.judge.by is None else [scoring.judge.by]
    return [*scoring.ranker.columns, *by]
