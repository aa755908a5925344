"""The card as Markdown, in which every text of a user stays text."""

from __future__ import annotations

import re

from vecuq._draw import printable
from vecuq.report.cards.card import Blank, Card, CardTable, Check, Promise
from vecuq.report.cards.words import ABOUT, ASSUMES, HEADS, NOTHING, TO_FILL_IN, foot_of

_MARKS = re.compile(r"([\\`*_{}\[\]|#~$^@])")
# What makes a list or a line of a text, where the text begins with it.
_STARTS = re.compile(r"^(\d*)([-+.)])(?=[-\s]|$)")
_LINKS = re.compile(r"(://|(?<=www)\.)", re.IGNORECASE)


def markdown_of(card: Card) -> str:
    """Return the card as Markdown."""
    lines = [f"# {plain(card.title)}", f"*{plain(card.kind[0].upper() + card.kind[1:])}.* {ABOUT}"]
    lines += [_head("purpose"), *(plain(one) for one in card.purpose)]
    lines += [_head("inputs"), *(_table(one) if isinstance(one, CardTable) else plain(one) for one in card.inputs)]
    lines += [_head("promises"), *_promises(card)]
    lines += [_head("evidence"), *(f"**{plain(one.title)}**\n\n{_table(one)}" for one in card.evidence)]
    lines += [_head("limits"), "\n".join(f"- {plain(one)}" for one in card.limits)]
    lines += [_head("checks"), *map(_check, card.checks)]
    lines += [_head("provenance"), _table(card.provenance)]
    lines += [] if card.settings is None else [f"**{plain(card.settings.title)}**", _table(card.settings)]
    lines += [_head("owner"), *map(_blank, card.owner), "---", plain(foot_of(card))]
    return "\n\n".join(_without_empty(lines)) + "\n"


def plain(text: str) -> str:
    r"""Return a text that Markdown shows as it is: no mark, no tag, no link, no list.

    Examples
    --------
    >>> plain("<b>[x](http://y)")
    '&lt;b&gt;\\[x\\](http\\://y)'
    >>> plain("1. first")
    '1\\. first'
    """
    escaped = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _STARTS.sub(r"\1\\\2", _LINKS.sub(r"\\\1", _MARKS.sub(r"\\\1", escaped)))


def _head(name: str) -> str:
    return f"## {HEADS[name]}"


def _without_empty(lines: list[str]) -> list[str]:
    """Leave out headings that nothing follows."""
    pairs = zip(lines, [*lines[1:], "## "], strict=True)
    return [line for line, after in pairs if line and not (line.startswith("## ") and after.startswith("## "))]


def _table(table: CardTable) -> str:
    kept = [k for k, _ in enumerate(table.heads) if any(row[k] for row in table.rows)]
    rows = [tuple(table.heads[k] for k in kept), *(tuple(row[k] for k in kept) for row in table.rows)]
    lines = ["| " + " | ".join(map(plain, row)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(kept), *lines[1:]])


def _promises(card: Card) -> list[str]:
    made = [_promise(one) for one in card.promises] or [f"**{NOTHING}**"]
    return [*made, "\n".join(f"- *Not promised.* {plain(one)}" for one in card.unpromised)]


def _promise(one: Promise) -> str:
    return "\n".join(
        [
            f"**{plain(one.about[0].upper() + one.about[1:])}.** {plain(one.promise)}",
            "",
            f"- *{ASSUMES}:* {plain(one.assumption)}",
            f"- *Theorem:* {plain(one.theorem)}",
        ]
    )


def _check(one: Check) -> str:
    lines = "\n".join(printable(line) for line in one.lines)
    return f"{plain(one.shows)}\n\n```{one.language}\n{lines}\n```"


def _blank(one: Blank) -> str:
    filled = "\n>\n> ".join(map(plain, one.paragraphs)) or f"[ ] *{TO_FILL_IN}*"
    return f"**{plain(one.name)}.** {plain(one.asks)}\n\n> {filled}"
