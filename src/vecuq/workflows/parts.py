"""Parts of large tables, counted where they are: a frame or an Arrow table in, a summary that adds up out.

For Dask, Spark and the like, one call per partition; and what `vecuq evaluate` and `vecuq gate` do with large files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vecuq.conformal import MOST_CELLS
from vecuq.evaluation import PartialEvaluation
from vecuq.gate import Gate, PartialGate
from vecuq.monitor import DriftCounts
from vecuq.table import ScoreTable
from vecuq.workflows.labelled_rows import LabelColumns, correct_in, values_in
from vecuq.workflows.labels import Labels, label_columns, score_columns

if TYPE_CHECKING:
    import pyarrow as pa

P_WRONG, UNCERTAINTY = "p_wrong", "uncertainty"


def evaluation_part(
    rows: Any,
    labels: Labels,
    *,
    columns: Sequence[str] | None = None,
    flip: Sequence[str] = (),
    cells: int = MOST_CELLS,
    quality_range: tuple[float, float] = (0.0, 1.0),
) -> PartialEvaluation:
    """Count one part of a table with scores and labels; ``sum(parts).evaluate()`` evaluates all of it.

    Parameters
    ----------
    rows
        A pandas or polars frame, or an Arrow table or batch.
    labels
        Which columns hold the labels.
    columns
        The score columns; by default all floating-point columns that are no labels, and ``uncertainty``.
    flip
        Columns in which higher means more confident.
    cells, quality_range
        As in :class:`vecuq.evaluation.PartialEvaluation`; the same for every part.

    Examples
    --------
    >>> import pyarrow as pa
    >>> parts = [pa.table({"entropy": [0.1 * k, 0.4], "is_error": [0, 1]}) for k in range(3)]
    >>> found = sum(evaluation_part(part, Labels(error="is_error")) for part in parts).evaluate(["roc_auc"])
    >>> found.estimate("entropy", "error roc_auc").value
    1.0
    """
    table = arrow_table(rows)
    partial = PartialEvaluation(cells=cells, quality_range=quality_range)
    scores = score_columns(table, labels, columns, flip, others=(P_WRONG,))
    add_uncertainty = columns is None and UNCERTAINTY in {*table.column_names} - {*labels.named().values()}
    return count_part(partial, table, labels, scores, add_uncertainty=add_uncertainty)


def count_part(
    partial: PartialEvaluation, table: pa.Table, labels: Labels, scores: ScoreTable, *, add_uncertainty: bool
) -> PartialEvaluation:
    """Count rows whose scores are known; and their ``uncertainty`` and ``p_wrong``, where the table has them."""
    methods = scores.by_name()
    if add_uncertainty:
        methods[UNCERTAINTY] = ScoreTable.of(table, columns=[UNCERTAINTY]).values[:, 0]
    truth = label_columns(table, labels, scores=scores.columns)
    given = P_WRONG in {*table.column_names} - {*labels.named().values()} and "error" in truth
    p_wrong = ScoreTable.of(table, columns=[P_WRONG]).values[:, 0] if given else None
    return partial.update(methods, **truth, p_wrong=p_wrong)


def gate_part(gate: Gate, rows: Any, labels: LabelColumns, *, unlabelled: Any = None) -> PartialGate:
    """Count one part of a table of labelled rows; ``sum(parts).fit()`` is the gate of all of it.

    Parameters
    ----------
    gate
        A gate with its model and target, not fitted.
    rows
        A pandas or polars frame, or an Arrow table or batch.
    labels
        Which columns hold the labels and the categories (``by=``).
    unlabelled
        As in :class:`vecuq.gate.PartialGate`; the same for every part.
    """
    table = arrow_table(rows)
    by = values_in(table, labels.by, "by=")
    return PartialGate(gate, unlabelled=unlabelled).update(table, correct_in(table, labels), by=by)


def drift_part(model: Any, rows: Any) -> DriftCounts:
    """Count one part of a table of new rows; ``sum(parts).test()`` says whether they have drifted."""
    return DriftCounts(model).update(rows)


def arrow_table(rows: Any) -> pa.Table:
    """Return a frame, or an Arrow batch, as an Arrow table."""
    import pyarrow as pa

    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if isinstance(rows, pa.Table):
        return rows
    if type(rows).__module__.startswith("pandas"):
        return pa.Table.from_pandas(rows, preserve_index=False)
    return pa.table(rows)
