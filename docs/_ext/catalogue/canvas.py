"""What all pictures of the catalogue share: size, colours, and how they are saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe and Ito: distinct for every common kind of colour vision.
BLUE, VERMILION, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#6b7280"
SHADES = "cividis"


def figure(columns: int = 1, rows: int = 1, *, width: float = 3.0, height: float = 2.3) -> tuple[Figure, Any]:
    """Return an empty white figure, readable on light and dark pages, and its axes."""
    made = Figure(figsize=(width, height), dpi=160, facecolor="white", layout="constrained")
    FigureCanvasAgg(made)
    return made, made.subplots(rows, columns, squeeze=False)


def named(axes: Any, x: str, y: str) -> None:
    """Name the axes, in small letters, without a frame above and to the right."""
    axes.set_xlabel(x, fontsize=7)
    axes.set_ylabel(y, fontsize=7)
    axes.tick_params(labelsize=6, length=2)
    axes.spines[["top", "right"]].set_visible(False)


def line(name: str, x: Any, y: Any, *, of: str, step: bool = False) -> Figure:
    """Draw one measure against one quantity."""
    made, axes = figure()
    one = axes[0, 0]
    one.plot(x, y, color=BLUE, marker="o" if step else None, markersize=3, linewidth=1.6)
    named(one, of, name)
    return made


def saved(made: Figure, file: Path) -> None:
    """Write the picture as a small PNG."""
    made.savefig(file, format="png")
