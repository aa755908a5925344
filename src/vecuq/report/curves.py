"""Risk-coverage and rejection curves as a picture: a line for each score, between chance and the best order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vecuq.evaluation import BEST, CHANCE, SelectiveCurves, selective_curves
from vecuq.report.text import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Lines of a panel, the best order and chance among them; more cannot be distinguished.
MOST_LINES = 12
# Points of a line that are drawn: about as many as a panel has dots across.
MOST_POINTS = 1_000
# Where fewer rows are kept a curve is mostly noise, and does not decide how high the panel is.
LEAST_KEPT = 0.05


class _Panel(NamedTuple):
    """What is written around the curves of a task, and which way is better."""

    higher_is_better: bool
    title: str
    x: str
    y: str


_PANELS = {
    "generation": _Panel(
        True, "Selective generation, {:,} answers", "share of answers rejected", "mean quality of the answers kept"
    ),
    "selective": _Panel(
        False, "Selective prediction, {:,} rows", "coverage: share of rows kept", "error rate of the rows kept"
    ),
}


def draw_curves(
    uncertainties: Mapping[str, Any],
    *,
    error: Any = None,
    ood: Any = None,
    quality: Any = None,
    ours: str = "uncertainty",
) -> Figure:
    """Draw rejection curves (quality) and risk-coverage curves (errors), a line for each score.

    Thin lines are the best order that exists and chance. At most ten scores are drawn: ``ours``, and the best of the
    others by the mean of their curves. Save the figure with its ``savefig``.

    Parameters
    ----------
    uncertainties, error, ood, quality
        As in :func:`vecuq.evaluation.evaluate`.
    ours
        The score whose line is drawn thick; a name that is not there is no error.

    Returns
    -------
    matplotlib.figure.Figure
        Made without pyplot, so that nothing is left to close.

    Examples
    --------
    >>> scores = {"entropy": [0.1, 0.4, 0.3, 0.9], "uncertainty": [0.2, 0.1, 0.8, 0.9]}
    >>> figure = draw_curves(scores, error=[0, 0, 1, 1])
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['uncertainty', 'entropy', 'best order', 'chance']
    """
    return picture_of(selective_curves(uncertainties, error=error, ood=ood, quality=quality), ours=ours)


def picture_of(panels: Sequence[SelectiveCurves], *, ours: str = "uncertainty") -> Figure:
    """Draw curves that are already there, as :func:`draw_curves` does; a score has one look in all panels."""
    from matplotlib.figure import Figure as NewFigure

    from vecuq._draw import tidy

    looks = _looks(_shown(panels, ours), ours)
    figure = NewFigure(figsize=(3.0 + 5.2 * len(panels), 4.6), dpi=200, layout="constrained", facecolor="white")
    for axes, curves in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw_panel(tidy(axes), curves, looks)
    _add_legend(figure, n_scores=len(panels[0].values), n_shown=len(looks))
    return figure


def _shown(panels: Sequence[SelectiveCurves], ours: str) -> list[str]:
    """Return the scores to draw: ours, then the others, those first that gain most over all panels."""
    places = dict.fromkeys(panels[0].values, 0)
    for curves in panels:
        sign = -1.0 if _PANELS[curves.task].higher_is_better else 1.0
        means = [sign * float(one.mean()) if len(one) else 0.0 for one in curves.values.values()]
        for name, mean in zip(places, means, strict=True):
            places[name] += sum(other < mean for other in means)
    best_first = sorted(places, key=lambda name: (name != ours, places[name]))
    return best_first[: MOST_LINES - 2]


def _looks(names: Sequence[str], ours: str) -> dict[str, dict[str, Any]]:
    """Return how each score is drawn: ours thick, the others upon it, each with its colour and stroke."""
    from vecuq._draw import PALETTE

    colours = PALETTE[1:6]
    others = [name for name in names if name != ours]
    looks: dict[str, dict[str, Any]] = {name: {"color": PALETTE[0], "lw": 3.6, "zorder": 2.5} for name in names}
    for place, name in enumerate(others):
        stroke = ("-", (0, (4, 1.6)))[place // len(colours)]
        looks[name] = {"color": colours[place % len(colours)], "linestyle": stroke, "lw": 1.5, "zorder": 3}
    return looks


def _draw_panel(axes: Axes, curves: SelectiveCurves, looks: dict[str, dict[str, Any]]) -> None:
    from matplotlib.ticker import PercentFormatter

    from vecuq._draw import GREY, INK, name_axes

    kind = _PANELS[curves.task]
    last = len(curves.share) - 1
    drawn = np.unique(np.linspace(0, last, min(MOST_POINTS, last + 1)).round().astype(int))
    for name, look in looks.items():
        axes.plot(curves.share[drawn], curves.values[name][drawn], label=_label(curves.name_of(name)), **look)
    axes.plot(curves.share[drawn], curves.best[drawn], color=INK, lw=0.9, label=BEST)
    axes.plot([0.0, 1.0], [curves.chance] * 2, color=GREY, lw=1.1, linestyle=":", label=CHANCE)
    axes.set_title(kind.title.format(len(curves.share)), fontsize=13, color=INK)
    name_axes(axes, kind.x, kind.y)
    axes.set_xlim(0.0, 1.0)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    if curves.task == "selective":
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    _set_height(axes, curves, list(looks))


def _set_height(axes: Axes, curves: SelectiveCurves, names: Sequence[str]) -> None:
    """Give the panel the height of its curves where enough rows are kept, or say that there is nothing to see."""
    from vecuq._draw import GREY

    if not len(curves.share):
        axes.text(0.5, 0.5, "no row to judge", transform=axes.transAxes, ha="center", color=GREY, fontsize=14)
        axes.set_yticks([])
        return
    kept = curves.share if curves.task == "selective" else 1.0 - curves.share
    seen = np.array([curves.best, *(curves.values[name] for name in names)])[:, kept >= LEAST_KEPT]
    low, high = float(seen.min()), float(seen.max())
    margin = 0.04 * (high - low) or max(0.04 * abs(high), 0.04)
    axes.set_ylim(low - margin, high + margin)


def _add_legend(figure: Figure, *, n_scores: int, n_shown: int) -> None:
    from vecuq._draw import INK

    lines = figure.axes[0].lines
    title = f"{n_shown} of {n_scores} scores are drawn" if n_scores > n_shown else None
    legend = figure.legend(
        lines,
        [str(line.get_label()) for line in lines],
        loc="outside right upper",
        frameon=False,
        fontsize=11.5,
        labelcolor=INK,
        title=title,
        title_fontsize=11.5,
        alignment="left",
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _label(name: str) -> str:
    """Return a name of one short line; a legend would not show one that starts with an underscore."""
    short = named(name, 32)
    return f" {short}" if short.startswith("_") else short
