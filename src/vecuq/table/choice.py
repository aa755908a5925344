"""Which columns of a table are scores when nobody names them, and why the others are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vecuq._check import wanted_columns
from vecuq.errors import ColumnError
from vecuq.table.frames import is_arrow
from vecuq.table.text import as_floats, as_text, role_of_arrow, role_of_text

# What vecuq itself adds to a table; never taken for a score.
RESERVED = ("uncertainty", "p_value", "flagged")
CONTRIBUTION = "contribution_"
_ADDED = (*RESERVED, "selected", "why", "accept", "p_wrong", "refused", "audit")
# How good an answer is, as `vecuq measure --quality` writes it: higher is better, so it is never taken for a score.
QUALITY = "quality"
# What `vecuq measure` and `vecuq score` write beside scores; leaving these out surprises nobody.
EXPECTED = ("id", "label", "prediction", "is_error", QUALITY, "flagged", "selected", "accept", "audit")
_WHY_LEFT_OUT = {"count": "whole numbers beside decimal ones", "truth": "true or false", "empty": "no values"}


def is_added(name: str) -> bool:
    """Whether scoring may have added a column of this name."""
    return name in _ADDED or name.startswith(CONTRIBUTION)


def choose_columns(columns: Sequence[str] | None, present: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the score columns, and the columns that hold numbers but are left out by default, with the reason."""
    if columns is not None:
        names = wanted_columns(columns, list(present), purpose="needed as score columns")
        if not names:
            raise ColumnError("At least one score column is needed; none was named.")
        return names, {}
    names, left_out = _default_scores(present)
    if not names:
        found = f" Left out: {by_reason(left_out)}." if left_out else ""
        raise ColumnError(
            f"None of the columns {list(present)} holds numbers that can be scores.{found} Name some by `columns`."
        )
    return names, left_out


def by_reason(left_out: Mapping[str, str]) -> str:
    """Return the columns that were left out, grouped by the reason."""
    groups: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        groups.setdefault(reason, []).append(name)
    return "; ".join(f"{listed(names)} ({reason})" for reason, names in groups.items())


def listed(names: Sequence[str], *, most: int = 8) -> str:
    """Return names in quotes, not more than a line of them."""
    more = len(names) - most
    return ", ".join(map(repr, names[:most])) + (f" and {more:,} more" if more > 0 else "")


def _default_scores(present: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Take the columns of quantities; if there are none, those of whole numbers. A stray cell is an error."""
    roles = {name: _role(column) for name, column in present.items()}
    free = {name: role for name, role in roles.items() if not _is_reserved(name)}
    taken = "quantity" if "quantity" in free.values() else "count"
    for name, role in free.items():
        if role == "spoilt quantity" or (role == "spoilt count" and taken == "count"):
            as_floats(present[name], name)
    names = tuple(name for name, role in free.items() if role == taken)
    left_out = {name: _WHY_LEFT_OUT[role] for name, role in free.items() if role != taken and role in _WHY_LEFT_OUT}
    ours = {name: "named like what vecuq adds" for name, role in roles.items() if role and name not in free}
    return names, left_out | ours


def _is_reserved(name: str) -> bool:
    return name in (*RESERVED, QUALITY) or name.startswith(CONTRIBUTION)


def _role(column: Any) -> str:
    """Return what a column is for: see :func:`vecuq.table.text.role_of_text`."""
    if isinstance(column, np.ndarray):
        known = {"f": "quantity", "i": "count", "u": "count", "b": "truth"}.get(column.dtype.kind, "")
        return role_of_text(as_text(column.tolist())) if column.dtype.kind in "UO" else known
    if is_arrow(column):
        return role_of_arrow(column)
    import narwhals as nw

    if column.dtype.is_numeric():
        return "count" if column.dtype.is_integer() else "quantity"
    if column.dtype == nw.Boolean:
        return "truth"
    if column.dtype == nw.String:
        return role_of_text(as_text(column.to_arrow()))
    return role_of_text(as_text(column.to_list())) if column.dtype == nw.Object else ""
