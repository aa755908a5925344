"""
One calibration set: the Beta law, and flags with confidence
============================================================

**Promise.** The rate at which one calibration set of n held-back rows flags in-distribution rows
has the law Beta(k, n + 1 - k), k = floor(alpha (n + 1)). With ``confidence=0.9``, nine of ten
calibration sets flag at most a share alpha, now and later.

**Assumption.** Held-back rows are independent draws of one law, and so are new rows. With
``groups``, the groups are.

**Theorem.** Vovk (2012), proposition 2; for groups Hoeffding (1963) and Bentkus (2004).
"""

import matplotlib.pyplot as plt
import numpy as np
from _checking import AMBER, BLUE, GREEN, VERMILION, judged, law, picture, rate, runs
from scipy.stats import beta, norm

from vecuq.conformal import (
    HeldScores,
    group_weights,
    held_for_confidence,
    rate_interval,
    rate_with_confidence,
    threshold_at,
)

rng = np.random.default_rng(2602)
ALPHA, CONFIDENCE, N_HELD = 0.05, 0.9, 200

# %%
# Scores are uniform, so the rate of a calibration set is known exactly: one minus its threshold.


def rates(alpha: float, n_held: int, n_sets: int):
    held = np.sort(rng.random((n_sets, n_held)), axis=1)
    return 1.0 - np.array([threshold_at(one, alpha) for one in held])


on_average = rates(ALPHA, N_HELD, runs(3000))
confident = rates(rate_with_confidence(ALPHA, CONFIDENCE, N_HELD), N_HELD, runs(3000))
few = held_for_confidence(ALPHA, CONFIDENCE)  # the fewest rows with which this can be promised
fewest = rates(rate_with_confidence(ALPHA, CONFIDENCE, few), few, runs(3000))
k = int(ALPHA * (N_HELD + 1))
low, high = rate_interval(ALPHA, N_HELD, level=0.9)
chance = 1 - CONFIDENCE
checks = [
    law("beta", "law of the rate, 200 rows", on_average, beta(k, N_HELD + 1 - k).cdf),
    rate(
        "beta", "rate outside its 90 % interval", (on_average < low) | (on_average > high), 0.1
    ),
    rate("confidence", "200 rows, confidence 0.9", confident > ALPHA, chance),
    rate("confidence", f"{few} rows, confidence 0.9", fewest > ALPHA, chance),
    rate(
        "confidence", "200 rows, without confidence", on_average > ALPHA, chance, assumed=False
    ),
]

# %%
# Groups of rows: 60 groups of 1 to 20 rows that share 80 % of their variance. A new row is any row
# of a new group, whose score is standard normal, so the rate is known exactly again.

N_GROUPS = 60


def rate_of_groups(*, by_group: bool) -> float:
    codes = np.repeat(np.arange(N_GROUPS), rng.integers(1, 21, size=N_GROUPS))
    scores = np.sqrt(0.8) * rng.normal(size=N_GROUPS)[codes] + np.sqrt(0.2) * rng.normal(
        size=len(codes)
    )
    order = np.argsort(scores)
    held = HeldScores(scores[order], group_weights(codes)[order] if by_group else None)
    return float(norm.sf(held.threshold(held.rate(0.1, CONFIDENCE))))


by_group = np.array([rate_of_groups(by_group=True) for _ in range(runs(1000))])
by_row = np.array([rate_of_groups(by_group=False) for _ in range(runs(1000))])
checks += [
    rate("confidence", "60 groups, counted as groups", by_group > 0.1, chance),
    rate("confidence", "60 groups, counted as rows", by_row > 0.1, chance, assumed=False),
]
print(judged(checks))

# %%
# Without a confidence, the rate is right on average, and nearly half of all sets flag more.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4), layout="constrained", width_ratios=(1, 1.15)
)
bins = np.linspace(0, 0.12, 49)
left.hist(on_average, bins, color=AMBER, alpha=0.45, density=True, label="alpha = 0.05")
left.hist(
    confident,
    bins,
    color=GREEN,
    histtype="step",
    linewidth=2,
    density=True,
    label="with confidence 0.9",
)
left.plot(
    bins, beta(k, N_HELD + 1 - k).pdf(bins), color=BLUE, label=f"Beta({k}, {N_HELD + 1 - k})"
)
left.axvline(ALPHA, color=VERMILION, linestyle="--", label="alpha")
left.set(xlabel="false-alarm rate of one calibration set", ylabel="density", xlim=(0, 0.12))
left.legend(frameon=False)
picture(checks, "share of calibration sets, or distance", right)
plt.show()
