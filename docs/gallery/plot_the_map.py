"""
What the map does, in steps
===========================

Calibration rows are scaled, anchors are added, and both are sent to a grid of points that fills the
unit square evenly. Where a row is sent is its rank image; how long that is, its uncertainty.
"""

import numpy as np
from _look import AMBER, BLUE, GREEN, GREY, VERMILION, bare, panels

from vecuq import fit_ranker

rng = np.random.default_rng(3)
together = rng.gamma(1.0, size=(300, 1))
rows = (0.5 * rng.gamma(1.0, size=(300, 2)) + together) * [1.0, 40.0]
model = fit_ranker(rows)
steps = panels(2, 2, height=7.8)
some = rows[:120]
new = np.array([np.median(rows, axis=0) * [0.4, 2.5]])

# %%
# 1. Rows as they come: two scores in different units.

ax = steps[0]
ax.scatter(*some.T, s=12, color=BLUE, label="calibration rows")
ax.scatter(*new.T, s=90, marker="*", color=VERMILION, label="a new row", zorder=3)
bare(ax, "1  rows: two scores, two units", xlabel="entropy", ylabel="distance")
ax.legend(frameon=False, loc="lower right")

# %%
# 2. Each column is scaled to [0, 1]. Anchors are put at the corners of a box five times as large.

ax = steps[1]
scaled, moved = model.scaler.transform(some), model.scaler.transform(new)
ax.scatter(*scaled.T, s=8, color=BLUE)
ax.scatter(*moved.T, s=90, marker="*", color=VERMILION, zorder=3)
gamma = model.settings.anchors
corners = np.array([(gamma, 0), (0, gamma), (gamma, gamma)])
ax.scatter(*corners.T, s=70, marker="s", color=AMBER)
ax.text(4.75, 4.55, "three anchors", color=AMBER, ha="right")
ax.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color=GREY, linewidth=1)
ax.annotate(
    "calibration box",
    (1, 0.5),
    (1.6, 0.9),
    arrowprops={"arrowstyle": "-", "color": GREY},
    color=GREY,
)
bare(
    ax,
    "2  scaled to [0, 1]; anchors far out",
    xlabel="entropy, scaled",
    ylabel="distance, scaled",
)

# %%
# 3. Transport: each row is sent to a weighted mean of the targets. Lines show where rows go.

ax = steps[2]
targets = np.stack(np.meshgrid(*model.rank_map.axes), axis=-1).reshape(-1, 2)
images, image = model.rank_map(scaled), model.rank_map(moved)
ax.scatter(*targets.T, s=5, color=GREY, alpha=0.6, label="targets: an even grid")
for start, end in zip(scaled[:60], images[:60], strict=True):
    ax.annotate(
        "",
        end,
        start,
        arrowprops={"arrowstyle": "->", "color": BLUE, "alpha": 0.35, "linewidth": 0.8},
    )
ax.scatter(*images.T, s=12, color=BLUE, label="rank images")
ax.annotate("", image[0], moved[0], arrowprops={"arrowstyle": "->", "color": VERMILION})
ax.annotate(
    "", image[0], (0, 0), arrowprops={"arrowstyle": "<->", "color": GREEN, "linewidth": 2}
)
ax.text(
    0.04, 0.86, "uncertainty of the new row:\nthis length", color=GREEN, backgroundcolor="white"
)
ax.annotate(
    "",
    image[0] * 0.75,
    (0.2, 0.85),
    arrowprops={"arrowstyle": "-", "color": GREEN, "linewidth": 0.8},
)
ax.scatter(*image.T, s=90, marker="*", color=VERMILION, zorder=3)
bare(ax, "3  transport to the grid", xlim=(0, 1.02), ylim=(0, 1.02))
ax.legend(frameon=True, framealpha=0.95, loc="lower right")

# %%
# 4. Back in the scores: rows on one line are equally uncertain.

ax = steps[3]
grid = np.meshgrid(*(np.linspace(0, 1.1 * rows[:, k].max(), 90) for k in (0, 1)))
level = model.uncertainty(np.column_stack([part.ravel() for part in grid])).reshape(
    grid[0].shape
)
lines = ax.contour(*grid, level, levels=8, colors=GREY, linewidths=0.9)
ax.clabel(lines, fontsize=7)
ax.scatter(*some.T, s=10, color=BLUE, alpha=0.7)
ax.scatter(*new.T, s=90, marker="*", color=VERMILION, zorder=3)
ax.contour(*grid, level, levels=[model.threshold(0.05)], colors=VERMILION, linewidths=2)
bare(
    ax, "4  level lines; red: the threshold at alpha 0.05", xlabel="entropy", ylabel="distance"
)
