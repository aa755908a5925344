"""Coverage against certified accuracy as a picture: a line for each order, the one that was used drawn bold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def coverage_picture(
    lines: Mapping[str, Sequence[tuple[float, float]]], used: str, *, target: float | None = None
) -> Figure:
    """Draw the share of rows that each order accepts at every certified accuracy; each point stands by itself."""
    from vecuq._draw import GREY, PALETTE, blank, name_axes  # not above: it brings matplotlib

    figure, axes = blank()
    chosen = [used, *(name for name in lines if name != used)][: len(PALETTE)]
    for name, colour in zip(chosen, PALETTE, strict=False):
        accuracy, coverage = zip(*lines[name], strict=True)
        width = 2.6 if name == used else 1.4
        axes.plot(accuracy, coverage, color=colour, linewidth=width, label=name.replace("$", r"\$"))
    if target is not None:
        axes.axvline(target, color=GREY, linewidth=1.2, linestyle=(0, (4, 2)))
    name_axes(axes, "certified accuracy of accepted rows", "share of rows accepted")
    axes.set_ylim(0.0, 1.02)
    axes.legend(frameon=False, fontsize=11)
    return figure
