"""The drawings of a report: arrays in, a matplotlib figure out. No pyplot, no global state."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.scale import SymmetricalLogScale
from matplotlib.ticker import MaxNLocator

from vecuq._check import Array
from vecuq._draw import BLUE, COLOURS, GREY, INK, VERMILION, blank, name_axes
from vecuq.report.summary import MOST_POINTS

N_BINS = 32
# Beyond this many calibration ranges an axis becomes logarithmic, and beyond the last it is cut.
_LINEAR_UP_TO, _DRAWN_UP_TO = 4.0, 1e6


def uncertainty_histogram(calibration: Array, new: Array, *, threshold: float) -> Figure:
    """Draw how uncertain calibration rows and new rows are, as shares of each, with the threshold between them.

    Scores far beyond the calibration rows are gathered in the last bar.
    """
    figure, axes = blank()
    scored = new[np.isfinite(new)]
    low, high = _histogram_range(calibration, scored)
    edges = np.linspace(low, high, N_BINS + 1)
    _bars(axes, calibration, edges, colour=BLUE, label=f"calibration ({len(calibration):,})")
    _bars(axes, scored, edges, colour=VERMILION, label=f"new ({len(scored):,})")
    axes.axvline(threshold, color=INK, linewidth=1.6, linestyle=(0, (4, 2)), label=f"threshold {threshold:.3g}")
    beyond = int((scored > high).sum())
    last = f"; {beyond:,} beyond in the last bar" if beyond else ""
    name_axes(axes, "uncertainty" + last, "share of rows, %")
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=12, handlelength=1.5, columnspacing=1.4)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    return figure


def _histogram_range(calibration: Array, scored: Array) -> tuple[float, float]:
    known_low, known_high = float(calibration.min()), float(calibration.max())
    low = min(known_low, float(scored.min(initial=known_low)))
    furthest = known_high + 2.0 * max(known_high - known_low, 0.1)
    high = min(max(known_high, float(scored.max(initial=known_high))), furthest)
    margin = 0.02 * (high - low) or 0.5
    return low - margin, high + margin


def _bars(axes: Axes, scores: Array, edges: Array, *, colour: str, label: str) -> None:
    """Draw one filled outline; its area is 100 %, whatever the number of rows."""
    counts, _ = np.histogram(np.clip(scores, edges[0], edges[-1]), bins=edges)
    share = 100.0 * counts / max(len(scores), 1)
    axes.stairs(share, edges, fill=True, color=colour, alpha=0.22)
    axes.stairs(share, edges, color=colour, linewidth=1.8, label=label)


def score_plane(points: Array, uncertainty: Array, *, threshold: float, box: Array | None = None) -> Figure:
    """Draw rows in the plane of two scaled columns, darker for more uncertain, diamonds above the threshold.

    The columns are named around the picture, in the page: it has letters for every script.

    Parameters
    ----------
    points
        Scaled scores, shape (rows, 2).
    uncertainty
        One number per row; rows without one are left out.
    threshold
        The score above which rows are drawn as diamonds.
    box
        Lower and upper corner of the calibration rows, shape (2, 2).
    """
    figure, axes = blank()
    shown = _drawn_rows(points, uncertainty)
    place, score = np.clip(points[shown], -_DRAWN_UP_TO, _DRAWN_UP_TO), uncertainty[shown]
    if not len(shown):
        axes.text(0.5, 0.5, "no row has a score", transform=axes.transAxes, ha="center", color=GREY, fontsize=14)
    else:
        _scatter(axes, place, score, threshold)
    if box is not None:
        axes.add_patch(Rectangle(box[0], *(box[1] - box[0]), fill=False, color=GREY, linestyle="--", linewidth=1.3))
        place = np.vstack([place, box])
        axes.update_datalim(box)
        axes.autoscale_view()
    ends = [_stretch(axes, letter, place[:, k]) for k, letter in enumerate("xy")]
    name_axes(axes, *ends)
    return figure


def _drawn_rows(points: Array, uncertainty: Array) -> Any:
    """Return which rows are drawn, least uncertain first; of very many, a fixed random sample."""
    rows = np.flatnonzero(np.isfinite(uncertainty) & np.isfinite(points).all(axis=1))
    if len(rows) > MOST_POINTS:
        rows = np.random.default_rng(0).choice(rows, MOST_POINTS, replace=False)
    return rows[np.argsort(uncertainty[rows], kind="stable")]


def _scatter(axes: Axes, place: Array, score: Array, threshold: float) -> None:
    """Draw circles below the threshold and diamonds above it, on one scale of colours."""
    low = min(float(score.min()), threshold)
    high = max(min(float(score.max()), 2.0 * threshold - low), threshold, low + 1e-9)
    colours = Normalize(low, high)
    size = 26 if len(score) < 1_500 else 12
    for chosen, marker, edge in ((score <= threshold, "o", "#9aa0a6"), (score > threshold, "D", INK)):
        axes.scatter(
            place[chosen, 0],
            place[chosen, 1],
            c=score[chosen],
            norm=colours,
            cmap=COLOURS,
            marker=marker,
            s=size,
            linewidths=0.4 if marker == "o" else 0.7,
            edgecolors=edge,
        )
    _colour_bar(axes, colours, threshold, cut=bool(score.max() > high))


def _colour_bar(axes: Axes, colours: Normalize, threshold: float, *, cut: bool) -> None:
    bar = axes.figure.colorbar(
        ScalarMappable(colours, COLOURS), ax=axes, extend="max" if cut else "neither", pad=0.02, aspect=24
    )
    bar.set_label("uncertainty (line: threshold)", fontsize=12.5, color=INK)
    bar.ax.tick_params(labelsize=11.5, colors=INK)
    bar.ax.axhline(threshold, color=VERMILION, linewidth=2.4)
    bar.outline.set_visible(False)


def _stretch(axes: Axes, letter: str, places: Array) -> str:
    """Make an axis logarithmic beyond the calibration range if rows lie far out; return what to say of it."""
    if not len(places) or np.abs(places).max() <= _LINEAR_UP_TO:
        return ""
    low, high = float(places.min()), float(places.max())
    limits = (low - 0.2 if low > -1 else 1.6 * low, high + 0.2 if high < 1 else 1.6 * high)
    axes.set(**{f"{letter}scale": SymmetricalLogScale(None, linthresh=1.0), f"{letter}lim": limits})
    return "logarithmic beyond 1"
