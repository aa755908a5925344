"""
What a p-value promises
=======================

A p-value says how unusual a row is among in-distribution rows. It is right on average over
calibration sets, it varies from one set to the next, and it is not the probability of being wrong.
"""

import numpy as np
from _look import AMBER, BLUE, GREEN, GREY, VERMILION, bare, panels
from scipy.stats import beta

from vecuq import VecUQ
from vecuq.data import load_demo

rng = np.random.default_rng(6)
axes = panels(3, width=11, height=3.5)

# %%
# On average: in-distribution rows have p-values that are spread evenly, so that at alpha a share of
# about alpha is flagged. Out-of-distribution rows have small ones.

calibration, new = load_demo()
model = VecUQ().fit(calibration)
p, strange = model.p_values(new), np.asarray(new["is_ood"]) == 1
bins = np.linspace(0, 1, 21)
axes[0].hist(p[~strange], bins, color=BLUE, alpha=0.6, density=True, label="in-distribution")
axes[0].hist(
    p[strange],
    bins,
    color=VERMILION,
    histtype="step",
    hatch="//",
    density=True,
    label="out-of-distribution",
)
axes[0].axhline(1, color=GREY, linestyle="--", linewidth=0.8)
bare(axes[0], "the bundled digits", xlabel="p-value", ylabel="density")
axes[0].legend(frameon=False)

# %%
# One set: with so many held-back rows, the rate at alpha 0.05 lies in this range. The teeth are
# where alpha (n + 1) reaches the next whole number.

counts = np.unique(np.geomspace(20, 5000, 60).astype(int))
k = np.floor(0.05 * (counts + 1))
for level, shade in ((0.9, 0.25), (0.5, 0.45)):
    ends = (beta.ppf(share, k, counts + 1 - k) for share in ((1 - level) / 2, (1 + level) / 2))
    axes[1].fill_between(
        counts, *ends, color=AMBER, alpha=shade, label=f"{level:.0%} of calibration sets"
    )
axes[1].axhline(0.05, color=GREY, linestyle="--", linewidth=0.8, label="alpha = 0.05")
axes[1].set(xscale="log", ylim=(0, 0.15))
bare(axes[1], "one calibration set", xlabel="held-back rows", ylabel="false-alarm rate")
axes[1].legend(frameon=False)

# %%
# Not the probability of being wrong: the share of wrong rows falls where p rises, and no p-value
# says how large it is. In-distribution rows only.

wrong = (np.asarray(new["is_error"]) == 1)[~strange]
order = np.argsort(p[~strange])
parts = np.array_split(order, 8)
middles = [np.median(p[~strange][part]) for part in parts]
axes[2].plot(
    middles,
    [wrong[part].mean() for part in parts],
    "o-",
    color=GREEN,
    label="share that is wrong",
)
axes[2].plot([0, 1], [0, 1], color=GREY, linestyle=":", label="if it were that probability")
bare(
    axes[2],
    "not the probability of an error",
    xlabel="p-value (median of an eighth)",
    ylabel="share of wrong rows",
)
axes[2].legend(frameon=False)
