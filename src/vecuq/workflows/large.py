"""Tables with more rows than memory: counted batch by batch, into a summary that says how exact it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import warn_user
from vecuq._run import ahead
from vecuq.errors import MissingValueWarning, TableError
from vecuq.evaluation import Bootstrap, PartialEvaluation, SelectiveCurves, SummaryEvaluation
from vecuq.gate import Gate, PartialGate, ladders_of, rows_needed
from vecuq.table import ScoreTable, TableLike, TableReader, TableSource, count_rows, is_stdio
from vecuq.workflows.labelled_rows import LabelColumns, correct_in, values_in
from vecuq.workflows.labels import Labels, score_columns
from vecuq.workflows.parts import UNCERTAINTY, arrow_table, count_part

if TYPE_CHECKING:
    import pyarrow as pa

# From here on rows are counted instead of kept. Parquet states its rows; of other files the size decides.
MANY_ROWS = 5_000_000
MANY_BYTES = 512 * 2**20

Directed = Callable[["pa.Table"], ScoreTable]


def is_large(where: TableLike) -> bool:
    """Whether a table has so many rows that they are counted, not kept."""
    if is_stdio(where):
        return False
    source = TableSource.of(where)
    formats = {part.format for part in source.parts}
    if formats == {"parquet"}:
        return (count_rows(source) or 0) >= MANY_ROWS
    return "npz" not in formats and source.n_bytes >= MANY_BYTES


def evaluate_large(
    reader: TableReader,
    labels: Labels,
    directed: Directed,
    *,
    columns: Sequence[str] | None,
    metrics: Sequence[str] | None,
    bootstrap: Bootstrap | None,
    curves: bool,
) -> tuple[SummaryEvaluation, tuple[SelectiveCurves, ...] | None]:
    """Evaluate a table in one pass, with a quality in two; the first batch says which columns are scores."""
    batches = _tables(reader)
    first = next(batches)
    if not len(first):
        raise TableError(f"{reader.source} has no rows.")
    chosen = directed(first)
    flip = sorted(chosen.flipped)
    others = {*first.column_names} - {*labels.named().values()}
    partial = PartialEvaluation(quality_range=_quality_range(reader.source, labels))

    def count(table: pa.Table) -> None:
        scores = score_columns(table, labels, chosen.columns, flip)
        count_part(partial, table, labels, scores, add_uncertainty=columns is None and UNCERTAINTY in others)

    count(first)
    for table in batches:
        count(table)
    found = partial.evaluate(metrics, bootstrap=bootstrap)
    return replace(found, flipped=tuple(flip)), partial.curves() if curves else None


def _tables(reader: TableReader) -> Iterator[pa.Table]:
    return (arrow_table(batch) for batch in ahead(reader.batches()))


def _quality_range(source: TableSource, labels: Labels) -> tuple[float, float]:
    """Return the lowest and highest quality of a table; of one that is the same everywhere, a range around it."""
    if labels.quality is None:
        return 0.0, 1.0
    low, high = np.inf, -np.inf
    for batch in ahead(TableReader(source, columns=[labels.quality], alone=True).batches()):
        values = ScoreTable.of(batch, columns=[labels.quality]).values[:, 0]
        if np.isinf(values).any():
            raise TableError(f"quality must be finite; {int(np.isinf(values).sum()):,} rows are infinite.")
        if not np.isnan(values).all():
            low, high = min(low, float(np.nanmin(values))), max(high, float(np.nanmax(values)))
    return (low, high) if low < high else (0.0, 1.0) if low > high else (low - 1.0, high + 1.0)


def counts_suffice(made: Gate, labels: LabelColumns, model: Any) -> bool:
    """Whether a gate can be fitted to counts: no groups, no graded quality, a model of score columns."""
    settings = made.settings
    of_columns = hasattr(model, "columns") and not hasattr(model, "measure")
    return (
        of_columns and labels.group is None and rows_needed(settings.target, settings.promise, settings.order) is None
    )


def gate_large(
    made: Gate, where: TableLike, labels: LabelColumns, *, unlabelled: Any, simultaneous: bool
) -> Gate | None:
    """Fit a gate to a table of labelled rows in one pass; None where rows themselves must set the thresholds."""
    if made.settings.order not in ladders_of(made.model, made.settings, unlabelled, required=False):
        return None
    partial = PartialGate(made, unlabelled=unlabelled)
    with warnings.catch_warnings():  # rows without a score are reported once, for all batches together
        warnings.simplefilter("ignore", MissingValueWarning)
        for table in _tables(TableReader(where, columns=made.model.columns)):
            if len(table):
                partial.update(table, correct_in(table, labels), by=values_in(table, labels.by, "by="))
    if partial.needs_rows:
        return None
    if partial.n_unscored:
        what = f"{partial.n_unscored:,} of {partial.n_rows:,} rows have no score, so they are never accepted."
        warn_user(what, MissingValueWarning)
    return partial.fit(simultaneous=simultaneous)
