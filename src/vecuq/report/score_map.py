"""The score map: rows in the plane of two columns, over the level lines of the fitted map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from vecuq._check import Array
from vecuq._draw import GREY, INK, VERMILION, legend, name_axes, panel
from vecuq.errors import ModelFileError
from vecuq.ranker import Ranker
from vecuq.report.sides import Side, as_came, clipped, rows_beyond, side_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID = 72
_LEVELS, _MOST_LEVELS = 12, 50
# From so many points on they are one image inside an SVG.
_AS_IMAGE = 250
# The middle of cividis, which is seen on white and on black, and by every common kind of colour vision.
_SHADES = LinearSegmentedColormap.from_list("vecuq", ["#d8c35f", "#9b9374", "#6f7177", "#45557a", "#274d85"])
_EDGE = "#8b949e"


def draw_map(ranker: Ranker, names: Sequence[str], values: Array, score: Array, threshold: float) -> Axes:
    """Draw rows by two of their columns, darker for more uncertain, over the level lines of the model's map.

    A line joins places of equal uncertainty, the other columns at their calibration medians; the bold one is the
    threshold. Diamonds are rows above the threshold. With more than two columns a diamond may lie inside the bold line:
    its other columns are high. The dashed box holds the rows that the map was fitted on. Rows more than one and a half
    calibration ranges outside of it are drawn at the edge, and counted. A single column is drawn against the
    uncertainty.
    """
    axes, order = panel(None, height=4.8), np.argsort(score, kind="stable")  # the most uncertain lie on top
    sides = [side_of(ranker, name, values) for name in names]
    draw = _draw_curve if len(sides) == 1 else _draw_plane
    return draw(axes, sides, values[order], score[order], threshold)


def _draw_plane(axes: Axes, sides: list[Side], values: Array, score: Array, threshold: float) -> Axes:
    x, y = sides
    heights = _heights(sides)
    colours = _colours(score, heights, threshold)
    lined = _draw_levels(axes, sides, heights, threshold, colours)
    _draw_box(axes, x, y)
    spots = np.column_stack([clipped(side, values) for side in sides])
    _scatter(axes, spots, score, colours, threshold)
    _colour_bar(axes, colours, threshold)
    for side, letter in ((x, "x"), (y, "y")):
        axes.set(**{f"{letter}lim": as_came(side, np.array([side.first, side.last]))})
    name_axes(axes, x.words, y.words)
    handles = _handles(threshold, any_levels=lined, others=len(x.ranker.active) > 2)
    legend(axes, handles=handles + _row_handles(threshold, len(score), rows_beyond(sides, values)))
    return axes


def _heights(sides: list[Side]) -> Array | None:
    """Return the uncertainty over a grid of two columns, the others at their medians; None without medians."""
    ranker = sides[0].ranker
    try:
        centre = ranker.centre
    except ModelFileError:
        return None
    x, y = (np.linspace(side.first, side.last, _GRID) for side in sides)
    points = np.tile(centre, (_GRID * _GRID, 1))
    points[:, sides[0].place], points[:, sides[1].place] = (one.ravel() for one in np.meshgrid(x, y))
    return np.asarray(ranker.rank_complete(points)[1].reshape(_GRID, _GRID))


def _draw_levels(axes: Axes, sides: list[Side], heights: Array | None, threshold: float, colours: Normalize) -> bool:
    """Draw lines of equal uncertainty, the threshold bold, and return whether there are any."""
    if heights is None:
        return False
    x, y = (as_came(side, np.linspace(side.first, side.last, _GRID)) for side in sides)
    low, high = float(heights.min()), float(heights.max())
    levels = [at for at in _levels(colours) if low < at < high]
    if levels:
        axes.contour(x, y, heights, levels=levels, colors=GREY, linewidths=0.9, alpha=0.75, zorder=1.5)
    if low < threshold < high:
        axes.contour(x, y, heights, levels=[threshold], colors=INK, linewidths=2.4, zorder=1.6)
    return bool(levels)


def _levels(colours: Normalize) -> list[float]:
    """Return round uncertainties: the ticks of the colour scale, and further out at the same steps."""
    ticks = MaxNLocator(_LEVELS, steps=[1, 2, 5, 10]).tick_values(*_ends(colours))
    return [float(ticks[0] + (ticks[1] - ticks[0]) * k) for k in range(_MOST_LEVELS)]


def _ends(colours: Normalize) -> tuple[float, float]:
    return float(colours.inverse(0.0)), float(colours.inverse(1.0))


def _draw_box(axes: Axes, x: Side, y: Side) -> None:
    (left, right), (bottom, top) = (np.sort(as_came(one, np.array([one.low, one.high]))) for one in (x, y))
    corner, size = (left, bottom), (right - left, top - bottom)
    axes.add_patch(Rectangle(corner, *size, fill=False, color=GREY, linestyle="--", linewidth=1.4, zorder=1.7))


def _colours(score: Array, heights: Array | None, threshold: float) -> Normalize:
    """Return one scale of colours for rows and lines, cut at twice the way from the lowest to the threshold."""
    seen = np.concatenate([score, [] if heights is None else heights.ravel()])
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
    if np.isfinite(threshold):
        low = min(low, threshold)
        high = max(min(high, 2.0 * threshold - low), threshold)
    return Normalize(low, max(high, low + 1e-9))


def _scatter(axes: Axes, spots: Array, score: Array, colours: Normalize, threshold: float) -> None:
    """Draw circles up to the threshold and diamonds above it."""
    if not len(score):
        axes.text(0.5, 0.5, "no row has a score", transform=axes.transAxes, ha="center", color=GREY, fontsize=12)
    size = 30 if len(score) < 1_500 else 14
    above = score > threshold
    for chosen, marker, edge in ((~above, "o", _EDGE), (above, "D", VERMILION)):
        axes.scatter(
            spots[chosen, 0],
            spots[chosen, 1],
            c=score[chosen],
            norm=colours,
            cmap=_SHADES,
            marker=marker,
            s=size,
            linewidths=0.5 if marker == "o" else 0.9,
            edgecolors=edge,
            rasterized=len(score) > _AS_IMAGE,
            zorder=2,
        )


def _colour_bar(axes: Axes, colours: Normalize, threshold: float) -> None:
    """Say which colour is which uncertainty, with a tick for every line."""
    bar = axes.figure.colorbar(ScalarMappable(colours, _SHADES), ax=axes, pad=0.02, aspect=26)
    bar.set_label("uncertainty", fontsize=12, color=INK)
    bar.ax.tick_params(labelsize=11, colors=INK)
    if np.isfinite(threshold):
        bar.ax.axhline(threshold, color=INK, linewidth=2.4)
    first, last = _ends(colours)
    bar.set_ticks([at for at in _levels(colours) if first <= at <= last])
    bar.outline.set_visible(False)


def _draw_curve(axes: Axes, sides: list[Side], values: Array, score: Array, threshold: float) -> Axes:
    """Draw one column against the uncertainty: the map as a line, and the rows upon it."""
    (side,) = sides
    ranker = side.ranker
    at = np.linspace(side.first, side.last, 4 * _GRID)
    points = np.tile(np.nan_to_num(ranker.kept.centre), (len(at), 1))
    points[:, side.place] = at
    axes.plot(as_came(side, at), ranker.rank_complete(points)[1], color=GREY, lw=1.6, zorder=1.5, label="the map")
    colours = _colours(score, None, threshold)
    _scatter(axes, np.column_stack([clipped(side, values), score]), score, colours, threshold)
    if np.isfinite(threshold):
        axes.axhline(threshold, color=INK, lw=2.4, label=f"threshold {threshold:.3g}")
    for end in (side.low, side.high):
        axes.axvline(float(as_came(side, np.array(end))), color=GREY, linestyle="--", lw=1.2)
    name_axes(axes, side.words, "uncertainty")
    lines, _ = axes.get_legend_handles_labels()
    legend(axes, handles=[*lines, *_row_handles(threshold, len(score), rows_beyond(sides, values))])
    return axes


def _handles(threshold: float, *, any_levels: bool, others: bool) -> list[Line2D]:
    """Return what the lines of a score map are called."""
    at_median = ", others at median" if others else ""
    handles = [Line2D([], [], color=GREY, lw=1.4, linestyle="--", label="calibration box")]
    if any_levels:
        handles.append(Line2D([], [], color=GREY, lw=0.9, label=f"equal uncertainty{at_median}"))
    if np.isfinite(threshold):
        handles.append(Line2D([], [], color=INK, lw=2.4, label=f"threshold {threshold:.3g}"))
    return handles


def _row_handles(threshold: float, n_rows: int, n_beyond: int) -> list[Line2D]:
    """Return what the marks of rows are called, and how many rows are drawn at the edge."""
    look: dict[str, Any] = {"linestyle": "", "markersize": 6}
    handles = [Line2D([], [], marker="o", mfc=_SHADES(0.1), mec=_EDGE, label=f"rows ({n_rows:,})", **look)]
    if np.isfinite(threshold):
        handles.append(Line2D([], [], marker="D", mfc=_SHADES(0.9), mec=VERMILION, label="flagged", **look))
    if n_beyond:
        handles.append(Line2D([], [], marker="", label=f"{n_beyond:,} rows further out, at the edge", **look))
    return handles
