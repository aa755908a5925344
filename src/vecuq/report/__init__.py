"""Pages: the report on new rows and how far to trust it, and the card of a saved model, gate or pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from vecuq.ranker import Ranker, Ranking
from vecuq.report.html import render_report
from vecuq.report.summary import summarise

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from vecuq.plots import coverage_picture, draw_curves, picture_of
    from vecuq.report.cards import Card, CardTable, card

__all__ = ["Card", "CardTable", "build_report", "card", "coverage_picture", "draw_curves", "picture_of", "summarise"]


def build_report(
    ranker: Ranker, new: pa.Table, ranking: Ranking, *, title: str, evaluation: list[dict[str, Any]] | None = None
) -> str:
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
    evaluation
        Rows of an evaluation table, their keys as column headings, if labels were there to evaluate with.

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
    summary = summarise(ranker, new, ranking, title=title, evaluation=evaluation)
    return render_report(summary, _figures(ranker, new, ranking))


def _figures(ranker: Ranker, new: pa.Table, ranking: Ranking) -> dict[str, Figure]:
    """Draw the histogram of scores and the score map; matplotlib is imported here, on first use."""
    from vecuq.plots import histogram, score_map

    drawn = {"histogram": histogram(ranker, ranking), "plane": score_map(ranker, new)}
    return {name: cast("Figure", axes.figure) for name, axes in drawn.items()}


def __getattr__(name: str) -> Any:
    """Return pictures, which bring matplotlib, and cards, which bring pipelines: imported on first use."""
    if name in ("coverage_picture", "draw_curves", "picture_of"):
        from vecuq import plots

        return getattr(plots, name)
    if name in ("Card", "CardTable", "card"):
        from vecuq.report import cards

        return getattr(cards, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
