"""How a ranker and a ranking show themselves in a notebook and in a report, without a plotting library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array
from vecuq._draw import Section, Sheet, card_body, facts_table, fragment, histogram_svg, paragraph, sheet_table
from vecuq.ranker.describe import facts_of

if TYPE_CHECKING:
    from vecuq.ranker.ranker import Ranker
    from vecuq.ranker.ranking import Ranking

# So many of the most uncertain rows are shown.
MOST_ROWS = 10


def model_section(ranker: Ranker, facts: dict[str, str] | None = None) -> Section:
    """Return what a ranker is: columns, rows, thresholds, calibration scores; settings and diagnostics fold away.

    Examples
    --------
    >>> from vecuq import fit_ranker
    >>> ranker = fit_ranker({"entropy": np.arange(50.0), "knn": np.arange(50.0) ** 2})
    >>> "25 fitted the map, 25 held back" in model_section(ranker).body
    True
    """
    body = card_body(
        {**(facts or {}), **facts_of(ranker)},
        picture=_calibration_picture(ranker),
        folded={"Settings": ranker.settings.to_dict(), "How the fit went": ranker.diagnostics.to_dict()},
    )
    return Section("model", "The model", body)


def card_of(ranker: Ranker, title: str, facts: dict[str, str] | None = None, *, before: Sequence[Section] = ()) -> str:
    """Return the ranker as a card for notebooks, with more facts, or whole sections, on top if there are any."""
    made = model_section(ranker, facts)
    return fragment(title, [*before, made if before else Section(made.anchor, "", made.body)])


def _calibration_picture(ranker: Ranker) -> str:
    held = ranker.diagnostics.n_held > 0
    label = "Uncertainty of the held-back rows" if held else "Uncertainty of the rows that the map was fitted on"
    if np.isfinite(ranker.offset):
        label += "; the dashed line is the threshold of the settings"
    return histogram_svg(ranker.calibration_scores, -ranker.offset, label=label) + paragraph(label + ".", kind="soft")


def ranking_section(ranking: Ranking, *, alpha: float = 0.05) -> Section:
    """Return a ranking: how many rows have a score, how they spread, and the most uncertain of them.

    With p-values, it says how many rows are flagged at ``alpha`` and how many would be if all were in-distribution.

    Examples
    --------
    >>> from vecuq import fit_ranker
    >>> ranker = fit_ranker({"entropy": np.arange(50.0), "knn": np.arange(50.0) ** 2})
    >>> ranking_section(ranker.rank({"entropy": [3.0, 99.0], "knn": [9.0, 9801.0]})).title
    'The ranking'
    """
    scored = ranking.uncertainty[np.isfinite(ranking.uncertainty)]
    label = "Uncertainty of the rows"
    picture = histogram_svg(scored, np.nan, label=label) if len(scored) > 1 else ""
    return Section("ranking", "The ranking", facts_table(_facts(ranking, scored, alpha)) + picture + _top(ranking))


def _facts(ranking: Ranking, scored: Array, alpha: float) -> dict[str, Any]:
    facts = {"rows": f"{len(ranking.uncertainty):,}"}
    if len(scored) < len(ranking.uncertainty):
        facts["without a score"] = f"{len(ranking.uncertainty) - len(scored):,} (values are missing or infinite)"
    if len(scored):
        low, middle, high = np.quantile(scored, [0.0, 0.5, 1.0])
        facts["uncertainty"] = f"{low:.4g} to {high:.4g}, median {middle:.4g}"
    if ranking.p_values is None:
        return {**facts, "p-values": "none: no rows were held back"}
    flagged, expected = int((ranking.p_values <= alpha).sum()), alpha * len(scored)
    words = f"{flagged:,} rows; at most about {expected:,.3g} if all are in-distribution"
    return {**facts, f"p-value up to {alpha:g}": words}


def _top(ranking: Ranking) -> str:
    """Return the most uncertain rows as a table, the first ones first where they are equal."""
    order = np.argsort(-ranking.uncertainty, kind="stable")[:MOST_ROWS]
    chosen = [int(row) for row in order if np.isfinite(ranking.uncertainty[row])]
    if not chosen:
        return ""
    chance = ranking.p_values
    rows = tuple(
        {"row": str(row), "uncertainty": float(ranking.uncertainty[row])}
        | ({} if chance is None else {"p-value": float(chance[row])})
        for row in chosen
    )
    words = "The most uncertain row." if len(rows) == 1 else f"The {len(rows)} most uncertain rows, counted from 0."
    return paragraph(words) + sheet_table(Sheet("top", words, rows, decimals=4))
