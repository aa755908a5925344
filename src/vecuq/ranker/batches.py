"""A batch of Arrow rows in, the same rows with their scores out: what Polars, DuckDB, Dask and Spark call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from vecuq._check import Array
from vecuq.errors import ColumnError
from vecuq.ranker.ranking import How

if TYPE_CHECKING:
    from vecuq.ranker.ranker import Ranker

ADDED = ("uncertainty", "p_value")


def ranked_batch(ranker: Ranker, batch: Any, **how: Unpack[How]) -> Any:
    """Return a pyarrow RecordBatch or Table with ``uncertainty`` added and, if rows were held back, ``p_value``.

    Columns are matched by name, other columns stay, and a row without a score has nulls. Each row's numbers depend on
    that row alone: however a table is cut into batches, they are the same to the bit. Nothing is warned of.
    """
    taken = [name for name in ADDED if name in batch.schema.names]
    if taken:
        raise ColumnError(f"The batch has columns {taken} already, which scoring adds. Rename or drop them.")
    matching = replace(ranker.matching, named=True)
    values = matching.values_of(batch, fill=how.get("missing") == "marginal")
    quietly = how.copy()
    quietly["warn"] = False
    ranking = ranker.rank(ranker.as_table(values), **quietly)
    batch = batch.append_column(ADDED[0], nullable(ranking.uncertainty))
    return batch if ranking.p_values is None else batch.append_column(ADDED[1], nullable(ranking.p_values))


def nullable(values: Array) -> Any:
    """Return numbers as an Arrow array, null where they are NaN."""
    import pyarrow as pa

    return pa.array(values, from_pandas=True)
