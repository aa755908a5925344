"""From a model and a table file to a ranked table file: reading, scoring and writing overlap."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array
from vecuq.engine import ahead
from vecuq.errors import ColumnError, MissingValueWarning, TableError
from vecuq.outputs import read_outputs
from vecuq.pipeline import VecUQPipeline, load_pipeline
from vecuq.ranker import Ranker
from vecuq.ranker.tensors import saved_kind
from vecuq.table import RESERVED, ScoreTable, kind_of, read_batches, write_batches
from vecuq.workflows.watch import NOBODY, PathLike, Watch, load_model

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Scored", "ranked_batch", "score"]


@dataclass(frozen=True)
class Scored:
    """A ranked table on disk."""

    n_rows: int
    n_missing: int
    n_flagged: int | None


def score(
    model: PathLike, new: PathLike, out: PathLike, *, alpha: float | None = None, watch: Watch = NOBODY
) -> Scored:
    """Score a table file in pieces of bounded size; ``alpha`` adds a column ``flagged``.

    With a saved pipeline for a model, ``new`` is a file of a classifier's outputs, and its measures are written too.
    """
    pipeline = load_pipeline(model) if Path(model).is_file() and saved_kind(model) == "pipeline" else None
    ranker = load_model(model) if pipeline is None else pipeline.ranker
    if alpha is not None:
        ranker.threshold(alpha)  # refuse what cannot be delivered before any row is read
    pieces: list[Scored] = []
    if pipeline is None:
        # From csv to csv, the other columns stay the very text that they are.
        batches = ahead(read_batches(new, columns=ranker.columns, typed=kind_of(out) != ".csv"))
    else:
        batches = _measured_batches(pipeline, new)
    write_batches(out, _noted(ahead(ranked_batch(ranker, batch, alpha) for batch in batches), pieces, watch))
    done = Scored(
        sum(piece.n_rows for piece in pieces),
        sum(piece.n_missing for piece in pieces),
        sum(piece.n_flagged or 0 for piece in pieces) if alpha is not None else None,
    )
    if done.n_missing:
        warnings.warn(
            f"{done.n_missing:,} of {done.n_rows:,} rows have missing or infinite scores and got no uncertainty.",
            MissingValueWarning,
            stacklevel=2,
        )
    return done


def _measured_batches(pipeline: VecUQPipeline, new: PathLike) -> Iterator[pa.RecordBatch]:
    """Yield the measures of a file of outputs."""
    import pyarrow as pa

    outputs = read_outputs(new, temperature=pipeline.temperature)
    table = pipeline.measure(outputs)
    ids = np.arange(len(table)) if outputs.ids is None else outputs.ids
    columns = {name: table.values[:, k] for k, name in enumerate(table.columns)}
    yield from pa.table({"id": ids, **columns}).to_batches(max_chunksize=65_536)


def ranked_batch(ranker: Ranker, batch: pa.RecordBatch, alpha: float | None = None) -> pa.RecordBatch:
    """Return the batch with its scores added; a row without a score has nulls there."""
    import pyarrow as pa

    taken = [name for name in RESERVED if name in batch.schema.names]
    if taken:
        raise ColumnError(f"The table has columns {taken} already, which scoring adds. Rename or drop them.")
    table = ScoreTable.of(batch, columns=ranker.columns, flip=ranker.flipped)
    ranking = ranker.rank(table, warn=False)  # one count for the whole table, instead of one warning per piece
    added = {"uncertainty": _nullable(ranking.uncertainty)}
    if ranking.p_values is not None:
        added["p_value"] = _nullable(ranking.p_values)
    if alpha is not None and ranking.p_values is not None:
        # A row that could not be scored is flagged: nothing says that it is in-distribution.
        added["flagged"] = pa.array(~(ranking.p_values > alpha * (1 + 1e-12)))
    for name, column in added.items():
        batch = batch.append_column(name, column)
    return batch


def _noted(batches: Iterable[pa.RecordBatch], pieces: list[Scored], watch: Watch) -> Iterator[pa.RecordBatch]:
    """Pass the ranked batches on, and note in ``pieces`` what went by."""
    for batch in batches:
        flagged = batch["flagged"].true_count if "flagged" in batch.schema.names else None
        pieces.append(Scored(len(batch), batch["uncertainty"].null_count, flagged))
        yield batch
        if watch.rows is not None:
            watch.rows(len(batch))
    if not any(piece.n_rows for piece in pieces):
        raise TableError("The new table has no rows, so there is nothing to score.")


def _nullable(values: Array) -> Any:
    import pyarrow as pa

    return pa.array(values, from_pandas=True)
