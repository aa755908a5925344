"""Rows that come together: the column of a table that names their groups, taken out from among the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vecuq._check import wanted_columns
from vecuq.errors import SettingError
from vecuq.table import ScoreTable


def without_groups(
    table: ScoreTable, group: str | None, columns: Sequence[str] | None = None
) -> tuple[ScoreTable, list[Any] | None]:
    """Return the table without the column that names the groups, and the group of every row.

    ``columns`` are the score columns that the user named, among which the group has no place.
    """
    if group is None:
        return table, None
    if columns is not None and group in columns:
        raise SettingError(f"{group!r} is named as a score column and as group; it can be one of them only.")
    others = getattr(table.others, "column_names", [])
    wanted_columns([group], [*table.columns, *others], purpose="which should name the groups")
    stated = replace(table, left_out={name: why for name, why in table.left_out.items() if name != group})
    if group in others:
        return stated, table.others[group].to_pylist()
    place = table.columns.index(group)  # numbers that were taken for a score
    kept = [k for k in range(len(table.columns)) if k != place]
    names = tuple(table.columns[k] for k in kept)
    if not names:
        raise SettingError(f"{group!r} is the only column of numbers, so no score is left beside it.")
    rest = replace(stated, columns=names, values=table.values[:, kept], flipped=table.flipped - {group})
    return rest, table.values[:, place].tolist()
