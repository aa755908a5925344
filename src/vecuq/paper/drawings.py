"""The pictures of the studies: figures with their deviations as dots and as bars, and maps and points of the plane."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from vecuq._check import Array
from vecuq._draw import Spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS = "DosP^vX*"


def dots(lines: Mapping[str, Mapping[str, Spread]], what: str) -> Figure:
    """Draw one line per task and one marker per method, with one deviation to either side."""
    from vecuq._draw import INK, PALETTE, blank

    methods = list(dict.fromkeys(name for figures in lines.values() for name in figures))
    figure, axes = blank(7.2, 1.4 + 0.36 * len(lines))
    for place, name in enumerate(methods):
        shift = (place - (len(methods) - 1) / 2) * 0.13
        at = [height + shift for height, figures in enumerate(lines.values()) if name in figures]
        found = [figures[name] for figures in lines.values() if name in figures]
        axes.errorbar(
            [spread.mean for spread in found],
            at,
            xerr=[0.0 if math.isnan(spread.std) else spread.std for spread in found],
            fmt=_MARKERS[place % len(_MARKERS)],
            color=PALETTE[place % len(PALETTE)],
            markersize=7 if place == 0 else 5.5,
            elinewidth=1.4,
            label=name,
            zorder=3 if place == 0 else 2,
        )
    axes.set_yticks(range(len(lines)), list(lines), fontsize=11)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    for edge in range(len(lines) - 1):
        axes.axhline(edge + 0.5, color="#e5e7eb", linewidth=0.8)
    figure.supxlabel(what, fontsize=13, color=INK)
    figure.legend(
        loc="outside upper center",
        ncols=min(3, len(methods)),
        frameon=False,
        fontsize=11.5,
        labelcolor=INK,
        columnspacing=1.2,
        handletextpad=0.4,
    )
    return figure


def bars(figures: Mapping[str, Spread], what: str) -> Figure:
    """Draw one lying bar per method, its value written at the end."""
    return grouped_bars({"": figures}, what)


def grouped_bars(groups: Mapping[str, Mapping[str, Spread]], what: str) -> Figure:
    """Draw a panel per group, one lying bar per method, its value written at the end."""
    from matplotlib.figure import Figure as NewFigure

    from vecuq._draw import GREY, INK, PALETTE, name_axes, tidy

    methods = list(next(iter(groups.values())))
    most = max(spread.mean for figures in groups.values() for spread in figures.values())
    size = (6.4 if len(groups) == 1 else 8.6, 1.2 + 0.46 * len(methods))
    figure = NewFigure(figsize=size, dpi=200, layout="constrained", facecolor="white")
    panels = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for axes, (title, figures) in zip(panels, groups.items(), strict=True):
        tidy(axes)
        values = [figures[name].mean for name in methods]
        axes.barh(
            range(len(methods)), values, color=[PALETTE[0] if k == 0 else PALETTE[1] for k in range(len(methods))]
        )
        for place, value in enumerate(values):
            digits = f"{value:.3f}" if most <= 1.0 else f"{value:.1f}"
            axes.text(value + 0.015 * most, place, digits, va="center", fontsize=12, color=INK)
        axes.set_yticks(range(len(methods)), methods, fontsize=12)
        axes.set_xlim(0, 1.18 * most)
        axes.set_title(title, fontsize=13, color=INK)
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_color(GREY)
        name_axes(axes, what, "")
    panels[0].invert_yaxis()
    return figure


def maps(panels: Mapping[str, Array], extent: tuple[float, float], points: Array) -> Figure:
    """Draw one map of the plane per panel, brighter for more uncertain, with points of the data on it."""
    from matplotlib.figure import Figure as NewFigure

    from vecuq._draw import INK

    figure = NewFigure(figsize=(4.1 * len(panels), 4.3), dpi=160, layout="constrained", facecolor="white")
    for axes, (title, values) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
        image = axes.imshow(
            values, origin="lower", extent=(*extent, *extent), cmap="cividis", vmax=float(np.quantile(values, 0.98))
        )
        axes.scatter(points[:, 0], points[:, 1], color="white", edgecolors=INK, s=4, linewidths=0.25)
        axes.set_title(title, fontsize=19, color=INK)
        axes.set_xlabel("first feature", fontsize=16, color=INK)
        axes.tick_params(labelsize=14)
        figure.colorbar(image, ax=axes, shrink=0.75, extend="max").ax.tick_params(labelsize=13)
    figure.axes[0].set_ylabel("second feature", fontsize=16, color=INK)
    return figure


def scatters(panels: Mapping[str, Mapping[str, Array]]) -> Figure:
    """Draw clouds of points (n, 2) of the plane, a colour each; all panels have the same axes."""
    from matplotlib.figure import Figure as NewFigure

    from vecuq._draw import INK, PALETTE, name_axes, tidy

    figure = NewFigure(figsize=(4.3 * len(panels), 4.3), dpi=160, layout="constrained", facecolor="white")
    drawn = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (title, clouds) in zip(drawn, panels.items(), strict=True):
        tidy(axes)
        for place, (name, points) in enumerate(clouds.items()):
            axes.scatter(points[:, 0], points[:, 1], s=5, alpha=0.6, linewidths=0, color=PALETTE[place], label=name)
        axes.set_title(title, fontsize=13, color=INK)
        name_axes(axes, "first feature", "second feature")
    # The last panel shows every cloud.
    handles, names = drawn[-1].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False, markerscale=3)
    return figure


def lines(x_values: Array, curves: Mapping[str, Array], *, x: str, y: str) -> Figure:
    """Draw curves over one axis, each with its colour and stroke."""
    from vecuq._draw import PALETTE, blank, name_axes

    figure, axes = blank()
    for place, (name, values) in enumerate(curves.items()):
        axes.plot(
            x_values, values, color=PALETTE[place], linestyle=("-", "--", "-.", ":")[place % 4], lw=2.2, label=name
        )
    name_axes(axes, x, y)
    axes.legend(frameon=False, fontsize=12)
    return figure


def rays(multiples: Array, panels: Mapping[str, Mapping[str, Array]], levels: Mapping[str, float]) -> Figure:
    """Draw scores over multiples of the calibration maximum, a panel per ray, with a dotted level and a dashed one."""
    from matplotlib.figure import Figure as NewFigure

    from vecuq._draw import GREY, INK, PALETTE, name_axes, tidy

    figure = NewFigure(figsize=(3.6 * len(panels), 3.9), dpi=200, layout="constrained", facecolor="white")
    for axes, (title, curves) in zip(figure.subplots(1, len(panels), sharey=True), panels.items(), strict=True):
        tidy(axes)
        for place, (name, values) in enumerate(curves.items()):
            axes.plot(
                multiples, values, color=PALETTE[place], linestyle=("-", "--", "-.")[place % 3], lw=2.2, label=name
            )
        for (name, level), stroke in zip(levels.items(), (":", "--"), strict=True):
            axes.axhline(level, color=GREY, linestyle=stroke, lw=1.3)
            axes.text(multiples[-1], level + 0.02, name, color=GREY, fontsize=11, ha="right", va="bottom")
        axes.set_xscale("log")
        axes.set_ylim(0.0, 1.6 * max(levels.values()))
        axes.set_title(title, fontsize=13, color=INK)
        name_axes(axes, "times the calibration maximum", "score" if axes.get_subplotspec().is_first_col() else "")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), frameon=False, fontsize=12)
    return figure
