"""Sections: parts of a page that look the same in a report, in a notebook and in any other page.

A fragment brings its own style, of which every selector starts with ``.vecuq``, and neither script nor link: it changes
nothing of the page around it. Light or dark follows the page where it says so, otherwise the reader's system.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from vecuq._draw.sheets import Marked, Sheet, marked_rows
from vecuq._draw.texts import named, printable, shortened

# A name in a table is shown up to here; the whole of it stands under the pointer.
MOST_NAME, MOST_TITLE = 60, 1_000
_SHARE = re.compile(r"\d+(\.\d+)? %")


@dataclass(frozen=True)
class Section:
    """A part of a page that works in any page.

    Parameters
    ----------
    anchor
        Letters and hyphens, once per page.
    title
        The heading, plain text.
    body
        HTML; everything that comes from a user is escaped already.
    """

    anchor: str
    title: str
    body: str


def fragment(title: str, sections: Sequence[Section]) -> str:
    """Return sections as one piece of HTML for a notebook: it has its own style, and changes nothing around it.

    Examples
    --------
    >>> "<b>x</b>" in fragment("Ranker of <b>x</b>", [Section("model", "", "<p>Two columns.</p>")])
    False
    """
    inner = "".join(f'<div class="vq-section">{_heading(one.title)}{one.body}</div>' for one in sections)
    name = f'<p class="vq-title">{text_html(title)}</p>' if title else ""
    return f'<div class="vecuq vq-card"><style>{fragment_css()}</style>{name}{inner}</div>'


@cache
def fragment_css() -> str:
    """Return the rules of a fragment, every selector of which starts with ``.vecuq``."""
    return files("vecuq._draw").joinpath("fragment.css").read_text("utf-8")


def _heading(title: str) -> str:
    # No heading: at which level it would stand, only the page around it knows.
    return f'<p class="vq-head">{text_html(title)}</p>' if title else ""


def text_html(value: object) -> str:
    """Return a value as text of a page: escaped, on one line, without letters that would turn others around."""
    return escape(printable(str(value)))


def words_html(words: object) -> str:
    """Return words as text of a page, what stands between backticks as code.

    Examples
    --------
    >>> words_html("see `vecuq fit <file>`")
    'see <code>vecuq fit &lt;file&gt;</code>'
    """
    return re.sub("`([^`]+)`", r"<code>\1</code>", text_html(words))


def paragraph(words: str, *, kind: str = "", code: bool = True) -> str:
    """Return a paragraph; ``kind`` is ``"strong"``, ``"soft"`` or nothing. ``code`` is for words between backticks."""
    extra = f" vq-{kind}" if kind else ""
    return f'<p class="vq-text{extra}">{words_html(words) if code else text_html(words)}</p>'


def fold(head: str, body: str) -> str:
    """Return a part that opens when its heading is pressed."""
    return f'<details class="vq-fold"><summary>{text_html(head)}</summary>{body}</details>'


def facts_table(facts: Mapping[str, object]) -> str:
    """Return facts by name as a table of two columns.

    Examples
    --------
    >>> "<td>2 &lt; 3</td>" in facts_table({"rows": "2 < 3"})
    True
    """
    rows = "".join(
        f'<tr><th scope="row">{text_html(name)}</th><td>{text_html(value)}</td></tr>' for name, value in facts.items()
    )
    return _scrolled(f'<table class="vq-table vq-facts"><tbody>{rows}</tbody></table>')


def sheet_table(sheet: Sheet) -> str:
    """Return a sheet as a table: numbers to the right, the best bold, the second best in italics."""
    kinds = [is_numeric(sheet.rows, head) for head in sheet.heads]
    head = "".join(
        f'<th scope="col"{_class(number)}>{name_html(one)}</th>' for one, number in zip(sheet.heads, kinds, strict=True)
    )
    rows = "".join(f"<tr>{_cells(row, kinds)}</tr>" for row in marked_rows(sheet))
    return _scrolled(f'<table class="vq-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>')


def is_numeric(rows: Iterable[Mapping[str, Any]], head: str) -> bool:
    """Return whether a column of a sheet holds numbers or shares in per cent, and so belongs to the right."""
    known = [row[head] for row in rows if row[head] is not None]
    return bool(known) and not any(isinstance(cell, bool) or _is_word(cell) for cell in known)


def _is_word(cell: object) -> bool:
    return isinstance(cell, str) and not _SHARE.fullmatch(cell)


def name_html(value: object, most: int = MOST_NAME) -> str:
    """Return a name set apart from the words around it, whatever its script; a long one in full under the pointer."""
    whole = printable(str(value))
    title = f' title="{escape(shortened(whole, MOST_TITLE), quote=True)}"' if len(whole) > most else ""
    return f"<bdi{title}>{escape(named(whole, most))}</bdi>"


def _cells(row: Sequence[Marked], kinds: Sequence[bool]) -> str:
    return "".join(
        f"<td{_class(number, cell.mark)}>{text_html(cell.text) if number else name_html(cell.text)}</td>"
        for cell, number in zip(row, kinds, strict=True)
    )


def _class(number: bool, mark: str = "") -> str:
    """Return the class attribute of a cell."""
    names = ["vq-num"] * number + [f"vq-{mark}"] * bool(mark)
    return f' class="{" ".join(names)}"' if names else ""


def _scrolled(table: str) -> str:
    """Return a table that scrolls by itself where the page is narrower; the keyboard reaches it."""
    return f'<div class="vq-scroll" tabindex="0">{table}</div>'
