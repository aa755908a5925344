"""Categories and groups of rows: which of them are flagged, or wrong, more often than the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._draw import Ranged, Section, Sheet, paragraph, sheet_table, shortened
from vecuq.evaluation import share_interval
from vecuq.report.subject import Subject

# Smaller categories say little by themselves and are counted together.
FEWEST_ROWS = 20
# So many categories are listed, those with the largest share first.
MOST_LISTED = 30
_POOL, _NONE = "(smaller ones together)", "(no value)"


@dataclass(frozen=True, eq=False)
class Parts:
    """Rows by the value of one column, the small parts pooled."""

    names: list[str]
    places: NDArray[np.intp]  # (rows,), the part of each row
    n_pooled: int

    @staticmethod
    def of(cells: Sequence[Any]) -> Parts:
        """Pool the values that few rows have."""
        texts = np.array([_NONE if _is_absent(cell) else shortened(cell, 60) for cell in cells], dtype=object)
        found, inverse, counts = np.unique(texts.astype(str), return_inverse=True, return_counts=True)
        small = counts < FEWEST_ROWS
        if small.sum() < 2:  # a pool of one is a part by itself
            return Parts(list(map(str, found)), inverse, 0)
        own = np.cumsum(~small) - 1
        names = [*map(str, found[~small]), _POOL]
        return Parts(names, np.where(small, len(names) - 1, own)[inverse], int(small.sum()))


def _is_absent(cell: Any) -> bool:
    return cell is None or cell != cell  # noqa: PLR0124 - NaN differs from itself


def group_sections(subject: Subject) -> list[Section]:
    """Return a table for the column of categories, and one for the column of groups."""
    wanted = dict.fromkeys(name for name in (subject.beside.by, subject.beside.group) if name)
    if not wanted or not subject.n_scored:
        return []
    body = "".join(_table(subject, name) for name in wanted)
    return [Section("groups", "Categories and groups of rows", body)]


def _table(subject: Subject, column: str) -> str:
    parts = Parts.of(subject.table[column].to_pylist())
    # A group is one draw, so intervals inside of it would count it as many.
    groups = None if subject.groups is None or column == subject.beside.group else subject.groups
    shown = "not accepted" if subject.decision is not None else "flagged" if subject.has_held else "above the threshold"
    lines = [
        _line(subject, parts, k, groups, shown, alone=column == subject.beside.group) for k in range(len(parts.names))
    ]
    lines.sort(key=lambda line: -_number(line[shown]))
    sheet = Sheet("parts", f"Rows by {column}", tuple(lines[:MOST_LISTED]))
    return paragraph(f"By {column}", kind="strong") + sheet_table(sheet) + paragraph(_remark(parts, lines), kind="soft")


def _line(
    subject: Subject, parts: Parts, k: int, groups: NDArray[np.int64] | None, shown: str, *, alone: bool
) -> dict[str, Any]:
    inside = parts.places == k
    line: dict[str, Any] = {"value": parts.names[k], "rows": int(inside.sum())}
    line[shown] = _share(subject.chosen, inside & subject.scored, groups, alone=alone)
    wrong = subject.label("error")
    if wrong is not None:
        line["wrong"] = _share(wrong > 0.5, inside & ~np.isnan(wrong), groups, alone=alone)
    return line


def _share(
    hits: NDArray[np.bool_], rows: NDArray[np.bool_], groups: NDArray[np.int64] | None, *, alone: bool
) -> Ranged | None:
    """Return the share of rows that are hit, with its interval; without one for rows of one group."""
    if not rows.any():
        return None
    if alone:
        return Ranged(float(hits[rows].mean()), float("nan"), float("nan"))
    return Ranged(*share_interval(hits[rows], groups=None if groups is None else groups[rows]))


def _number(cell: Array | Ranged | None) -> float:
    return -1.0 if cell is None else float(cell)


def _remark(parts: Parts, lines: Sequence[dict[str, Any]]) -> str:
    said = ["Shares with 95 % intervals, each by itself; of many categories some stand out by chance."]
    if parts.n_pooled:
        said.append(f"{parts.n_pooled:,} values with fewer than {FEWEST_ROWS} rows each are counted together.")
    if len(lines) > MOST_LISTED:
        said.append(f"The {MOST_LISTED} with the largest share of {len(lines):,} are listed.")
    return " ".join(said)
