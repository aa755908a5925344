"""What a fit says about its columns: which it left out, and which it took though they look like something else."""

from __future__ import annotations

from collections.abc import Sequence

from vecuq._check import warn_user
from vecuq.errors import ColumnWarning
from vecuq.table.choice import EXPECTED, by_reason
from vecuq.table.score_table import ScoreTable
from vecuq.table.suspicions import Suspicion, find_suspicions

_AN = {"confidence": "a confidence", "id": "an id", "label": "a label", "time": "a time"}
# Longer lists of names are of no help in a message.
_MOST_NAMES = 8


def warn_of_columns(table: ScoreTable, *, directions: bool = True) -> None:
    """Warn once of columns that were left out, and once of those that look like something else than a score.

    What the user stated is not doubted: with ``columns``, no column is taken for an id, a label or a time; with
    ``columns`` and ``flip``, none is taken for a confidence either.

    Parameters
    ----------
    table
        Calibration rows.
    directions
        Whether it matters in which direction a column points.
    """
    if not set(table.left_out) <= set(EXPECTED):
        warn_user(_left_out(table), ColumnWarning)
    found = _doubted(table, directions=directions) if table.unsaid else ()
    if found:
        warn_user(_looking_like_others(table, found), ColumnWarning)


def _doubted(table: ScoreTable, *, directions: bool) -> tuple[Suspicion, ...]:
    """Return the suspicions about which the user has said nothing."""
    chosen = not table.unsaid & {"columns", "array"}
    found = find_suspicions(table.columns, table.values, flipped=table.flipped, directions=directions)
    return tuple(one for one in found if not chosen or (one.kind == "confidence" and "flip" in table.unsaid))


def _left_out(table: ScoreTable) -> str:
    wider = [*table.columns, next(name for name in table.left_out if name not in EXPECTED)]
    return (
        f"Not taken for scores: {by_reason(table.left_out)}. If one is a score, name all score columns, as in "
        f"{_argument('columns', wider)}; {_argument('columns', table.columns)} confirms the choice."
    )


def _looking_like_others(table: ScoreTable, found: Sequence[Suspicion]) -> str:
    described = "; ".join(f"{one.column!r} ({_AN[one.kind]}: {one.why})" for one in found)
    confident = [one.column for one in found if one.kind == "confidence"]
    strange = [one.column for one in found if one.kind != "confidence"]
    remedies = []
    if confident:
        remedies.append(
            f"If higher means more confident, fit with {_argument('flip', [*sorted(table.flipped), *confident])}."
        )
    if strange:
        remedies.append(_without(table, strange))
    return f"Score columns that look like something else: {described}. {' '.join(remedies)}"


def _without(table: ScoreTable, strange: Sequence[str]) -> str:
    rest = [name for name in table.columns if name not in strange]
    if "columns" not in table.unsaid or not rest:
        return "Leave out what is no score."
    return f"Leave out what is no score, as in {_argument('columns', rest)}."


def _argument(name: str, columns: Sequence[str]) -> str:
    return f"{name}={list(columns)}" if len(columns) <= _MOST_NAMES else f"{name}=[...]"
