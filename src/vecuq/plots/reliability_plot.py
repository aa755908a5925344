"""The probability of being wrong beside the share that was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import PercentFormatter

from vecuq._draw import GREY, INK, VERMILION, legend, name_axes, panel, say
from vecuq.errors import TableError
from vecuq.evaluation import Reliability, reliability_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def reliability(
    p_wrong: Any,
    wrong: Any,
    *,
    bins: int = 10,
    level: float = 0.95,
    groups: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of wrong rows by the probability of being wrong that was given to them, with intervals.

    Points on the diagonal are well calibrated. Bins hold equal numbers of rows. Each interval is that of Clopper and
    Pearson for the rows of its bin, by itself (:func:`vecuq.evaluation.reliability_curve`); with ``groups`` a bin
    counts as many rows as independent ones would be needed for its variance.

    Parameters
    ----------
    p_wrong
        The probability that each row is wrong, in [0, 1]; rows without one (NaN) are left out.
    wrong
        Whether it was: 1 or 0; rows without a label (NaN) are left out.
    bins, level, groups
        As in :func:`vecuq.evaluation.reliability_curve`.
    ax
        Axes to draw on; new ones without.

    Examples
    --------
    >>> from vecuq import plots
    >>> axes = plots.reliability([0.0, 0.1, 0.2, 0.4] * 25, [0, 0, 0, 1] * 25, bins=4)
    >>> axes.get_xlabel()
    'probability of being wrong'
    """
    given, was = np.asarray(p_wrong, dtype=float), np.asarray(wrong, dtype=float)
    if given.ndim != 1 or given.shape != was.shape:
        raise TableError(
            f"Every row needs its probability and its label; got shapes {given.shape} and {was.shape}. Give one of "
            f"each per row, NaN where it is unknown."
        )
    known, axes = ~(np.isnan(given) | np.isnan(was)), panel(ax)
    if not known.any():
        return say(axes, "no row has both a probability and a label")
    together = None if groups is None else np.asarray(groups)[known]
    return draw_reliability(axes, reliability_curve(given[known], was[known], bins=bins, level=level, groups=together))


def draw_reliability(axes: Axes, curve: Reliability) -> Axes:
    """Draw a reliability curve that is already there."""
    top = min(1.0, 1.08 * float(max(curve.high.max(), curve.probability.max())) or 1.0)
    axes.plot([0.0, top], [0.0, top], color=GREY, lw=1.2, linestyle=":", label="well calibrated")
    reach = np.abs(np.stack([curve.wrong - curve.low, curve.high - curve.wrong]))
    axes.errorbar(
        curve.probability,
        curve.wrong,
        yerr=reach,
        fmt="o-",
        color=VERMILION,
        ecolor=INK,
        elinewidth=1.2,
        capsize=3.5,
        ms=6,
        label=f"share wrong, with interval ({int(curve.n.sum()):,} rows)",
    )
    axes.set(xlim=(0.0, top), ylim=(0.0, top))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1.0))
    name_axes(axes, "probability of being wrong", "share of rows that were wrong")
    legend(axes)
    return axes
