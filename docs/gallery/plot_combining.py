"""
What combining gives
====================

Figures of 1.26 million labelled rows: six families of real score vectors, 184 data sets. The data
are not bundled; these are their means, from the page "When it helps, and when not".
"""

import numpy as np
from _look import AMBER, BLUE, GREEN, GREY, VERMILION, bare, panels

# %%
# Finding errors, ROC-AUC, mean of six families. Columns were named best and worst afterwards.

ORDERS = {
    "best column (known afterwards)": 0.736,
    "min-max sum": 0.710,
    "paper": 0.709,
    "vecuq, defaults": 0.709,
    "z-sum": 0.707,
    "mean rank": 0.705,
    "Fisher": 0.705,
    "Gaussian copula": 0.689,
    "worst column": 0.559,
}

# %%
# Labels that weigh the columns: ROC-AUC gained over no labels, mean of four families (decision 40).

LABELS = (50, 100, 200, 500)
SHRUNK = (0.0004, 0.0019, 0.0038, 0.0083)
PLAIN = (-0.0387, -0.0191, -0.0011, 0.0085)

# %%
# The same 500 labels spent on a certificate of 90 % accuracy: the share of rows that is accepted
# (benchmarks/GATES.md). Of the reasoning traces no order certifies any, and even the best threshold
# would accept none.

COVERAGE = {  # best column, vecuq, min-max sum, worst column
    "multiple choice": (0.349, 0.369, 0.367, 0.180),
    "vision-language": (0.535, 0.511, 0.516, 0.198),
    "reasoning": (0.0, 0.0, 0.0, 0.0),
}

left, middle, right = panels(3, width=12.4, height=3.9, width_ratios=(1.35, 0.8, 1.25))
places = np.arange(len(ORDERS))[::-1]
colours = [AMBER if "column" in name else GREEN if "vecuq" in name else GREY for name in ORDERS]
left.barh(places, list(ORDERS.values()), color=colours, height=0.7)
for place, value in zip(places, ORDERS.values(), strict=True):
    left.text(value + 0.003, place, f"{value:.3f}", va="center")
left.set_yticks(places, list(ORDERS))
bare(
    left, "without labels: finding errors", xlabel="ROC-AUC (starts at 0.5)", xlim=(0.5, 0.785)
)

at = np.arange(len(LABELS))
middle.axhline(0, color=GREY, linewidth=0.8)
middle.plot(at, SHRUNK, "o-", color=BLUE, label="learn_weights")
middle.plot(at, PLAIN, "x--", color=VERMILION, label="plain logistic")
middle.set_xticks(at, [str(n) for n in LABELS])
bare(
    middle,
    "labels that weigh columns",
    xlabel="labels",
    ylabel="ROC-AUC gained",
    ylim=(-0.045, 0.02),
)
middle.legend(frameon=False, loc="lower right")

names = (
    ("best column", AMBER, ""),
    ("vecuq", GREEN, ".."),
    ("min-max sum", GREY, ""),
    ("worst column", VERMILION, "//"),
)
for k, (name, colour, hatch) in enumerate(names):
    shown = [COVERAGE[family][k] for family in COVERAGE]
    where = np.arange(3) + 0.2 * (k - 1.5)
    right.bar(
        where, shown, width=0.18, color=colour, hatch=hatch, edgecolor="white", label=name
    )
    for x, value in zip(where, shown, strict=True):
        right.text(
            x,
            value + 0.006,
            f"{value:.2f}".lstrip("0") if value else "0",
            ha="center",
            fontsize=8,
        )
right.set_xticks(range(3), [name.replace(" ", "\n").replace("-", "-\n") for name in COVERAGE])
bare(
    right,
    "500 labels that certify 90 % accuracy",
    ylabel="share of rows accepted",
    ylim=(0, 0.62),
)
right.legend(frameon=False, fontsize=8)
