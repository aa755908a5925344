"""Cards: how a fitted thing shows itself in a notebook. One HTML fragment without script, style sheet or link.

Colours come from the page around it (``currentColor``), so that a card reads well on light and dark pages alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
from numpy.typing import NDArray

_CARD = (
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45;max-width:46em;padding:.7em 1em;"
    "border:1px solid color-mix(in srgb,currentColor 25%,transparent);border-radius:6px"
)
_NAME = "text-align:left;vertical-align:top;padding:.1em 1.2em .1em 0;font-weight:600;white-space:nowrap;border:0"
_VALUE = "text-align:left;vertical-align:top;padding:.1em 0;overflow-wrap:anywhere;border:0"


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
    more = "".join(
        f'<details style="margin-top:.4em"><summary>{escape(head)}</summary>{_table(rows)}</details>'
        for head, rows in (folded or {}).items()
    )
    return (
        f'<div style="{_CARD}"><div style="font-weight:700">{escape(title)}</div>{_table(facts)}{picture}{more}</div>'
    )


def _table(facts: Mapping[str, object]) -> str:
    rows = "".join(
        f'<tr style="background:none"><th scope="row" style="{_NAME}">{escape(name)}</th>'
        f'<td style="{_VALUE}">{escape(str(value))}</td></tr>'
        for name, value in facts.items()
    )
    return f'<table style="border-collapse:collapse;margin:.3em 0;border:0;font:inherit;color:inherit">{rows}</table>'


def histogram_svg(values: NDArray[np.float64], mark: float, *, label: str, width: int = 320, height: int = 56) -> str:
    """Return a small histogram as SVG, with a dashed line at ``mark`` if it lies within reach.

    ``label`` says in words what is drawn, for those who cannot see it.
    """
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
        f'<line x1="{place:.1f}" x2="{place:.1f}" y1="0" y2="{height}" stroke="currentColor" stroke-dasharray="3 2"/>'
        if 0 <= place <= width
        else ""
    )
    return (
        f'<svg role="img" aria-label="{escape(label, quote=True)}" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" style="display:block;margin:.4em 0;max-width:100%"><title>{escape(label)}</title>'
        f'<g fill="currentColor" fill-opacity="0.45">{bars}</g>{line}</svg>'
    )
