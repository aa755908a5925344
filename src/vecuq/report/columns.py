"""The columns of the table of rows: what each is called, what its cells show, and what the script sorts by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from vecuq._draw import named, shortened
from vecuq.report.text import DASH, as_given, digits, is_numeric

Row = Mapping[str, Any]
MOST_IN_HEAD = 24
# From these percentiles on, on the uncertain side, a cell is shaded; the last one is beyond all calibration rows.
SHADES = (75.0, 90.0, 97.5, 100.0)
TAG = '<span class="tag">{}</span>'


@dataclass(frozen=True)
class Column:
    """A column of the table: ``role`` is what the script knows it by, ``cell`` gives HTML, ``value`` plain values."""

    role: str
    name: str
    cell: Callable[[Row], str]
    value: Callable[[Row], Any]
    numeric: bool = False
    tags: tuple[str, ...] = ()

    def head(self) -> str:
        """Return the heading as HTML; a name that was cut is given in full under the pointer."""
        full = f' title="{escape(shortened(self.name, 1000))}"' if len(self.name) > MOST_IN_HEAD else ""
        tags = "".join(f" {TAG.format(tag)}" for tag in self.tags)
        name = f"<bdi{full}>{escape(named(self.name, MOST_IN_HEAD))}</bdi>"
        return f'<th scope="col"{_class(self.numeric)}>{name}{tags}</th>'


def columns_of(facts: Mapping[str, Any]) -> list[Column]:
    """Return the columns for the rows of a report: who, how uncertain, decided how, why, and the scores."""
    headed = facts["headed"]
    others = [_other(name, k, facts["rows"], is_head=headed and k == 0) for k, name in enumerate(facts["others"])]
    head, others = (others[0], others[1:]) if headed else (_row_number("id"), others)
    return [
        head,
        Column(
            "uncertainty", "uncertainty", _number("uncertainty", 4, "n strong"), _field("uncertainty"), numeric=True
        ),
        *_decided(facts),
        Column("leading", "leading column", _leading, _field("leading")),
        *(_score(score, k, signed=facts["signed"]) for k, score in enumerate(facts["scores"])),
        *others,
        *([_row_number("row")] if headed else []),
    ]


def _decided(facts: Mapping[str, Any]) -> list[Column]:
    """Return the columns that say what was decided of a row and whether it was right; those that say something."""
    rows = facts["rows"]
    columns = []
    if facts["has_p"]:
        columns.append(Column("p_value", "p-value", _number("p_value", 3, "n"), _field("p_value"), numeric=True))
    if len({row["accept"] for row in rows}) > 1:
        columns.append(_badge("accept", "decision", {True: ("accepted", "right"), False: ("not accepted", "wrong")}))
    if len({row["flagged"] for row in rows}) > 1:
        columns.append(_badge("flagged", "flagged", {True: ("flagged", "wrong"), False: ("not flagged", "")}))
    if any(row["p_wrong"] is not None for row in rows):
        columns.append(Column("p_wrong", "p_wrong", _number("p_wrong", 2, "n"), _field("p_wrong"), numeric=True))
    if facts["has_label"]:
        columns.append(_badge("wrong", "label", {True: ("wrong", "wrong"), False: ("right", "right")}))
    return columns


def _field(name: str) -> Callable[[Row], Any]:
    return lambda row: row[name]


def _number(name: str, significant: int, style: str) -> Callable[[Row], str]:
    return lambda row: f'<td class="{style}">{digits(row[name], significant)}</td>'


def _badge(role: str, name: str, looks: dict[bool, tuple[str, str]]) -> Column:
    cells = {
        truth: f'<td><span class="{" ".join(("badge", look)).strip()}">{word}</span></td>'
        for truth, (word, look) in looks.items()
    }
    return Column(role, name, lambda row: cells.get(row[role], f"<td>{DASH}</td>"), _field(role))


def _leading(row: Row) -> str:
    name = row["leading"]
    return f"<td>{DASH}</td>" if name is None else f"<td><bdi>{escape(named(name, MOST_IN_HEAD))}</bdi></td>"


def _score(score: Mapping[str, Any], k: int, *, signed: bool) -> Column:
    """Return a score column, shaded where its value is unusual; a constant one has no say, and no shade."""
    tags = [word for word, is_so in (("flipped", score["flipped"]), ("constant", score["constant"])) if is_so]

    def cell(row: Row) -> str:
        percentile = None if score["constant"] else row["percentiles"][k]
        level = shade(percentile, signed=signed)
        style = f"n p{level}" if level else "n"
        return f'<td class="{style}">{digits(row["scores"][k])}{_percentile(percentile)}</td>'

    return Column("score", score["name"], cell, lambda row: row["scores"][k], numeric=True, tags=tuple(tags))


def shade(percentile: float | None, *, signed: bool = False) -> int:
    """Return how dark a cell is, 0 to 4, by how far it lies on the uncertain side of the calibration rows.

    Of signed scores both sides are uncertain.

    Examples
    --------
    >>> shade(98.0), shade(50.0), shade(100.0), shade(None), shade(0.0, signed=True)
    (3, 0, 4, 0, 4)
    """
    if percentile is None:
        return 0
    outward = abs(2.0 * percentile - 100.0) if signed else percentile
    return sum(outward >= start for start in SHADES)


def _percentile(percentile: float | None) -> str:
    """Return the percentile as small text; only what is beyond all calibration rows is 0 or 100."""
    if percentile is None:
        return ""
    whole = round(percentile) if percentile in (0, 100) else min(max(round(percentile), 1), 99)
    return f"<i> P{whole}</i>"


def _other(name: str, k: int, rows: Sequence[Row], *, is_head: bool) -> Column:
    """Return an id, text or label; the cells of a head name their rows."""
    values = [row["others"][k] for row in rows if row["others"][k] is not None]
    numeric = bool(values) and all(map(is_numeric, values))
    tag, scope = ("th", ' scope="row"') if is_head else ("td", "")

    def cell(row: Row) -> str:
        value = row["others"][k]
        style = ' class="wide"' if len(str(value)) > MOST_IN_HEAD else _class(numeric)
        return f"<{tag}{scope}{style}><bdi>{escape(as_given(value))}</bdi></{tag}>"

    return Column("id" if is_head else "other", name, cell, lambda row: row["others"][k], numeric=numeric)


def _row_number(role: str) -> Column:
    tag, scope = ("th", ' scope="row"') if role == "id" else ("td", "")
    return Column(role, "row", lambda row: f'<{tag}{scope} class="n">{row["row"]}</{tag}>', _field("row"), numeric=True)


def _class(numeric: bool) -> str:
    return ' class="n"' if numeric else ""
