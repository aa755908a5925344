"""Coverage against certified accuracy: a line for each order, the one that was used drawn bold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from matplotlib.ticker import PercentFormatter

from vecuq._draw import GREY, INK, PALETTE, label, legend, name_axes, panel
from vecuq.errors import SettingError, TableError
from vecuq.gate import Gate, LiveGate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# More lines cannot be distinguished.
MOST_LINES = len(PALETTE)
_STROKES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
# The axis starts here at the latest.
_HIGHEST = 0.95
Points = Mapping[str, Sequence[tuple[float, float]]]


def coverage_accuracy(gate: Gate | LiveGate, rows: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the share of rows that a gate accepts against the accuracy that its labels certify.

    Nothing here is an estimate: every point is what the labels prove with the gate's confidence. Points of a line
    hold each by itself, for a target and an order that were chosen before the labels were looked at. Squares are the
    gate's ``table_``, which hold all together, and so lie lower. The dashed line is the gate's own target.

    Parameters
    ----------
    gate
        A fitted :class:`vecuq.Gate`; of a live gate, the gate inside it.
    rows
        The labelled rows that it was fitted on, for the lines of all orders. Without them, or for a gate that was
        loaded or fitted to counts, the line of its own order is drawn.
    ax
        Axes to draw on; new ones without.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import Gate, VecUQ, plots
    >>> rng = np.random.default_rng(0)
    >>> model, rows = VecUQ().fit(rng.gamma(1.0, size=(500, 2))), rng.gamma(1.0, size=(600, 2))
    >>> gate = Gate(model, accuracy=0.85).fit(rows, rng.random(600) > rows.sum(axis=1) / 10)
    >>> axes = plots.coverage_accuracy(gate, rows)
    >>> axes.get_xlabel()
    'certified accuracy of accepted rows'
    """
    found = gate.gate if isinstance(gate, LiveGate) else gate
    if not isinstance(found, Gate):
        raise TableError(f"coverage_accuracy draws what a fitted Gate certifies; got {type(found).__name__}.")
    axes = panel(ax)
    whole = rows is not None and found.learned_.kept is not None
    lines: Points = found.coverage_lines(rows) if whole else {found.order_: found.coverage_line()}
    table = [(line["accuracy"], line["coverage"]) for line in found.table_]
    target = found.target.value if found.allowed < 1 else None
    quality = "mean quality" if found.target.kind == "quality" else "accuracy"
    return draw_coverage(axes, lines, found.order_, target=target, table=table, word=quality)


def coverage_picture(lines: Points, used: str, *, target: float | None = None) -> Figure:
    """Draw the share of rows that each order accepts at every certified accuracy; each point stands by itself."""
    return cast("Figure", draw_coverage(panel(None), lines, used, target=target).figure)


def draw_coverage(
    axes: Axes,
    lines: Points,
    used: str,
    *,
    target: float | None = None,
    table: Sequence[tuple[float, float]] = (),
    word: str = "accuracy",
) -> Axes:
    """Draw coverages that are known already; of many orders the one that was used and the best of the others."""
    if not lines and not table:
        raise SettingError("A coverage picture needs lines or a table of targets; neither came.")
    for place, name in enumerate(_shown(lines, used)):
        at, coverage = zip(*lines[name], strict=True)
        bold = name == used
        look = {"lw": 3.0, "zorder": 3} if bold else {"lw": 1.4, "linestyle": _STROKES[place % len(_STROKES)]}
        axes.plot(at, coverage, color=PALETTE[place], label=label(name) + (" (used)" if bold else ""), **look)
    if table:
        at, coverage = zip(*table, strict=True)
        axes.plot(at, coverage, "s", color=INK, ms=7, zorder=4, label="certified, all at once")
    if target is not None:
        axes.axvline(target, color=GREY, lw=1.4, linestyle=(0, (4, 2)), label=f"target {target:g}")
    name_axes(axes, f"certified {word} of accepted rows", "share of rows accepted")
    axes.set(xlim=(_leftmost(lines, table), 1.0), ylim=(0.0, 1.02))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    legend(axes)
    return axes


def _shown(lines: Points, used: str) -> list[str]:
    """Return the orders to draw: the one that was used, then those that cover most."""
    mean = {name: float(np.mean([coverage for _, coverage in line])) for name, line in lines.items()}
    return sorted(mean, key=lambda name: (name != used, -mean[name]))[:MOST_LINES]


def _leftmost(lines: Points, table: Sequence[tuple[float, float]]) -> float:
    """Return where the axis starts: a little before the first line falls, or before the lowest target of the table."""
    return max(min([*map(_falls_at, lines.values()), *(at for at, _ in table), _HIGHEST]) - 0.03, 0.0)


def _falls_at(line: Sequence[tuple[float, float]]) -> float:
    """Return the last accuracy at which a line is nearly as high as it ever is."""
    at, coverage = np.array(line).T
    return float(at[coverage >= 0.98 * coverage.max()].max())
