"""Labelled rows from files: the scores as the model takes them, labels by a column or a rule, groups and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array, one_line, wanted_columns
from vecuq.errors import ColumnError, TableError
from vecuq.gate import apply_rule, label_rule
from vecuq.outputs import read_outputs
from vecuq.table import ScoreTable, TableLike, TableReader
from vecuq.workflows.measuring import columns_of_labels

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class LabelColumns:
    """Which column says that an answer is right, or wrong, or how good it is; and which rows belong together."""

    correct: str | None = None  # a column, or a rule such as quality>=0.7
    wrong: str | None = None
    quality: str | None = None
    group: str | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        named = [name for name in ("correct", "wrong", "quality") if getattr(self, name)]
        if len(named) > 1:
            raise ColumnError(f"Labels come from one column; got {'= and '.join(named)}=. Give one of them.")


@dataclass(frozen=True)
class LabelledRows:
    """Rows as the model takes them, and what is known of each."""

    rows: Any
    correct: Array
    groups: list[Any] | None
    by: list[Any] | None
    making: Any = None  # how answers were made, a Making

    def __len__(self) -> int:
        return len(self.correct)


def read_labelled(model: Any, path: TableLike, labels: LabelColumns) -> LabelledRows:
    """Read a table of scores with labels; for a pipeline, a file of outputs with the true classes."""
    if hasattr(model, "measure"):
        return _outputs(model, path, labels)
    columns = getattr(model, "columns", ())
    table = TableReader(path, columns=columns).whole()
    return LabelledRows(
        table, correct_in(table, labels), values_in(table, labels.group, "group="), values_in(table, labels.by, "by=")
    )


def label_column(labels: LabelColumns) -> str | None:
    """Return the column that holds the labels, without the rule about it; None if none is named."""
    asked = labels.correct or labels.wrong or labels.quality
    return None if asked is None else label_rule(asked)[0]


def correct_in(table: pa.Table, labels: LabelColumns) -> Array:
    """Return 1 where a row is right and 0 where it is wrong; a quality as it is."""
    asked = labels.correct or labels.wrong or labels.quality
    if asked is None:
        raise TableError(
            "Which column holds the labels? Name it: correct='is_correct', wrong='is_error', or a rule, "
            "correct='quality>=0.7'."
        )
    column, sign, bound = label_rule(asked) if asked not in table.column_names else (asked, None, 0.0)
    wanted_columns([column], table.column_names, purpose="named as the label")
    try:
        values = ScoreTable.of(table.select([column]), columns=[column]).values[:, 0]
    except ColumnError:
        raise ColumnError(f"A label must be 0 or 1, or true or false; {column!r} holds text.") from None
    said = apply_rule(np.asarray(values, dtype=float), sign, bound)
    if not labels.quality:
        _refuse_graded(said, column, labels)
    return 1.0 - said if labels.wrong else said


def _refuse_graded(said: Array, column: str, labels: LabelColumns) -> None:
    """Raise for labels that are neither 0 nor 1, as they stand in the table, and say how a grade becomes a label."""
    other = said[~np.isnan(said) & ~np.isin(said, (0.0, 1.0))]
    if len(other):
        name = one_line(column, most=40)
        rule = f"wrong='{name}<0.7'" if labels.wrong else f"correct='{name}>=0.7'"
        raise TableError(
            f"A label must be 0 or 1, or true or false; {name!r} holds {other[0]:g}. Turn a grade into a label by a "
            f"rule: {rule}."
        )


def values_in(table: pa.Table, name: str | None, purpose: str) -> list[Any] | None:
    """Return the cells of a column that was named for a purpose; None if none was."""
    if name is None:
        return None
    wanted_columns([name], table.column_names, purpose=f"named as {purpose}")
    found: list[Any] = table[name].to_pylist()
    return found


def _outputs(model: Any, path: TableLike, labels: LabelColumns) -> LabelledRows:
    """Read outputs of a classifier; an answer is right where the most probable class of the mean is the label."""
    if labels.wrong or labels.quality or labels.group or labels.by or labels.correct not in (None, "labels"):
        raise TableError(
            "A pipeline takes a file of outputs, whose labels are the true classes; leave out the columns, or measure "
            "the outputs first and gate the table of measures."
        )
    outputs = read_outputs(path, temperature=model.temperature_)
    if outputs.labels is None:
        raise TableError(f"{path} holds no labels, the true class of each row; add them as an array `labels`.")
    errors = columns_of_labels(outputs).get("is_error")
    if errors is None:
        raise TableError(f"The labels of {path} are not classes of these outputs; give whole numbers from 0.")
    return LabelledRows(outputs, 1.0 - np.asarray(errors, dtype=float), None, None)
