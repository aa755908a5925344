"""From a model and a data frame of Spark to the same frame with scores, to the bit those of one machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from vecuq._check import warn_user
from vecuq._run import one_blas_thread
from vecuq.cluster.spark.column_names import numbered, refuse_doubled
from vecuq.cluster.spark.failures import named_partition
from vecuq.cluster.spark.session import require_frame
from vecuq.cluster.spark.shipping import Shipped, loaded, ranker_in
from vecuq.errors import MissingValueWarning
from vecuq.workflows import BatchScorer, Wanted

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
) -> Any:
    """Return a data frame of Spark with scores added; rows and their other columns stay as they are.

    Every row gets the numbers that the library gives it on one machine, to the last bit, however Spark cuts and
    orders the rows. Nothing is computed before rows are wanted: see :func:`clear_errors` for what goes wrong then.

    Parameters
    ----------
    model
        A :class:`vecuq.Ranker`, a fitted :class:`vecuq.VecUQ`, or the path or bytes of a saved one.
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
    """
    require_frame(df, "score")
    ranker = ranker_in(model)
    wanted = Wanted(alpha=alpha, confidence=confidence, explain=explain, missing=missing, replace=replace)
    wanted.refuse(ranker)
    names = list(df.columns)
    scoring = BatchScorer.of(ranker, wanted, names)
    refuse_doubled(df, wanted.added(ranker), scoring.dropped)
    if scoring.absent:
        warn_user(f"The data frame lacks {sorted(scoring.absent)}; rows are scored without.", MissingValueWarning)
    work = partial(scored_partition, shipped=Shipped.of(ranker), wanted=asdict(wanted), names=names)
    return numbered(df).mapInArrow(work, _schema(df.schema, scoring))


def scored_partition(
    batches: Iterable[pa.RecordBatch], *, shipped: Shipped, wanted: dict[str, Any], names: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield each batch of a partition with its scores; runs in an executor, which has other tasks beside this one."""
    with named_partition():
        scoring = _replace(BatchScorer.of(loaded(shipped), Wanted(**wanted), names), n_jobs=1)
        for batch in batches:
            with one_blas_thread():
                ranked = scoring.ranked(batch.rename_columns(names))
            yield ranked


# `score` has an argument of this name.
_replace = replace


def _schema(schema: Any, scoring: BatchScorer) -> Any:
    """Return the columns of the scored frame: those that stay as they are, then the added ones."""
    from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType

    kinds = {"flagged": BooleanType(), "why": StringType()}
    stay = [field for field in schema.fields if field.name not in scoring.dropped]
    added = scoring.wanted.added(scoring.ranker)
    return StructType([*stay, *(StructField(name, kinds.get(name, DoubleType())) for name in added)])
