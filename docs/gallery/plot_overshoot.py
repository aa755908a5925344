"""
Overshoot
=========

The paper's map saturates: beyond the calibration rows the length of the image hardly grows, and of
two far rows it does not know which is further. Half of the distance beyond the calibration box is
added; inside the box nothing changes.
"""

import numpy as np
from _look import BLUE, GREY, VERMILION, bare, panels

from vecuq import VecUQ
from vecuq.evaluation import roc_auc

rng = np.random.default_rng(5)
rows = 0.5 * rng.gamma(1.0, size=(400, 2)) + rng.gamma(1.0, size=(400, 1))
paper, ours = VecUQ(overshoot=0).fit(rows), VecUQ().fit(rows)

# %%
# One row that moves out along the diagonal.

line, bars = panels(2, width_ratios=(1.1, 1))
times = np.geomspace(0.1, 100, 120)
path = times[:, None] * rows.max(axis=0)
line.plot(times, ours.uncertainty(path), color=BLUE, label="with overshoot (default)")
line.plot(times, paper.uncertainty(path), "--", color=VERMILION, label="without: the paper")
line.axvline(1, color=GREY, linewidth=0.8)
line.text(1.1, 30, "edge of the\ncalibration box", color=GREY)
line.set(xscale="log", yscale="log")
bare(
    line,
    "one row, further and further out",
    xlabel="times the largest calibration row",
    ylabel="uncertainty",
)
line.legend(frameon=False)

# %%
# Two rows that are equally far in one column; in the other, one is further. Which? The share of
# pairs that are put in the right order: 0.5 is a coin.

names, found = ["1 to 10", "10 to 100", "100 to 1e6"], {"without": [], "with": []}
for low, high in ((1, 10), (10, 100), (100, 1e6)):
    second = np.exp(rng.uniform(np.log(low), np.log(high), size=1500)) * rows[:, 1].max()
    pairs = np.column_stack([rng.choice(rows[:, 0], 1500), second])
    further = second > np.median(second)
    found["without"].append(roc_auc(np.round(paper.uncertainty(pairs), 9), further))
    found["with"].append(roc_auc(ours.uncertainty(pairs), further))
for shift, (name, colour, hatch) in zip(
    (-0.2, 0.2), (("without", VERMILION, "//"), ("with", BLUE, "")), strict=True
):
    at = np.arange(3) + shift
    bars.bar(
        at,
        found[name],
        width=0.36,
        color=colour,
        hatch=hatch,
        edgecolor="white",
        label=f"{name} overshoot",
    )
    for left, value in zip(at, found[name], strict=True):
        bars.text(left, value + 0.015, f"{value:.2f}", ha="center")
bars.axhline(0.5, color=GREY, linestyle="--", linewidth=0.8)
bars.set_xticks(range(3), names)
bare(
    bars,
    "far rows in the right order",
    xlabel="times the largest calibration value",
    ylabel="ROC-AUC",
    ylim=(0, 1.25),
)
bars.legend(frameon=False, ncols=2, loc="upper center")
