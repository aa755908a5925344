"""How uncertain rows are, beside the calibration rows and the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from vecuq._check import Array
from vecuq._draw import BLUE, INK, VERMILION, legend, name_axes, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_BINS = 32


class Line(NamedTuple):
    """A threshold on the uncertainty, and what it is called."""

    at: float
    name: str


def draw_histogram(calibration: Array, new: Array, line: Line, *, known: str) -> Axes:
    """Draw two outlines of scores, each of which adds up to 100 %; ``known`` says which the calibration rows are."""
    low, high = _reach(calibration, new)
    edges, axes = np.linspace(low, high, N_BINS + 1), panel(None)
    _outline(axes, calibration, edges, colour=BLUE, stroke=(0, (5, 1.5)), label=f"{known} ({len(calibration):,})")
    _outline(axes, new, edges, colour=VERMILION, stroke="-", label=f"new rows ({len(new):,})")
    if np.isfinite(line.at):
        axes.axvline(line.at, color=INK, linewidth=1.6, linestyle=(0, (4, 2)), label=f"{line.name} {line.at:.3g}")
    beyond = int((new > high).sum())
    name_axes(axes, "uncertainty" + (f"; {beyond:,} beyond in the last bar" if beyond else ""), "share of rows, %")
    legend(axes)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    return axes


def _reach(calibration: Array, new: Array) -> tuple[float, float]:
    """Return how far the axis goes: to all rows, or to three calibration ranges."""
    first = calibration if len(calibration) else new
    known_low, known_high = float(first.min()), float(first.max())
    low = min(known_low, float(new.min()))
    furthest = known_high + 2.0 * max(known_high - known_low, 0.1)
    high = min(max(known_high, float(new.max())), furthest)
    margin = 0.02 * (high - low) or 0.5
    return low - margin, high + margin


def _outline(axes: Axes, scores: Array, edges: Array, *, colour: str, stroke: Any, label: str) -> None:
    """Draw one filled outline; its area is 100 %, whatever the number of rows."""
    counts, _ = np.histogram(np.clip(scores, edges[0], edges[-1]), bins=edges)
    share = 100.0 * counts / max(len(scores), 1)
    axes.stairs(share, edges, fill=True, color=colour, alpha=0.22)
    axes.stairs(share, edges, color=colour, linewidth=1.8, linestyle=stroke, label=label)
