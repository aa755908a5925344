"""Risk-coverage and rejection curves as a picture: a line for each score, between chance and the best order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from vecuq._draw import (
    GREY,
    INK,
    PALETTE,
    PAPER,
    as_text,
    label,
    legend,
    legend_columns,
    name_axes,
    panel,
    say,
    tidy,
    title,
)
from vecuq.evaluation import BEST, CHANCE, Band, SelectiveCurves, curve_bands, selective_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Lines of a panel, the best order and chance among them; more cannot be distinguished.
MOST_LINES = 12
# More scores than this have their legend beside the panel.
_INSIDE = 5
# The height of a line of the legend, in inches.
_LINE = 0.25
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


def risk_coverage(
    uncertainties: Mapping[str, Any],
    error: Any,
    *,
    ood: Any = None,
    groups: Any = None,
    ours: str = "uncertainty",
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error rate of the rows kept against the share that is kept, a line for each score.

    The bold line is ``ours``, with a band: at each share by itself, an interval for the error rate of all rows below
    that uncertainty, exact for independent rows (Clopper and Pearson); with ``groups`` Student's, from the variance
    between groups (:func:`vecuq.evaluation.kept_band`). Thin lines are the best order that exists and chance. At most
    ten scores are drawn. These are estimates: what is certified is in :func:`vecuq.plots.coverage_accuracy`.

    Parameters
    ----------
    uncertainties, error, ood
        As in :func:`vecuq.evaluation.evaluate`; rows that lack a score or the label are left out for all scores.
    groups
        Which rows come together, one name per row; None if the rows are independent.
    ours
        The score that is drawn bold; the first one if there is none of that name.
    level
        Of the band, in (0, 1).
    ax
        Axes to draw on; new ones without.

    Examples
    --------
    >>> from vecuq import plots
    >>> scores = {"entropy": [0.1, 0.4, 0.3, 0.9], "uncertainty": [0.2, 0.1, 0.8, 0.9]}
    >>> axes = plots.risk_coverage(scores, [0, 0, 1, 1])
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['uncertainty', 'entropy', 'best order', 'chance', '95 % interval']
    """
    labels = {"error": error, "ood": ood}
    return _with_band(ax, uncertainties, labels, groups=groups, ours=ours, level=level)


def rejection(
    uncertainties: Mapping[str, Any],
    quality: Any,
    *,
    groups: Any = None,
    ours: str = "uncertainty",
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean quality of the answers kept against the share that is rejected, a line for each score.

    The bold line is ``ours``, with a band: Student's interval at each share by itself, exact only for a quality of 0
    or 1 (:func:`vecuq.evaluation.kept_band`); where fewer than ten answers are kept there is none. Thin lines are the
    best order that exists and chance. At most ten scores are drawn.

    Parameters
    ----------
    uncertainties, quality
        As in :func:`vecuq.evaluation.evaluate`; answers that lack a score or the quality are left out for all scores.
    groups, ours, level, ax
        As in :func:`risk_coverage`.

    Examples
    --------
    >>> from vecuq import plots
    >>> axes = plots.rejection({"uncertainty": [0.2, 0.1, 0.8, 0.9]}, [0.9, 1.0, 0.3, 0.1])
    >>> axes.get_ylabel()
    'mean quality of the answers kept'
    """
    return _with_band(ax, uncertainties, {"quality": quality}, groups=groups, ours=ours, level=level)


def _with_band(
    ax: Axes | None, uncertainties: Mapping[str, Any], labels: dict[str, Any], *, groups: Any, ours: str, level: float
) -> Axes:
    """Draw one panel with the band of its bold line, and its legend below it."""
    (curves,) = selective_curves(uncertainties, **labels)
    bold = ours if ours in curves.values else next(iter(curves.values))
    looks = _looks(_shown([curves], bold), bold)
    axes = panel(ax, height=4.4)
    _draw_panel(axes, curves, looks)
    if not len(curves.share):
        return axes
    (band,) = curve_bands(uncertainties, bold, groups=groups, level=level, **labels)
    _draw_band(axes, band, level)
    n_scores, n_shown = len(curves.values), len(looks)
    words = f"{n_shown} of {n_scores} scores are drawn" if n_scores > n_shown else None
    # Below the panel names cover no curve; in a panel of the caller only many stand there, where they need the room.
    is_below = ax is None or n_shown > _INSIDE
    below = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.15), "fontsize": 10.5}
    paper = {"frameon": True, "facecolor": PAPER, "edgecolor": "none", "framealpha": 0.85}
    inside = {"loc": "best", "bbox_to_anchor": None, "ncols": 1, "fontsize": 9.5, **paper}
    if ax is None:
        _make_room(axes)
    legend(axes, **{"title": words, "title_fontsize": 9.5, **(below if is_below else inside)})
    return axes


def _make_room(axes: Axes) -> None:
    """Make a picture higher by the legend below its panel, in as many columns as the names leave room for."""
    names = axes.get_legend_handles_labels()[1]
    n_lines = -(-len(names) // legend_columns(axes, names))
    cast("Figure", axes.figure).set_figheight(4.4 + _LINE * n_lines)


def _draw_band(axes: Axes, band: Band, level: float) -> None:
    words = f"{100 * level:g} % interval"
    if np.isfinite(band.low).any():
        axes.fill_between(band.share, band.low, band.high, color=PALETTE[0], alpha=0.16, lw=0, zorder=1, label=words)


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
    looks = _looks(_shown(panels, ours), ours)
    figure = Figure(figsize=(3.0 + 5.2 * len(panels), 4.6), dpi=200, layout="constrained", facecolor=PAPER)
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
    colours = PALETTE[1:6]
    others = [name for name in names if name != ours]
    looks: dict[str, dict[str, Any]] = {name: {"color": PALETTE[0], "lw": 3.6, "zorder": 2.5} for name in names}
    for place, name in enumerate(others):
        stroke = ("-", (0, (4, 1.6)))[place // len(colours)]
        looks[name] = {"color": colours[place % len(colours)], "linestyle": stroke, "lw": 1.5, "zorder": 3}
    return looks


def _draw_panel(axes: Axes, curves: SelectiveCurves, looks: dict[str, dict[str, Any]]) -> None:
    kind = _PANELS[curves.task]
    last = len(curves.share) - 1
    drawn = np.unique(np.linspace(0, last, min(MOST_POINTS, last + 1)).round().astype(int))
    for name, look in looks.items():
        axes.plot(curves.share[drawn], curves.values[name][drawn], label=label(curves.name_of(name)), **look)
    axes.plot(curves.share[drawn], curves.best[drawn], color=INK, lw=0.9, label=BEST)
    axes.plot([0.0, 1.0], [curves.chance] * 2, color=GREY, lw=1.1, linestyle=":", label=CHANCE)
    title(axes, kind.title.format(len(curves.share)))
    name_axes(axes, kind.x, kind.y)
    axes.set_xlim(0.0, 1.0)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    if curves.task == "selective":
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    _set_height(axes, curves, list(looks))


def _set_height(axes: Axes, curves: SelectiveCurves, names: Sequence[str]) -> None:
    """Give the panel the height of its curves where enough rows are kept, or say that there is nothing to see."""
    if not len(curves.share):
        say(axes, "no row to judge")
        return
    kept = curves.share if curves.task == "selective" else 1.0 - curves.share
    seen = np.array([curves.best, *(curves.values[name] for name in names)])[:, kept >= LEAST_KEPT]
    low, high = float(seen.min()), float(seen.max())
    margin = 0.04 * (high - low) or max(0.04 * abs(high), 0.04)
    axes.set_ylim(low - margin, high + margin)


def _add_legend(figure: Figure, *, n_scores: int, n_shown: int) -> None:
    lines = figure.axes[0].lines
    words = f"{n_shown} of {n_scores} scores are drawn" if n_scores > n_shown else None
    made = figure.legend(
        lines,
        [str(line.get_label()) for line in lines],
        loc="outside right upper",
        frameon=False,
        fontsize=11.5,
        labelcolor=INK,
        title=words,
        title_fontsize=11.5,
        alignment="left",
    )
    as_text(made)
