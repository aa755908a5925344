"""The rows of a report: those that call for a look, each with its scores, their percentiles and its reason."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._draw import shortened
from vecuq.errors import ModelFileError
from vecuq.ranker import Ranker, leading_names
from vecuq.report.beside import Beside
from vecuq.report.percentiles import known_rows
from vecuq.report.plain import MOST_LETTERS, plain
from vecuq.report.subject import Subject
from vecuq.table import is_added, python_cells

if TYPE_CHECKING:
    import pyarrow as pa

# More rows nobody reads in a page; a table holds all of them.
MOST_ROWS = 1_000
# So many of the most uncertain rows are shown where none is flagged.
FEW_ROWS = 50
MOST_OTHER_COLUMNS = 6
# Names of ids, among them docId and uuid, but neither "valid" nor "paid".
_ID = re.compile(
    r"(?i:(?:^|[^a-z])id[^a-z0-9]*$)|[a-z](?:Id|ID)$"
    r"|(?i:(?:^|_)(?:case|doc|gu|image|item|p|q|query|question|record|row|s|sample|u|user|uu)id$)"
)
_MOST_OF_A_NAME = 60
Reasons = tuple[list[str], list[str | None]]


def row_facts(subject: Subject) -> dict[str, Any]:
    """Return the part ``rows`` of the facts, as values that JSON can hold."""
    ranker, rows, known = subject.ranker, shown_rows(subject), known_rows(subject)
    others, headed = beside_scores(subject, rows)
    return {
        "what": kind_of_rows(subject),
        "n_such": int(subject.chosen.sum()) if kind_of_rows(subject) != "most uncertain" else 0,
        "n_rows": subject.n_rows,
        "n_shown": len(rows),
        "n_unscored": subject.n_rows - subject.n_scored,
        "table": subject.beside.table,
        "link": link_to_table(subject.beside),
        "scores": _score_columns(ranker, subject.values),
        "others": others,
        "headed": headed,
        "has_p": subject.has_held,
        "is_gate": subject.decision is not None,
        "has_label": subject.label("error") is not None,
        "signed": bool(ranker.scaler.signed),
        "percentiles_of": None if known is None else known.words,
        "rows": _rows(subject, rows, others, None if known is None else known.percentiles(subject.values[rows])),
    }


def link_to_table(beside: Beside) -> str | None:
    """Return the table of rows as seen from the folder of the page, wherever both were written."""
    page, table = beside.origin.page, beside.table
    if page is None or table is None:
        return table
    try:
        return Path(os.path.relpath(table, Path(page).parent)).as_posix()
    except ValueError:  # another drive
        return table


def kind_of_rows(subject: Subject) -> str:
    """Return what is shown: rows that are not accepted, flagged rows, or, where none are, the most uncertain."""
    if not subject.chosen.any() or (subject.decision is None and not subject.has_held):
        return "most uncertain"
    return "flagged" if subject.decision is None else "not accepted"


def shown_rows(subject: Subject) -> NDArray[np.intp]:
    """Return the numbers of the rows to show, the most uncertain first; equals keep their order."""
    few = kind_of_rows(subject) == "most uncertain"
    return by_uncertainty(subject, subject.scored if few else subject.chosen)[: FEW_ROWS if few else MOST_ROWS]


def by_uncertainty(subject: Subject, chosen: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the numbers of the chosen rows, first those that the gate's own order puts last, the most uncertain first.

    Rows that the guard of a gate turned away have no place in its order and come before all others.
    """
    rows, order = np.flatnonzero(chosen), subject.uncertainty
    if subject.decision is not None:
        order = np.nan_to_num(subject.decision.scores, nan=np.inf)
    return rows[np.lexsort((rows, -subject.uncertainty[rows], -order[rows]))]


def other_columns(schema: pa.Schema, scores: Sequence[str], named: Sequence[str] = ()) -> list[str]:
    """Return the columns to show beside the scores: ids, those that were named (labels, groups), and a few others.

    Decimal numbers and what vecuq itself adds are left out, unless they were named.
    """
    import pyarrow as pa

    free = [field for field in schema if field.name not in scores and field.name not in named]
    kept = [field.name for field in free if not (pa.types.is_floating(field.type) or is_added(field.name))]
    ids = [name for name in kept if _ID.search(name)]
    present = [name for name in named if name in schema.names and name not in scores]
    return [*ids, *present, *(name for name in kept if name not in ids)][: max(MOST_OTHER_COLUMNS, len(present) + 1)]


def beside_scores(subject: Subject, rows: NDArray[np.intp]) -> tuple[list[str], bool]:
    """Return the columns to show beside the scores, and whether the first of them says which row it is.

    Labels, categories and groups do not say that, and a label that the page shows as right or wrong is not shown twice.
    """
    table, beside = subject.table, subject.beside
    found = other_columns(table.schema, subject.ranker.columns, beside.named_columns)
    found = [name for name in found if not (name in beside.label_columns and _is_error_label(subject, name))]
    free = (name for name in found if name not in beside.named_columns)
    head = next((name for name in free if _is_name(name, table[name].take(rows))), None)
    return sorted(found, key=lambda name: name != head), head is not None


def _is_error_label(subject: Subject, name: str) -> bool:
    """Whether a column holds nothing but the labels of errors, or of right answers."""
    import pyarrow as pa

    error, column = subject.label("error"), subject.table[name]
    kind = column.type
    if error is None or not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return False
    given = column.cast(pa.float64()).to_numpy()
    return any(np.array_equal(one, error, equal_nan=True) for one in (given, 1.0 - given))


def _is_name(name: str, cells: pa.ChunkedArray) -> bool:
    """Whether a column says which row it is: an id by its name, or short texts of which no two are alike."""
    import pyarrow as pa

    if _ID.search(name):
        return True
    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)) or len(cells) < 2:
        return False
    texts = [text for text in cells.to_pylist() if text and len(text) <= _MOST_OF_A_NAME]
    return len(set(texts)) == len(cells)


def reasons_of(ranker: Ranker, values: Array, *, missing: str = "nan") -> Reasons:
    """Return the sentence ``why`` of every row, and the column that it names first; None where nothing stands out.

    A model of an older vecuq keeps no medians to compare with, so it has no reasons.
    """
    try:
        contributions = ranker.explain(ranker.as_table(values), missing=missing)
        return ranker.reasons(values, contributions, missing=missing), leading_names(ranker.columns, contributions)
    except ModelFileError:
        return [""] * len(values), [None] * len(values)


def _score_columns(ranker: Ranker, values: Array) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "flipped": name in ranker.flipped,
            "whole": _is_whole(values[:, k]),
            "constant": k not in ranker.active,
        }
        for k, name in enumerate(ranker.columns)
    ]


def _is_whole(column: Array) -> bool:
    """Whether a column counts something: all of its values are whole numbers."""
    known = column[np.isfinite(column)]
    return bool((known == np.floor(known)).all())


def _rows(
    subject: Subject, rows: NDArray[np.intp], others: Sequence[str], percentiles: list[list[float | None]] | None
) -> list[dict[str, Any]]:
    """Return one plain dictionary per row."""
    ranker, values = subject.ranker, subject.values[rows]
    cells = {name: python_cells(subject.table[name].take(rows)) for name in others}
    given = values * [-1.0 if name in ranker.flipped else 1.0 for name in ranker.columns]
    whole = [_is_whole(column) for column in subject.values.T]
    why, leading = reasons_of(ranker, values, missing=subject.missing)
    said = [_said_of(subject, int(row)) for row in rows]
    nothing: list[float | None] = [None] * len(ranker.columns)
    return [
        {
            "row": int(row),
            "others": [plain(cells[name][k]) for name in others],
            "scores": [_number(value, one) for value, one in zip(given[k].tolist(), whole, strict=True)],
            "percentiles": nothing if percentiles is None else percentiles[k],
            **said[k],
            "leading": leading[k],
            "why": shortened(why[k], MOST_LETTERS),
        }
        for k, row in enumerate(rows)
    ]


def _said_of(subject: Subject, row: int) -> dict[str, Any]:
    """Return what was decided about one row, and what its label says."""
    p_values, decision, wrong = subject.ranking.p_values, subject.decision, subject.label("error")
    return {
        "uncertainty": float(subject.uncertainty[row]),
        "p_value": None if p_values is None else plain(p_values[row]),
        "flagged": bool(subject.flagged[row]),
        "accept": None if decision is None else bool(decision.accepted[row]),
        "p_wrong": None if decision is None else plain(decision.p_wrong[row]),
        "wrong": None if wrong is None or math.isnan(wrong[row]) else bool(wrong[row]),
    }


def _number(value: float, whole: bool) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if whole else float(value)
