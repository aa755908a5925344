"""Tables with labels: which columns are scores, and which say what is true of a row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array, wanted_columns
from vecuq.errors import ColumnError, SettingError, TableError
from vecuq.gate import apply_rule, label_rule
from vecuq.table import ScoreTable

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Labels:
    """Names of label columns: the prediction is wrong, the row is out of distribution (0 / 1), the answer's quality.

    ``correct`` stands for ``error``: a column with 1 for a right prediction, or a rule such as ``quality>=0.7``.
    """

    error: str | None = None
    ood: str | None = None
    quality: str | None = None
    correct: str | None = None

    def __post_init__(self) -> None:
        if self.error and self.correct:
            raise SettingError("Labels of errors come from one column; got error= and correct=. Give one of them.")

    def named(self) -> dict[str, str]:
        """Return the columns that were named, by what they say."""
        error = label_rule(self.correct)[0] if self.correct else self.error
        found = {"error": error, "ood": self.ood, "quality": self.quality}
        return {task: column for task, column in found.items() if column}


def score_columns(
    table: pa.Table,
    labels: Labels,
    columns: Sequence[str] | None,
    flip: Sequence[str],
    *,
    others: Collection[str | None] = (),
) -> ScoreTable:
    """Return the score columns: those that were named, or all that look like scores and are neither labels nor others.

    ``others`` are columns that say something else of a row, such as its group.
    """
    taken = {*labels.named().values(), *others}
    plain = table.drop_columns([name for name in table.column_names if name in taken])
    return ScoreTable.of(table if columns else plain, columns=columns, flip=flip)


def label_columns(table: pa.Table, labels: Labels, *, scores: Sequence[str] = ()) -> dict[str, Array]:
    """Return the labels of a table by what they say, as floats, NaN where there is none."""
    named = labels.named()
    if not named:
        raise TableError("There are no labels to evaluate with. Give Labels a column: error, ood or quality.")
    wanted_columns(dict.fromkeys(named.values()), table.column_names, purpose="named as a label")
    if labels.correct is None:
        return {task: _label(table, column, task, scores) for task, column in named.items()}
    others = {task: _label(table, column, task, scores) for task, column in named.items() if task != "error"}
    return {"error": 1.0 - _right(table, labels.correct, scores), **others}


def _right(table: pa.Table, correct: str, scores: Sequence[str]) -> Array:
    """Return 1 where a row is right, by a column of labels or by a rule."""
    column, sign, bound = label_rule(correct)
    return apply_rule(_label(table, column, "error" if sign is None else "quality", scores), sign, bound)


def group_column(table: pa.Table, group: str | None, *, scores: Sequence[str] = ()) -> list[Any] | None:
    """Return the group of every row, by the column that names it; None if none does."""
    if group is None:
        return None
    if group in scores:
        raise ColumnError(f"{group!r} cannot be a group and a score at once. Name the score columns without it.")
    wanted_columns([group], table.column_names, purpose="which names the groups")
    names: list[Any] = table[group].to_pylist()
    return names


def _label(table: pa.Table, name: str, task: str, scores: Sequence[str]) -> Array:
    wanted = "a number" if task == "quality" else "0 or 1, or true or false"
    if name in scores:
        raise ColumnError(f"{name!r} cannot be a label and a score at once. Name the score columns without it.")
    try:
        values = ScoreTable.of(table.select([name]), columns=[name]).values[:, 0]
    except ColumnError:
        raise ColumnError(f"A label must be {wanted}; {name!r} holds text.") from None
    wrong = values[~np.isin(values, (0.0, 1.0)) & ~np.isnan(values)] if task != "quality" else values[:0]
    if len(wrong):
        raise ColumnError(f"A label must be {wanted}; {name!r} holds {wrong[0]:g}.")
    return values
