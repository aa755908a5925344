"""
Anchors
=======

Anchors are artificial rows far out. They pull the outer targets to themselves, so that calibration
rows are sent further inwards, and there is room for rows that are more uncertain than all of them.
"""

import numpy as np
from _look import AMBER, BLUE, GREY, VERMILION, bare, panels

from vecuq import VecUQ

rng = np.random.default_rng(4)
rows = 0.5 * rng.gamma(1.0, size=(12, 2)) + rng.gamma(1.0, size=(12, 1))
far = rows.max(axis=0) * np.linspace(1.2, 4, 12)[:, None]

# %%
# Twelve calibration rows, to make the effect large: three anchors then have a fifth of the mass.
# With hundreds of rows and two columns they change little.

axes = panels(3, height=3.5)
for ax, (name, anchors) in zip(
    axes, (("no anchors", 0), ("three anchors, a fifth of the mass", 5)), strict=False
):
    model = VecUQ(holdback=0, overshoot=0, anchors=anchors).fit(rows).ranker_
    for some, colour, mark, label in (
        (rows, BLUE, "o", "calibration rows"),
        (far, VERMILION, "^", "rows further out"),
    ):
        ax.scatter(
            *model.rank_map(model.scaler.transform(some)).T,
            s=24,
            color=colour,
            marker=mark,
            label=label,
        )
    ax.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color=GREY, linewidth=0.8)
    ax.set_aspect("equal")
    bare(
        ax,
        name,
        xlim=(0, 1.02),
        ylim=(0, 1.02),
        xlabel="rank image, first column",
        ylabel="second column",
    )
axes[0].legend(frameon=False, loc="lower right")

# %%
# The price: there are 2^m - 1 anchors for m columns, each with the mass of one row. With many
# columns and few rows they outweigh the rows. vecuq warns above a fifth.

columns = np.arange(1, 11)
for n_rows, colour, mark in (
    (50, VERMILION, "^"),
    (200, AMBER, "s"),
    (1000, BLUE, "o"),
    (10_000, GREY, "x"),
):
    share = (2.0**columns - 1) / (n_rows + 2.0**columns - 1)
    axes[2].plot(
        columns,
        share,
        marker=mark,
        markersize=4,
        color=colour,
        label=f"{n_rows:,} rows in the map",
    )
axes[2].axhline(0.2, color=GREY, linestyle="--", linewidth=0.8)
axes[2].text(1, 0.23, "vecuq warns", color=GREY)
bare(axes[2], "what anchors weigh", xlabel="columns", ylabel="share of the mass", ylim=(0, 1))
axes[2].legend(frameon=False, loc="upper left", fontsize=8)
