"""From a table to a saved model; many rows are never read into memory as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vecuq._check import count_missing, finite_rows, one_of, refuse_missing
from vecuq._run import ahead
from vecuq.errors import CalibrationError
from vecuq.ranker import PartialFit, Ranker, Settings, fit_ranker, gather_and_fit, sum_of_chunks
from vecuq.table import (
    PathLike,
    ScoreTable,
    TableLike,
    TableReader,
    TableSource,
    count_rows,
    read_batches,
    read_table,
    warn_of_columns,
)
from vecuq.transport import named_reference
from vecuq.workflows.grouping import without_groups
from vecuq.workflows.labelled import Labelled
from vecuq.workflows.places import refuse_place
from vecuq.workflows.watch import NOBODY, Watch

# From here on a table is streamed instead of read as a whole.
_MANY_ROWS = 500_000
_MANY_BYTES = 256 * 2**20
# What becomes of calibration rows with missing or infinite scores.
FIT_MISSING = ("error", "drop")


@dataclass(frozen=True)
class Fitted:
    """A model on disk, the columns of its table that were set aside, and how many rows were dropped."""

    ranker: Ranker
    set_aside: tuple[str, ...]
    n_dropped: int = 0


def fit(
    calibration: TableLike,
    model: PathLike,
    settings: Settings | None = None,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] | None = None,
    missing: str = "error",
    force: bool = False,
    watch: Watch = NOBODY,
    labelled: Labelled | None = None,
    group: str | None = None,
    n_jobs: int | None = None,
) -> Fitted:
    """Fit a ranker to a table and save it.

    ``calibration`` is a file, several, a folder of part files, a pattern, or ``-`` for standard input. Rows with
    missing or infinite scores are refused, unless ``missing="drop"`` drops them.
    ``force`` replaces also a file that the job reads, or one that holds no model. Weights of the columns are learned
    from ``labelled`` rows, if there are any. ``group`` is the column that says which rows come together
    (:func:`vecuq.fit_ranker`); all rows are then read into memory. Otherwise a large table is read once, in pieces
    that ``n_jobs`` processes summarise.
    """
    one_of("missing", missing, FIT_MISSING)
    reads = [calibration] if labelled is None else [calibration, labelled.table]
    refuse_place(model, writes="model", reads=reads, force=force)
    source = TableSource.of(calibration)
    done = None
    if group is None:
        done = _fit_streaming(source, settings or Settings(), columns, flip, missing, watch, labelled, n_jobs)
    if done is None:
        table, groups = without_groups(read_table(source, columns=columns, flip=flip), group, columns)
        kept = _only_complete(table) if missing == "drop" else table
        refuse_missing(kept.values, kept.columns, hint="missing='drop' drops them.")
        if labelled is not None:
            settings = labelled.weigh(kept, settings or Settings(), drop=missing == "drop")
        if groups is not None and len(kept) < len(table):
            groups = [groups[row] for row in finite_rows(table.values).nonzero()[0]]
        ranker = fit_ranker(kept, settings, progress=watch.sweep, groups=groups)
        done = Fitted(ranker, tuple(getattr(table.others, "column_names", ())), len(table) - len(kept))
    done.ranker.save(model)
    return done


def _only_complete(table: ScoreTable) -> ScoreTable:
    """Return the rows that have a finite number in every column; that none has is an error."""
    kept = _complete(table)
    if len(table) and not len(kept):
        raise CalibrationError(
            f"None of the {len(table):,} calibration rows is complete ({count_missing(table.values, table.columns)} "
            f"missing or infinite), so dropping incomplete ones leaves nothing. Leave such columns out."
        )
    return kept


def _complete(table: ScoreTable) -> ScoreTable:
    """Return the rows that have a finite number in every column."""
    complete = finite_rows(table.values)
    return table if complete.all() else replace(table, values=table.values[complete], others=None)


def _fit_streaming(
    source: TableSource,
    settings: Settings,
    columns: Sequence[str] | None,
    flip: Sequence[str] | None,
    missing: str,
    watch: Watch,
    labelled: Labelled | None,
    n_jobs: int | None,
) -> Fitted | None:
    """Fit in bounded memory, in one pass; None when the table is small."""
    if not _has_many_rows(source, columns):
        return None
    first = ScoreTable.of(next(read_batches(source, columns=columns or (), typed=False)), columns=columns, flip=flip)
    reader = TableReader(source, columns=first.columns, alone=True)
    settings = settings if labelled is None else labelled.weigh(first, settings, drop=missing == "drop")
    n_rows = None if missing == "drop" else count_rows(source)  # who knows how many are left
    start = PartialFit(first.columns, settings, missing=missing, n_rows=n_rows)
    warn_of_columns(first, directions=not named_reference(settings.reference).signed)

    def gather(empty: PartialFit) -> PartialFit:
        tables = (
            ScoreTable.of(batch, columns=first.columns, flip=sorted(first.flipped)).stated()
            for batch in ahead(reader.batches())
        )
        return sum_of_chunks(tables, empty, advance=watch.read, n_jobs=n_jobs)

    ranker, whole = gather_and_fit(gather, start)
    return Fitted(ranker, tuple(getattr(first.others, "column_names", ())), whole.n_dropped)


def _has_many_rows(source: TableSource, columns: Sequence[str] | None) -> bool:
    """Whether to stream: parquet states its rows; of others the size decides, once the score columns are named."""
    if {part.format for part in source.parts} == {"parquet"}:
        return (count_rows(source) or 0) >= _MANY_ROWS
    loaded_whole = any(part.format == "npz" for part in source.parts)
    return columns is not None and not loaded_whole and source.n_bytes >= _MANY_BYTES
