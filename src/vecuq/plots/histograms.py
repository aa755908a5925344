"""How uncertain rows are, beside the held-back rows and the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from vecuq._check import Array
from vecuq._draw import BLUE, INK, VERMILION
from vecuq.plots.panels import axis_names, legend, panel, say
from vecuq.plots.scored import Line, ranked, ranker_in, threshold_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_BINS = 32


def histogram(model: Any, rows: Any, *, alpha: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw how uncertain held-back rows and new rows are, as shares of each, with the threshold.

    Rows far beyond the held-back ones are gathered in the last bar, which is said. Rows without a score are left out.

    Parameters
    ----------
    model
        A fitted :class:`vecuq.VecUQ`, :class:`vecuq.Ranker` or pipeline, or a :class:`vecuq.Gate` around one.
    rows
        New rows, as the model takes them, or the :class:`vecuq.Ranking` of them.
    alpha
        The false-alarm rate of the threshold; by default that of the model's settings, for a gate the uncertainty up
        to which it accepts, and no line where it decides by another order than the model's.
    ax
        Axes to draw on; new ones without.

    Returns
    -------
    matplotlib.axes.Axes
        Of ``ax.figure``, whose ``savefig`` writes a file.

    Examples
    --------
    >>> from vecuq import VecUQ, plots
    >>> from vecuq.data import load_demo
    >>> calibration, new = load_demo()
    >>> axes = plots.histogram(VecUQ().fit(calibration), new)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['held-back rows (200)', 'new rows (720)', 'threshold 1.17']
    """
    ranker = ranker_in(model)
    known = "held-back rows" if ranker.diagnostics.n_held else "rows of the map"
    uncertainty = ranked(model, rows).uncertainty
    return draw_histogram(panel(ax), ranker.calibration_scores, uncertainty, threshold_of(model, alpha), known=known)


def draw_histogram(axes: Axes, calibration: Array, new: Array, line: Line, *, known: str = "held-back rows") -> Axes:
    """Draw two outlines of scores that are known already; each adds up to 100 %."""
    scored = new[np.isfinite(new)]
    if not len(calibration) and not len(scored):
        return say(axes, "no row has a score")
    low, high = _reach(calibration, scored)
    edges = np.linspace(low, high, N_BINS + 1)
    _outline(axes, calibration, edges, colour=BLUE, stroke=(0, (5, 1.5)), label=f"{known} ({len(calibration):,})")
    _outline(axes, scored, edges, colour=VERMILION, stroke="-", label=f"new rows ({len(scored):,})")
    if np.isfinite(line.at):
        axes.axvline(line.at, color=INK, linewidth=1.6, linestyle=(0, (4, 2)), label=f"{line.name} {line.at:.3g}")
    beyond = int((scored > high).sum())
    axis_names(axes, "uncertainty" + (f"; {beyond:,} beyond in the last bar" if beyond else ""), "share of rows, %")
    legend(axes)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    return axes


def _reach(calibration: Array, scored: Array) -> tuple[float, float]:
    """Return how far the axis goes: to all rows, or to three calibration ranges."""
    first = calibration if len(calibration) else scored
    known_low, known_high = float(first.min()), float(first.max())
    low = min(known_low, float(scored.min(initial=known_low)))
    furthest = known_high + 2.0 * max(known_high - known_low, 0.1)
    high = min(max(known_high, float(scored.max(initial=known_high))), furthest)
    margin = 0.02 * (high - low) or 0.5
    return low - margin, high + margin


def _outline(axes: Axes, scores: Array, edges: Array, *, colour: str, stroke: Any, label: str) -> None:
    """Draw one filled outline; its area is 100 %, whatever the number of rows."""
    counts, _ = np.histogram(np.clip(scores, edges[0], edges[-1]), bins=edges)
    share = 100.0 * counts / max(len(scores), 1)
    axes.stairs(share, edges, fill=True, color=colour, alpha=0.22)
    axes.stairs(share, edges, color=colour, linewidth=1.8, linestyle=stroke, label=label)
