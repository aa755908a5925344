"""Which columns make a row uncertain: contributions from the baseline to the row's uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array
from vecuq._draw import BLUE, GREY, INK, PAPER, VERMILION
from vecuq.errors import ModelFileError, TableError
from vecuq.plots.panels import axis_names, fonts, label, legend, panel, say
from vecuq.plots.scored import Line, columns_of, missing_in, model_in, ranker_in, threshold_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from vecuq.ranker import Ranker

# More columns than this share one bar.
MOST_BARS = 12


def contributions(model: Any, row: Any, *, alpha: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw how the columns of one row add up to its uncertainty, the largest contribution first.

    Bars start at the baseline, the uncertainty of the calibration medians, and end at the uncertainty of the row. Those
    of columns that raise it point to the right, with a plus sign. Contributions are those of
    :meth:`vecuq.Ranker.explain`; a missing column contributes what its absence changes.

    Parameters
    ----------
    model
        A fitted :class:`vecuq.VecUQ`, :class:`vecuq.Ranker` or pipeline, or a gate around one.
    row
        One row, as the model takes rows: a table of one row, an array of shape (1, columns), or (columns,).
    alpha
        The false-alarm rate of the threshold, as in :func:`vecuq.plots.histogram`.
    ax
        Axes to draw on; new ones without.

    Examples
    --------
    >>> from vecuq import VecUQ, plots
    >>> from vecuq.data import load_demo
    >>> calibration, new = load_demo()
    >>> axes = plots.contributions(VecUQ().fit(calibration), new.slice(1, 1))
    >>> axes.get_xlabel()
    'uncertainty'
    """
    ranker = ranker_in(model)
    values = columns_of(model, _as_rows(model, row))
    if len(values) != 1:
        raise TableError(f"contributions draws one row; got {len(values):,}. Choose one, for example rows[3:4].")
    axes = panel(ax, height=1.6 + 0.42 * min(len(ranker.columns), MOST_BARS + 1))
    try:
        parts = ranker.explain(ranker.as_table(values), missing=missing_in(model_in(model)))[0]
    except ModelFileError:
        return say(axes, "this model keeps no calibration medians, so there is nothing to compare with")
    if np.isnan(parts).any():
        return say(axes, "this row has no score: values are missing or infinite")
    return _draw(axes, ranker, parts, threshold_of(model, alpha))


def _as_rows(model: Any, row: Any) -> Any:
    """Return one row as a table of one row; what a pipeline takes is left as it is."""
    if hasattr(model_in(model), "measure"):
        return row
    return row[None] if isinstance(row, np.ndarray) and row.ndim == 1 else row


def _draw(axes: Axes, ranker: Ranker, parts: Array, line: Line) -> Axes:
    names, sizes = _bars(ranker.columns, parts)
    starts = ranker.baseline + np.concatenate([[0.0], np.cumsum(sizes)[:-1]])
    places = list(range(len(names)))
    for place, start, size in zip(places, starts, sizes, strict=True):
        up = size >= 0
        axes.barh(place, size, left=start, height=0.62, color=VERMILION if up else BLUE, hatch="" if up else "////")
        _number(axes, size, max(start, start + size), place)
    _lines(axes, ranker.baseline, ranker.baseline + float(sizes.sum()), line)
    axes.set_yticks(places, [label(name, 28) for name in names], fontfamily=fonts(), parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.grid(axis="y", visible=False)
    axis_names(axes, "uncertainty", "")
    legend(axes, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return axes


def _number(axes: Axes, size: float, end: float, place: float) -> None:
    """Write the size of a bar behind its end."""
    ground = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
    look: dict[str, Any] = {"va": "center", "fontsize": 11, "color": INK, "bbox": ground}
    axes.annotate(f"{size:+.3g}", (end, place), (4, 0), textcoords="offset points", **look)


def _lines(axes: Axes, baseline: float, score: float, line: Line) -> None:
    """Draw where the bars start and end, and the threshold."""
    axes.axvline(baseline, color=GREY, lw=1.4, linestyle=":", label=f"all at their medians {baseline:.3g}")
    axes.axvline(score, color=INK, lw=1.4, label=f"this row {score:.3g}")
    if np.isfinite(line.at):
        axes.axvline(line.at, color=INK, lw=1.4, linestyle=(0, (4, 2)), label=f"{line.name} {line.at:.3g}")


def _bars(columns: tuple[str, ...], parts: Array) -> tuple[list[str], Array]:
    """Return names and sizes, the largest first; what is beyond the last bar is one bar of its own."""
    order = np.argsort(-np.abs(parts), kind="stable")
    shown, others = order[:MOST_BARS], order[MOST_BARS:]
    names, sizes = [columns[k] for k in shown], parts[shown]
    if not len(others):
        return names, sizes
    return [*names, f"{len(others)} other columns"], np.append(sizes, parts[others].sum())
