"""
Why a vector
============

Two scores that fail on different rows, in the paper's example. The first does not see
out-of-distribution rows, the second does not see errors. The one order sees both, errors less well than the
score made for them.
"""

import numpy as np
from _look import BLUE, GREEN, GREY, VERMILION, bare, panels

from vecuq import fit_ranker
from vecuq.evaluation import roc_auc
from vecuq.paper.toy import toy_scores

data = toy_scores()
model = fit_ranker(data.calibration)

# %%
# Out-of-distribution rows lie far up; errors lie to the right.

plane, bars = panels(2, width_ratios=(1.1, 1))
kinds = (
    ("right", data.test[~data.is_error][:400], BLUE, "o"),
    ("wrong", data.test[data.is_error][:150], VERMILION, "x"),
    ("out-of-distribution", data.ood[:150], GREEN, "^"),
)
x, y = np.meshgrid(np.linspace(0, 0.5, 80), np.linspace(0, 22, 80))
height = model.uncertainty(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
plane.contour(x, y, height, levels=9, colors=GREY, linewidths=0.7, alpha=0.7)
for name, rows, colour, mark in kinds:
    plane.scatter(
        rows[:, 0],
        rows[:, 1],
        s=14,
        color=colour,
        marker=mark,
        label=name,
        linewidths=0.8,
        alpha=0.8,
    )
bare(
    plane,
    "Grey lines: equal uncertainty",
    xlabel="score 1: 1 - max. probability",
    ylabel="score 2: distance",
)
plane.set(xlim=(0, 0.5), ylim=(0, 22))
plane.legend(framealpha=0.95)

# %%
# How well each finds errors, and out-of-distribution rows (ROC-AUC; 0.5 is a coin).

strange = np.repeat([False, True], [len(data.test), len(data.ood)])
every = np.vstack([data.test, data.ood])
orders = {
    "score 1": (data.test[:, 0], every[:, 0], BLUE, ""),
    "score 2": (data.test[:, 1], every[:, 1], VERMILION, "//"),
    "one order": (model.uncertainty(data.test), model.uncertainty(every), GREEN, ".."),
}
for place, (name, (errors, of_all, colour, hatch)) in enumerate(orders.items()):
    heights = [roc_auc(errors, data.is_error), roc_auc(of_all, strange)]
    at = np.arange(2) + 0.28 * (place - 1)
    bars.bar(at, heights, width=0.25, color=colour, hatch=hatch, edgecolor="white", label=name)
    for left, value in zip(at, heights, strict=True):
        bars.text(left, value + 0.02, f"{value:.2f}", ha="center")
bars.axhline(0.5, color=GREY, linestyle="--", linewidth=0.8)
bars.set_xticks([0, 1], ["finds errors", "finds out-of-distribution rows"])
bare(bars, "Each score fails somewhere", ylabel="ROC-AUC", ylim=(0, 1.25))
bars.legend(ncols=3, frameon=False, loc="upper center")
