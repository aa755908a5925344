"""From a data frame of Spark to a ranker: each partition is summarised where it is, the sum is solved on the driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from vecuq._check import wanted_columns
from vecuq._run import one_blas_thread
from vecuq.cluster.spark.column_names import numbered, quoted
from vecuq.cluster.spark.failures import clear_errors, named_partition, partition_number
from vecuq.cluster.spark.first_rows import first_rows
from vecuq.cluster.spark.session import require_frame
from vecuq.ranker import PartialFit, Ranker, Settings, gather_and_fit
from vecuq.table import ScoreTable, warn_of_columns
from vecuq.transport import named_reference

if TYPE_CHECKING:
    import pyarrow as pa

# So many partitions are added up in one task, and the driver gets the sum.
FAN_IN = 64
# Rows that are summarised at once: Spark's 10,000 at a time take 1.5 times the CPU.
ROWS_AT_ONCE = 262_144


def fit(
    df: Any,
    settings: Settings | None = None,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] | None = None,
    ids: str | None = None,
    missing: str = "error",
    n_rows: int | None = None,
) -> Ranker:
    """Fit a ranker to a data frame of Spark, in one pass over it; see :class:`vecuq.PartialFit`.

    Parameters
    ----------
    df
        A data frame of Spark.
    settings
        The choices of the method.
    columns
        The score columns; by default those of decimal numbers.
    flip
        Columns in which higher means more confident. With ``columns`` and ``flip`` (``[]`` for none) nothing is left
        to guess; otherwise some first rows are looked at before.
    ids
        A column of whole numbers or texts, all different: which rows are held back then depends on these alone, and
        is the same on every engine and however Spark cuts the rows. Without it, it depends on a row's place, the
        number of its partition and of the row in there; ``diagnostics.held_by`` says which it was.
    missing
        ``"error"``, or ``"drop"`` for rows with missing or infinite scores.
    n_rows
        About how many rows there are, if known: then a partition sends fewer of them.
    """
    require_frame(df, "fit")
    if ids is not None:
        wanted_columns([ids], df.columns, purpose="named as ids")
    first = _looked_at(df, settings or Settings(), columns, flip, ids)
    start = PartialFit(first.columns, settings, flip=sorted(first.flipped), missing=missing, n_rows=n_rows)
    needed = df.select(*map(quoted, dict.fromkeys([*first.columns, *([] if ids is None else [ids])])))
    return gather_and_fit(lambda empty: _sum_of_partitions(needed, empty, ids), start)[0]


def _looked_at(
    df: Any, settings: Settings, columns: Sequence[str] | None, flip: Sequence[str] | None, ids: str | None
) -> ScoreTable:
    """Return first rows, none if all is said, and warn of columns that look like something else than a score."""
    all_said = columns is not None and flip is not None
    with clear_errors():
        rows = first_rows(df, columns, but=ids, count=0 if all_said else None)
    first = ScoreTable.of(rows, columns=columns, flip=flip)
    if len(first):
        warn_of_columns(first, directions=not named_reference(settings.reference).signed)
    return first


def _sum_of_partitions(df: Any, empty: PartialFit, ids: str | None) -> PartialFit:
    """Gather every partition in its executor, and add them in the order of their numbers."""
    work = partial(gathered_partition, start=empty.to_bytes(), names=df.columns, ids=ids)
    parts = numbered(df).mapInArrow(work, "part long, content binary")
    together = parts.selectExpr(f"part div {FAN_IN} as some", "part", "content").repartition("some")
    with clear_errors():
        found = together.mapInArrow(added_partitions, "some long, content binary").collect()
    # The empty start counts too: there may be no partition.
    return sum((PartialFit.from_bytes(bytes(row["content"])) for row in sorted(found)), start=empty)


def gathered_partition(
    batches: Iterable[pa.RecordBatch], *, start: bytes, names: list[str], ids: str | None
) -> Iterator[pa.RecordBatch]:
    """Yield one row: the number of a partition, and its partial fit as bytes. Runs in an executor."""
    import pyarrow as pa

    made = PartialFit.from_bytes(start)
    made.part = partition_number()
    with named_partition():
        for rows in (some.rename_columns(names) for some in larger(batches)):
            with one_blas_thread():
                table = ScoreTable.of(rows, columns=made.columns, flip=made.flip).stated()
                made.update(table, ids=None if ids is None else rows[ids])
    yield pa.RecordBatch.from_pydict({"part": [made.part], "content": [made.to_bytes()]})


def larger(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows as tables of one length, the last one shorter, however Spark cut them."""
    import pyarrow as pa

    waiting, n_rows = list[pa.RecordBatch](), 0
    for batch in batches:
        start = 0
        while start < len(batch):
            waiting.append(batch.slice(start, ROWS_AT_ONCE - n_rows))
            start, n_rows = start + len(waiting[-1]), n_rows + len(waiting[-1])
            if n_rows == ROWS_AT_ONCE:
                yield pa.Table.from_batches(waiting)
                waiting, n_rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def added_partitions(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield one sum for each group of partitions, added in the order of their numbers. Runs in an executor."""
    import pyarrow as pa

    rows = sorted((row for batch in batches for row in batch.to_pylist()), key=itemgetter("part"))
    for some, group in groupby(rows, key=itemgetter("some")):
        with one_blas_thread():
            made = sum(PartialFit.from_bytes(row["content"]) for row in group)
        yield pa.RecordBatch.from_pydict({"some": [some], "content": [made.to_bytes()]})
