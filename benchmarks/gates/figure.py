"""The figure: coverage against the number of labels, how often the target is missed, and unseen categories."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, PercentFormatter

from benchmarks.gates.average import alignment
from benchmarks.gates.population import SUM, VECUQ
from benchmarks.gates.promises import NAIVE, ORACLE, broken_of, mean_of, single_columns
from benchmarks.gates.report import AT, Results
from benchmarks.gates.rivals import MAPIE
from vecuq._draw import GREY, INK, name_axes, tidy, to_png

LABELS = (50, 100, 200, 500, 1000, 2000)
NAMES = {"mcq": "language models, multiple choice", "vlm": "vision-language models"}
GATE, BEST, WORST, ALIGNED = (
    "gate",
    "best column (known afterwards)",
    "worst column",
    "conformal alignment (promise on average)",
)
PLAIN = "threshold without a certificate"
# Colour, width and dashes of every line; the gate is the one to see.
STYLES = {
    ORACLE: (INK, 1.6, (0, (1, 1.5))),
    GATE: ("#D55E00", 3.4, "-"),
    BEST: ("#0072B2", 1.8, "-"),
    SUM: ("#00432f", 1.3, (0, (4, 4))),
    MAPIE: ("#CC79A7", 1.8, "-"),
    WORST: ("#56B4E9", 1.8, "-"),
    ALIGNED: ("#8c6d1f", 1.8, (0, (3, 1.5, 1, 1.5))),
    PLAIN: (GREY, 1.8, (0, (3, 1.5))),
    "categories that have labels": ("#D55E00", 3.4, "-"),
    "categories without labels": ("#0072B2", 2.4, "-"),
    "the same, guard=0.01": ("#E69F00", 2.0, (0, (4, 3))),
}


def lines_of(found: Results, family: str) -> dict[str, list[tuple[float, float]]]:
    """Return (coverage, broken) at every number of labels, one list per line of the figure."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for n_labels in LABELS:
        (best, _), (worst, _), _ = single_columns(found.cells, family, found.columns[family], AT, n_labels)
        rules = {GATE: VECUQ, BEST: best, WORST: worst, SUM: SUM, MAPIE: MAPIE, PLAIN: NAIVE, ORACLE: ORACLE}
        for label, rule in rules.items():
            if any((cell.family, cell.rule) == (family, rule) for cell in found.cells):
                lines.setdefault(label, []).append(_point(found, family, rule, n_labels))
        lines.setdefault(ALIGNED, []).append(alignment(found.aligned, family, n_labels))
    return lines


def _point(found: Results, family: str, rule: str, n_labels: int) -> tuple[float, float]:
    at = (family, rule, AT, n_labels)
    return mean_of(found.cells, *at), broken_of(found.cells, *at)[0]


def unseen_lines(found: Results, family: str) -> dict[str, list[tuple[float, float]]]:
    """Return (coverage, broken) on categories with labels, on others, and there with the guard."""
    kinds = {"seen": "categories that have labels", "unseen": "categories without labels"}
    kinds["guarded"] = "the same, guard=0.01"
    return {label: [found.unseen[family, kind, n] for n in LABELS] for kind, label in kinds.items()}


def draw(found: Results) -> Figure:
    """Draw coverage above and broken promises below: two families, and categories that the labels never saw."""
    figure = Figure(figsize=(14.5, 7.6), dpi=130, layout="constrained", facecolor="white")
    panels = figure.subplots(2, 3, sharex=True, height_ratios=(3, 2))
    titles = [NAMES["mcq"], NAMES["vlm"], "vision-language, categories never seen"]
    columns = [lines_of(found, "mcq"), lines_of(found, "vlm"), unseen_lines(found, "vlm")]
    for k, (title, lines) in enumerate(zip(titles, columns, strict=True)):
        _panel(panels[0, k], {name: [point[0] for point in line] for name, line in lines.items()})
        without = {name: [point[1] for point in line] for name, line in lines.items() if name != ORACLE}
        _panel(panels[1, k], without)
        panels[1, k].axhline(0.1, color=INK, linewidth=1.2, linestyle=(0, (4, 2)))
        panels[1, k].text(2000, 0.12, "allowed: 10 %", fontsize=11, color=INK, ha="right")
        panels[0, k].set_title(title, fontsize=14, color=INK)
        panels[0, k].set_ylim(0, 0.7)
        panels[1, k].set_ylim(0, 0.7)
        name_axes(panels[1, k], "labelled rows", "")
    name_axes(panels[0, 0], "", "share of answers accepted")
    name_axes(panels[1, 0], "labelled rows", "draws that miss 90 %")
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False, fontsize=12)
    panels[0, 2].legend(loc="upper left", frameon=False, fontsize=11)
    figure.suptitle("90 % accuracy, promised with 90 % confidence", fontsize=16, color=INK)
    return figure


def _panel(axes: Axes, lines: dict[str, list[float]]) -> None:
    tidy(axes)
    for name in [name for name in STYLES if name in lines]:
        colour, width, dashes = STYLES[name]
        front = {SUM: 6, GATE: 5}.get(name, 3)  # the sum lies on the gate: both are to be seen
        axes.plot(LABELS, lines[name], color=colour, linewidth=width, linestyle=dashes, label=name, zorder=front)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(LABELS))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def write_figure(found: Results, path: Path) -> None:
    """Write the figure as PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_png(draw(found)))
