"""Draw the picture of the README: the paper's motivating example."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from vecuq import Settings, fit_ranker
from vecuq.paper.toy import reproduce_toy, toy_scores

OUT = Path(__file__).parents[1] / "docs" / "img" / "order.png"
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"


def main() -> None:
    """Left: lines of equal uncertainty in the plane of two scores. Right: ROC-AUC on two tasks."""
    figure = Figure(figsize=(9.6, 3.7), layout="constrained")
    plane, bars = figure.subplots(1, 2, width_ratios=[1.15, 1.0])
    draw_plane(plane)
    draw_bars(bars)
    OUT.parent.mkdir(exist_ok=True)
    figure.savefig(OUT, dpi=160)
    print(f"wrote {OUT.relative_to(OUT.parents[2])}")


def draw_plane(axes: object) -> None:
    """Scatter the rows and draw the lines of equal uncertainty."""
    data = toy_scores()
    ranker = fit_ranker(data.calibration, Settings.paper())
    x, y = np.meshgrid(np.linspace(0, 0.5, 120), np.linspace(0, 16, 120))
    height = ranker.uncertainty(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    axes.contour(x, y, height, levels=9, colors=GREY, linewidths=0.8)
    correct = ~data.is_error
    for rows, colour, label in (
        (data.test[correct][:500], BLUE, "correct"),
        (data.test[data.is_error][:200], ORANGE, "misclassified"),
        (data.ood[data.ood[:, 1] < 16][:200], GREEN, "out of distribution"),
    ):
        axes.scatter(rows[:, 0], rows[:, 1], s=8, color=colour, label=label, alpha=0.75, linewidths=0)
    axes.set(xlabel="score 1: 1 - max. probability", ylabel="score 2: Mahalanobis distance")
    axes.set(ylim=(0, 16), xlim=(0, 0.5))
    axes.set_title("One order for two scores (grey: equal uncertainty)", fontsize=10)
    axes.legend(loc="upper right", fontsize=8, framealpha=0.95, markerscale=2)


def draw_bars(axes: object) -> None:
    """Show the ROC-AUC of each score and of the order on both tasks."""
    figures = reproduce_toy().figures
    shown = (("u1", "score 1", BLUE), ("u2", "score 2", ORANGE), ("VecUQ-OT", "one order", GREEN))
    for place, (key, label, colour) in enumerate(shown):
        heights = [figures[task][key] for task in ("misclassification", "ood")]
        at = np.arange(2) + 0.27 * (place - 1)
        axes.bar(at, heights, width=0.25, color=colour, label=label)
        for left, height in zip(at, heights, strict=True):
            axes.text(left, height + 0.015, f"{height:.2f}", ha="center", fontsize=8)
    axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle="--")
    axes.set_xticks([0, 1], ["finds errors", "finds out-of-distribution"])
    axes.set(ylabel="ROC-AUC", ylim=(0, 1.22))
    axes.set_title("Each score fails somewhere", fontsize=10)
    axes.legend(fontsize=8, ncol=3, loc="upper center")


if __name__ == "__main__":
    main()
