"""Cards: how a fitted thing shows itself in a notebook. Light: no plotting library is imported for them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
from numpy.typing import NDArray

from vecuq._draw.sections import Section, facts_table, fold, fragment


def html_card(
    title: str,
    facts: Mapping[str, object],
    *,
    picture: str = "",
    folded: Mapping[str, Mapping[str, object]] | None = None,
) -> str:
    """Return a card: a title, facts by name, a picture (SVG), and more facts that fold away under their headings.

    Examples
    --------
    >>> "<b>x</b>" in html_card("Ranker", {"columns": "<b>x</b>"})
    False
    """
    return fragment(title, [Section("facts", "", card_body(facts, picture=picture, folded=folded))])


def card_body(
    facts: Mapping[str, object], *, picture: str = "", folded: Mapping[str, Mapping[str, object]] | None = None
) -> str:
    """Return what stands in a card, below its title."""
    more = "".join(fold(head, facts_table(rows)) for head, rows in (folded or {}).items())
    return facts_table(facts) + picture + more


def histogram_svg(values: NDArray[np.float64], mark: float, *, label: str, width: int = 320, height: int = 56) -> str:
    """Return a small histogram as SVG, with a dashed line at ``mark`` if it lies within reach.

    ``label`` says in words what is drawn, for those who cannot see it.
    """
    values = values[np.isfinite(values)]
    if not len(values):
        return ""
    low, high = float(values.min()), float(values.max())
    high = max(high, mark) if np.isfinite(mark) else high
    high = high if high > low else low + 1.0
    counts, _ = np.histogram(values, bins=40, range=(low, high))
    step, top = width / len(counts), max(int(counts.max()), 1)
    bars = "".join(
        f'<rect x="{k * step:.1f}" y="{height - count / top * height:.1f}" width="{step - 1:.1f}" '
        f'height="{count / top * height:.1f}"/>'
        for k, count in enumerate(counts.tolist())
        if count
    )
    place = (mark - low) / (high - low) * width if np.isfinite(mark) else -1.0
    line = (
        f'<line x1="{place:.1f}" x2="{place:.1f}" y1="0" y2="{height}" stroke="var(--vq-vermilion, currentColor)" '
        f'stroke-width="1.5" stroke-dasharray="4 2"/>'
        if 0 <= place <= width
        else ""
    )
    return (
        f'<svg class="vq-picture" role="img" aria-label="{escape(label, quote=True)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}"><title>{escape(label)}</title>'
        f'<g fill="currentColor" fill-opacity="0.55">{bars}</g>{line}</svg>'
    )
