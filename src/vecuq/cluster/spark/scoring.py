"""From a model and a data frame of Spark to the same frame with scores, to the bit those of one machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from vecuq._check import warn_user
from vecuq._run import one_blas_thread
from vecuq.cluster.spark.column_names import numbered, refuse_doubled
from vecuq.cluster.spark.failures import named_partition
from vecuq.cluster.spark.session import require_frame
from vecuq.cluster.spark.shipping import Shipped, decider_in, loaded
from vecuq.errors import MissingValueWarning
from vecuq.options import ScoreOptions
from vecuq.workflows import DecidedTable, deciding_rows

if TYPE_CHECKING:
    import pyarrow as pa


def score(
    model: Any,
    df: Any,
    *,
    alpha: float | None = None,
    confidence: float | None = None,
    explain: bool = False,
    missing: str = "nan",
    replace: bool = False,
    by: str | None = None,
) -> Any:
    """Return a data frame of Spark with scores added; rows and their other columns stay as they are.

    Every row gets the numbers that the library gives it on one machine, to the last bit, however Spark cuts and
    orders the rows. Nothing is computed before rows are wanted: see :func:`clear_errors` for what goes wrong then.

    Parameters
    ----------
    model
        A :class:`vecuq.Ranker`, a fitted :class:`vecuq.VecUQ`, a :class:`vecuq.Gate` that decides row by row, which
        adds ``accept`` and ``p_wrong``; or the path or bytes of a saved one.
    df
        A data frame of Spark that has the model's columns, in any order.
    alpha
        Adds a column ``flagged``; with ``confidence`` as in :meth:`vecuq.Ranker.flag`.
    explain
        Adds one contribution per score column and, for flagged rows (for all of them without an alpha), the sentence
        ``why``.
    missing
        See :meth:`vecuq.Ranker.rank`. A row without a score has nulls in ``uncertainty`` and ``p_value``.
    replace
        Whether columns of an earlier scoring are replaced; otherwise they are an error.
    by
        For a gate with categories: the column that holds them.
    """
    require_frame(df, "score")
    asked = ScoreOptions(alpha=alpha, confidence=confidence, explain=explain, missing=missing, replace=replace, by=by)
    found = decider_in(model)
    names = list(df.columns)
    table = DecidedTable.of(deciding_rows(found, asked), names)
    refuse_doubled(df, table.written, table.dropped)
    if table.absent:
        warn_user(f"The data frame lacks {sorted(table.absent)}; rows are scored without.", MissingValueWarning)
    work = partial(scored_partition, shipped=Shipped.of(found), asked=asked, names=names)
    return numbered(df).mapInArrow(work, _schema(df.schema, table))


def scored_partition(
    batches: Iterable[pa.RecordBatch], *, shipped: Shipped, asked: ScoreOptions, names: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield each batch of a partition with its scores; runs in an executor, which has other tasks beside this one."""
    with named_partition():
        table = DecidedTable.of(deciding_rows(loaded(shipped), asked), names)
        for batch in batches:
            with one_blas_thread():
                ranked, _ = table.scored(batch.rename_columns(names))
            yield ranked


def _schema(schema: Any, table: DecidedTable) -> Any:
    """Return the columns of the scored frame: those that stay as they are, then the added ones."""
    from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType

    kinds = {"flagged": BooleanType(), "accept": BooleanType(), "why": StringType()}
    stay = [field for field in schema.fields if field.name not in table.dropped]
    return StructType([*stay, *(StructField(name, kinds.get(name, DoubleType())) for name in table.written)])
