"""Pages: the report on new rows, what was found and what to do now; and the card of a saved model, gate or pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vecuq.ranker import Ranker, Ranking
from vecuq.report.beside import Beside, Origin
from vecuq.report.facts import report_facts
from vecuq.report.html import render_report
from vecuq.report.rows import by_uncertainty, other_columns
from vecuq.report.subject import Subject

if TYPE_CHECKING:
    import pyarrow as pa

    from vecuq.plots import coverage_picture, draw_curves, picture_of
    from vecuq.report.cards import Card, CardTable, card

__all__ = [
    "Beside",
    "Card",
    "CardTable",
    "Origin",
    "Subject",
    "build_report",
    "by_uncertainty",
    "card",
    "coverage_picture",
    "draw_curves",
    "other_columns",
    "picture_of",
    "report_facts",
]


def build_report(ranker: Ranker, new: pa.Table, ranking: Ranking, *, title: str, beside: Beside | None = None) -> str:
    """Return one self-contained HTML page about the ranking of new rows.

    Parameters
    ----------
    ranker
        The ranker that made the ranking.
    new
        The rows that were ranked: score columns, and any ids, texts and labels beside them.
    ranking
        What ``ranker.rank(new)`` returned.
    title
        Heading of the page.
    beside
        What else is known: a gate, labels, categories, calibration rows, and where everything came from. Each adds its
        part to the page.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from vecuq import fit_ranker
    >>> rng = np.random.default_rng(0)
    >>> ranker = fit_ranker({"entropy": rng.gamma(1.0, size=100), "knn": rng.gamma(2.0, size=100)})
    >>> new = pa.table({"entropy": [0.5, 7.0], "knn": [1.0, 9.0]})
    >>> page = build_report(ranker, new, ranker.rank(new), title="Two rows")
    >>> page.startswith("<!doctype html>")
    True
    """
    return render_report(report_facts(ranker, new, ranking, title=title, beside=beside))


def __getattr__(name: str) -> Any:
    """Return pictures, which bring matplotlib, and cards, which bring pipelines: imported on first use."""
    if name in ("coverage_picture", "draw_curves", "picture_of"):
        from vecuq import plots

        return getattr(plots, name)
    if name in ("Card", "CardTable", "card"):
        from vecuq.report import cards

        return getattr(cards, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
