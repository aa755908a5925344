"""The table of rows as HTML that works by itself, and the same rows as data for the script."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from vecuq._draw import shortened
from vecuq.report.columns import Column, columns_of
from vecuq.report.text import count

# Texts of all rows together, in bytes; where they are longer each is cut, to the first length that fits.
MOST_TEXT = 500_000
LENGTHS = (1_000, 300, 120, 60, 30)
MOST_OF_A_REASON = 400
_DECIDED = ("flagged", "accept")


def rows_heading(facts: Mapping[str, Any]) -> str:
    """Return which rows the table shows.

    Examples
    --------
    >>> rows_heading({"what": "flagged", "n_such": 52331, "n_shown": 1000})
    'The 1,000 most uncertain of 52,331 rows that are flagged'
    >>> rows_heading({"what": "not accepted", "n_such": 3, "n_shown": 3})
    'All 3 rows that are not accepted'
    """
    what, n_such, n_shown = facts["what"], facts["n_such"], facts["n_shown"]
    if what == "most uncertain":
        return "The most uncertain row" if n_shown == 1 else f"The {count(n_shown)} most uncertain rows"
    if n_such == 1:
        return f"The one row that is {what}"
    these = f"{count(n_such)} rows that are {what}"
    return f"All {these}" if n_shown == n_such else f"The {count(n_shown)} most uncertain of {these}"


def table_html(columns: list[Column], rows: list[Mapping[str, Any]]) -> str:
    """Return the table: heading cells, and for each row a group of two lines, its cells and its reason."""
    head = "".join(column.head() for column in columns)
    groups = "\n".join(_group(columns, row) for row in rows)
    return f'<table id="rows-table">\n<thead><tr>{head}</tr></thead>\n{groups}\n</table>'


def _group(columns: list[Column], row: Mapping[str, Any]) -> str:
    cells = "".join(column.cell(row) for column in columns)
    why = escape(shortened(row["why"], MOST_OF_A_REASON))
    return f'<tbody><tr>{cells}</tr><tr><td colspan="{len(columns)}"><div>{why}</div></td></tr></tbody>'


def table_data(columns: list[Column], rows: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the rows as the script sorts, filters and saves them: lists of values in the order of the columns.

    What is decided alike about all rows has no column, and is there once.
    """
    return {
        "alike": {role: rows[0][role] for role in _DECIDED if len({row[role] for row in rows}) == 1},
        "columns": [{"role": one.role, "name": one.name, "numeric": one.numeric} for one in columns],
        "rows": [[one.value(row) for one in columns] for row in rows],
    }


def within_reach(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of the rows with long texts cut, so that the page stays small whatever the texts are."""
    texts = [cell.encode(errors="replace") for row in facts["rows"] for cell in row["others"] if isinstance(cell, str)]
    fits = (most for most in LENGTHS if sum(min(len(text), most) for text in texts) <= MOST_TEXT)
    most = next(fits, LENGTHS[-1])
    rows = [{**row, "others": [_cut(cell, most) for cell in row["others"]]} for row in facts["rows"]]
    return {**facts, "rows": rows}


def _cut(cell: Any, most: int) -> Any:
    """Return a cell; of a text at most so many bytes, a mark at its end where it was cut."""
    if not isinstance(cell, str) or len(cell.encode(errors="replace")) <= most:
        return cell
    return cell.encode(errors="replace")[:most].decode(errors="ignore") + "…"


__all__ = ["columns_of", "rows_heading", "table_data", "table_html", "within_reach"]
