"""Categories and groups of rows: which of them are flagged, or wrong, more often than the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._draw import Ranged, Section, Sheet, paragraph, sheet_table, shortened
from vecuq.evaluation import share_interval
from vecuq.report.encoded import encoded
from vecuq.report.subject import Subject

if TYPE_CHECKING:
    import pyarrow as pa

# Smaller categories say little by themselves and are counted together.
FEWEST_ROWS = 20
# So many categories are listed, those with the largest share first.
MOST_LISTED = 30
_POOL, _NONE = "(smaller ones together)", "(no value)"


@dataclass(frozen=True, eq=False)
class Parts:
    """Rows by the value of one column, the small parts pooled."""

    names: list[str]
    places: NDArray[np.int64]  # (rows,), the part of each row
    n_pooled: int

    @staticmethod
    def of(column: pa.ChunkedArray, fewest: int = FEWEST_ROWS) -> Parts:
        """Pool the values that fewer rows have."""
        values, codes = encoded(column)
        names = [_NONE if value is None or value != value else shortened(value) for value in values]  # noqa: PLR0124
        small = np.bincount(codes, minlength=len(names)) < fewest
        if small.sum() < 2:  # a pool of one is a part by itself
            return Parts(names, codes, 0)
        kept = [name for name, is_small in zip(names, small, strict=True) if not is_small]
        places = np.where(small, len(kept), np.cumsum(~small) - 1)
        return Parts([*kept, _POOL], places[codes], int(small.sum()))

    def counts(self, rows: NDArray[np.bool_]) -> Array:
        """Return how many of some rows each part has."""
        return np.bincount(self.places[rows], minlength=len(self.names)).astype(float)


@dataclass(frozen=True, eq=False)
class _Question:
    """What is asked of every part: the share of some rows that are hit."""

    head: str
    hits: NDArray[np.bool_]
    rows: NDArray[np.bool_]


def group_sections(subject: Subject) -> list[Section]:
    """Return a table for the column of categories, and one for the column of groups."""
    wanted = dict.fromkeys(name for name in (subject.beside.by, subject.beside.group) if name)
    if not wanted or not subject.n_scored:
        return []
    body = "".join(_table(subject, name) for name in wanted)
    return [Section("groups", "Categories and groups of rows", body)]


def _table(subject: Subject, column: str) -> str:
    # Rows of one group are one draw: an interval would count them as many, and a pool of groups says nothing.
    alone, questions = column == subject.beside.group, _questions(subject)
    parts = Parts.of(subject.table[column], 1 if alone else FEWEST_ROWS)
    hit, of_all = parts.counts(questions[0].hits & questions[0].rows), parts.counts(questions[0].rows)
    shares = hit / np.maximum(of_all, 1.0)
    order = np.lexsort((-of_all, -shares, -hit) if alone else (-of_all, -shares))[:MOST_LISTED]
    lines = tuple(_line(subject, parts, int(k), questions, alone=alone) for k in order)
    table = sheet_table(Sheet("parts", f"Rows by {column}", lines))
    said = paragraph(_remark(parts, questions[0].head, alone=alone), kind="soft")
    return paragraph(f"By {column}", kind="strong") + table + said


def _questions(subject: Subject) -> list[_Question]:
    shown = "not accepted" if subject.decision is not None else "flagged" if subject.has_held else "above the threshold"
    found, wrong = [_Question(shown, subject.chosen, subject.scored)], subject.label("error")
    if wrong is not None:
        found.append(_Question("wrong", np.nan_to_num(wrong) > 0.5, ~np.isnan(wrong)))
    return found


def _line(subject: Subject, parts: Parts, k: int, questions: list[_Question], *, alone: bool) -> dict[str, Any]:
    inside = parts.places == k
    shares = {one.head: _share(subject, one, inside & one.rows, alone=alone) for one in questions}
    return {"value": parts.names[k], "rows": int(inside.sum()), **shares}


def _share(subject: Subject, asked: _Question, rows: NDArray[np.bool_], *, alone: bool) -> Ranged | None:
    """Return the share of rows that are hit, with its interval; without one for rows of one group."""
    if not rows.any():
        return None
    if alone:
        return Ranged(float(asked.hits[rows].mean()), float("nan"), float("nan"))
    return Ranged(*share_interval(asked.hits[rows], groups=None if subject.groups is None else subject.groups[rows]))


def _remark(parts: Parts, head: str, *, alone: bool) -> str:
    said = [] if alone else ["In brackets 95 % intervals, each by itself, if the rows are a random sample."]
    said.append("Of many some stand out by chance.")
    if parts.n_pooled:
        said.append(f"{parts.n_pooled:,} values with fewer than {FEWEST_ROWS} rows each are counted together.")
    if len(parts.names) > MOST_LISTED:
        by = f"most rows {head}" if alone else "the largest share"
        said.append(f"The {MOST_LISTED} with {by} of {len(parts.names):,} are listed.")
    return " ".join(said)
