"""What the order is made of: how each column, and their plain sum, go with the uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq._draw import Section, name_html, paragraph
from vecuq.doctor import plain_sum, rank_correlation
from vecuq.report.plain import finite
from vecuq.report.subject import Subject


def relations_of(subject: Subject) -> tuple[list[dict[str, Any]], float | None]:
    """Return the rank correlation of each column with the uncertainty, and that of the plain sum of the columns.

    Of very many rows a random draw is looked at.
    """
    rows = subject.drawn(np.flatnonzero(subject.scored))
    values, order, ranker = subject.values[rows], subject.uncertainty[rows], subject.ranker
    columns = [
        {
            "name": name,
            "spearman": spearman(values[:, k], order),
            "flipped": name in ranker.flipped,
            "constant": k not in ranker.active,
        }
        for k, name in enumerate(ranker.columns)
    ]
    return columns, spearman(plain_sum(ranker, values), order)


def order_section(subject: Subject) -> Section:
    """Return the section on the order."""
    columns, whole = relations_of(subject)
    about = (
        "Rank correlation (Spearman) of each score column with the final uncertainty, over the new rows: 1 is the same "
        "order, 0 no relation."
    )
    lines = [_line(name_html(one["name"]) + _tags(one), one["spearman"]) for one in columns]
    lines.append(_line("<strong>plain sum of the columns, each scaled 0 to 1</strong>", whole))
    head = '<thead><tr><th scope="col">column</th><th scope="col" class="vq-num">correlation</th><td></td></tr></thead>'
    table = f'<table class="vq-table vq-bars">{head}<tbody>{"".join(lines)}</tbody></table>'
    body = paragraph(about, kind="soft") + f'<div class="vq-scroll" tabindex="0">{table}</div>'
    return Section("order", "What the order is made of", body + paragraph(_verdict(subject, whole), kind="soft"))


def _tags(one: dict[str, Any]) -> str:
    words = [word for key, word in (("flipped", "flipped"), ("constant", "constant, left out")) if one[key]]
    return "".join(f' <span class="vq-tag">{word}</span>' for word in words)


def _line(name: str, value: float | None) -> str:
    if value is None:
        return f'<tr><td>{name}</td><td class="vq-num">\N{EN DASH}</td><td></td></tr>'
    below = " vq-minus" * (value < 0)
    bar = f'<i class="vq-bar{below}" style="width: {100 * abs(value):.1f}%"></i>'
    return f'<tr><td>{name}</td><td class="vq-num">{value:.3f}</td><td>{bar}</td></tr>'


def _verdict(subject: Subject, whole: float | None) -> str:
    """Return how far the order is from that of the plain sum."""
    if len(subject.ranker.active) == 1:
        return "With one column there is nothing to combine: the order is that column's own."
    if subject.ranker.scaler.signed:
        return (
            "The reference is symmetric about its centre: rows are uncertain in every direction outward, so a column "
            "need not rise with the uncertainty."
        )
    if whole is None:
        return "Too few rows, or all alike: nothing can be said of the plain sum."
    if whole >= 0.99:
        return (
            "Here the order is almost that of the plain sum, which is usual at epsilon = 0.5. If an order is all you "
            "need, the sum gives nearly the same one."
        )
    if whole >= 0.95:
        return "Here the order is close to that of the plain sum, which is usual at epsilon = 0.5."
    return "Here the order differs from that of the plain sum."


def spearman(a: Array, b: Array) -> float | None:
    """Return the rank correlation over the rows that have both; None if one is constant or fewer than 3 have."""
    both = np.isfinite(a) & np.isfinite(b)
    if both.sum() < 3:
        return None
    return finite(rank_correlation(a[both], b[both]))
