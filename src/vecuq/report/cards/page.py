"""The card as a page: in the style of the report, on paper too; it loads nothing and runs nothing."""

from __future__ import annotations

from vecuq._draw import (
    Section,
    fragment,
    fragment_css,
    name_html,
    page_environment,
    paragraph,
    printable,
    text_html,
)
from vecuq.report.cards.card import Blank, Card, CardTable, Check, Promise
from vecuq.report.cards.words import ABOUT, ASSUMES, HEADS, NOTHING, TO_FILL_IN, foot_of


def page_of(card: Card) -> str:
    """Return the card as one self-contained HTML page."""
    page = page_environment("vecuq.report").get_template("card.html.j2")
    return page.render(
        title=printable(card.title),
        kind=card.kind[0].upper() + card.kind[1:],
        about=ABOUT,
        style=fragment_css(),
        sections=sections_of(card),
        foot=foot_of(card),
    )


def fragment_of(card: Card) -> str:
    """Return the card for a notebook."""
    return fragment(card.title, sections_of(card))


def sections_of(card: Card) -> list[Section]:
    """Return the parts of a card, in the order in which an auditor asks."""
    settings = "" if card.settings is None else _titled(card.settings)
    bodies = {
        "purpose": "".join(map(paragraph, card.purpose)),
        "inputs": "".join(_table(one) if isinstance(one, CardTable) else paragraph(one) for one in card.inputs),
        "promises": _promises(card),
        "evidence": "".join(map(_titled, card.evidence)),
        "limits": _list(card.limits),
        "checks": "".join(map(_check, card.checks)),
        "provenance": _table(card.provenance) + settings,
        "owner": "".join(map(_blank, card.owner)),
    }
    return [Section(name, HEADS[name], body) for name, body in bodies.items() if body]


def _promises(card: Card) -> str:
    made = "".join(map(_promise, card.promises)) or paragraph(NOTHING, kind="strong")
    return made + _list(tuple(f"Not promised: {one}" for one in card.unpromised))


def _promise(one: Promise) -> str:
    about = one.about[0].upper() + one.about[1:]
    parts = {ASSUMES: one.assumption, "Theorem": one.theorem}
    facts = "".join(f"<dt>{name}</dt><dd>{text_html(text)}</dd>" for name, text in parts.items())
    said = paragraph(one.promise, kind="strong")
    return f'<div class="promise"><h3>{text_html(about)}</h3>{said}<dl>{facts}</dl></div>'


def _list(items: tuple[str, ...]) -> str:
    return f"<ul>{''.join(f'<li>{text_html(one)}</li>' for one in items)}</ul>" if items else ""


def _titled(table: CardTable) -> str:
    return f'<p class="vq-head" role="heading" aria-level="3">{text_html(table.title)}</p>{_table(table)}'


def _table(table: CardTable) -> str:
    """Return a table; columns in which nothing stands are left out, and the first cell of a row is its head."""
    kept = [k for k, _ in enumerate(table.heads) if any(row[k] for row in table.rows)]
    heads = "".join(f'<th scope="col">{text_html(table.heads[k])}</th>' for k in kept)
    rows = "".join(f"<tr>{_cells([row[k] for k in kept])}</tr>" for row in table.rows)
    body = f'<table class="vq-table"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="vq-scroll" tabindex="0" role="region" aria-label="{text_html(table.title)}">{body}</div>'


def _cells(row: list[str]) -> str:
    first, *others = row
    return f'<th scope="row">{name_html(first)}</th>' + "".join(f"<td>{text_html(cell)}</td>" for cell in others)


def _check(one: Check) -> str:
    lines = "\n".join(text_html(line) for line in one.lines)
    return f'{paragraph(one.shows)}<pre tabindex="0"><code>{lines}</code></pre>'


def _blank(one: Blank) -> str:
    filled = "".join(f"<p>{text_html(part)}</p>" for part in one.paragraphs)
    box = f'<div class="filled">{filled}</div>' if filled else f'<div class="open"><p>{TO_FILL_IN}</p></div>'
    return f'<div class="blank"><h3>{text_html(one.name)}</h3>{paragraph(one.asks, kind="soft")}{box}</div>'
