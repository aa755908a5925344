"""
Groups: sessions, documents, patients
=====================================

**Promise.** P(p <= alpha) <= alpha for a row of a new group, whatever happens within groups.

**Assumption.** The new group and the K held-back groups are exchangeable, and so are the rows
within each group.

**Theorem.** Hierarchical conformal prediction: Lee, Barber and Willett (2023).
"""

import matplotlib.pyplot as plt
import numpy as np
from _checking import BLUE, GREY, VERMILION, exact, judged, mean, picture, rate, runs

from vecuq import fit_ranker
from vecuq.conformal import (
    conformal_p_values,
    flagged,
    group_weights,
    grouped_p_values,
    grouped_threshold,
    tail_weights,
)

rng = np.random.default_rng(2603)
ALPHA = 0.05

# %%
# Groups of 1 to 20 rows. Rows of one group share a part of their variance, and long groups are
# more uncertain: the length of a group may say anything about its rows.


def drawn(n_groups: int, alike: float):
    sizes = rng.integers(1, 21, size=n_groups)
    codes = np.repeat(np.arange(n_groups), sizes)
    level = np.sqrt(alike) * rng.normal(size=n_groups) + 0.05 * sizes
    return level[codes] + np.sqrt(1 - alike) * rng.normal(size=len(codes)), codes


def p_pair(n_groups: int, alike: float) -> tuple[float, float]:
    """Return the p-value of one row of a new group: by groups, and by rows."""
    scores, codes = drawn(n_groups + 1, alike)
    last = codes == n_groups
    new, held, names = scores[last][:1], scores[~last], codes[~last]
    order = np.argsort(held)
    tails = tail_weights(group_weights(names)[order])
    return grouped_p_values(new, held[order], tails)[0], conformal_p_values(new, held[order])[0]


checks, pairs = [], {}  # alpha 0.05 here, 0.01 where groups are not given
for n_groups, alike in ((39, 0.0), (39, 0.8), (39, 0.99), (199, 0.8)):
    pairs[n_groups, alike] = found = np.array(
        [p_pair(n_groups, alike) for _ in range(runs(1000))]
    )
    checks.append(
        rate(
            "groups", f"{n_groups} groups, alike {alike:g}", flagged(found[:, 0], ALPHA), ALPHA
        )
    )

# %%
# Groups taken for rows: 200 rows seem to allow an alpha of 0.01, and 20 groups do not.


def ignoring(size: int) -> float:
    held = np.sort(np.repeat(rng.normal(size=20), size) + 0.1 * rng.normal(size=20 * size))
    return conformal_p_values(rng.normal(size=1) * np.sqrt(1.01), held)[0]


ignored = np.array([ignoring(10) for _ in range(runs(1000))])
checks.append(
    rate(
        "groups", "20 groups of 10, taken for rows", flagged(ignored, 0.01), 0.01, assumed=False
    )
)

# %%
# The whole model, with ``groups=``; the threshold says the same as the p-values.


def of_model(n_groups: int, alpha: float, *, groups: bool) -> tuple[float, bool]:
    names = np.repeat(np.arange(n_groups), 10)
    mixed = np.array([[1.0, 0.6], [0.0, 0.8]])  # two scores that rise together
    rows = np.exp(
        (rng.normal(size=(n_groups, 2))[names] + 0.1 * rng.normal(size=(len(names), 2))) @ mixed
    )
    new = np.exp(np.sqrt(1.01) * rng.normal(size=(200, 2)) @ mixed)
    model = fit_ranker(rows, groups=names if groups else None)
    flags = model.flag(new, alpha)
    return float(flags.mean()), bool(
        (flags != (model.uncertainty(new) > model.threshold(alpha))).any()
    )


found = np.array([of_model(60, ALPHA, groups=True) for _ in range(runs(100))])
without = np.array([of_model(20, 0.01, groups=False) for _ in range(runs(100))])
codes = np.repeat(np.arange(30), 3)
tails, held = tail_weights(group_weights(codes)), np.sort(rng.normal(size=90))
new = rng.normal(size=2000)
differ = flagged(grouped_p_values(new, held, tails), 0.1) != (
    new > grouped_threshold(held, tails, 0.1)
)
checks += [
    mean("groups", "fitted model, 30 held-back groups", found[:, 0], ALPHA),
    mean("groups", "fitted model, groups not given", without[:, 0], 0.01, assumed=False),
    exact("groups", "threshold and p-value disagree", np.append(found[:, 1] > 0, differ)),
]
print(judged(checks))

# %%
# A calibration set of sessions has as many independent parts as it has sessions. Taken for rows,
# its p-values promise a precision that is not there.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4.2), layout="constrained", width_ratios=(1, 1.15)
)
grid = np.linspace(0, 0.3, 61)
left.plot(
    grid,
    [flagged(pairs[39, 0.99][:, 0], a).mean() for a in grid],
    color=BLUE,
    label="by groups",
)
left.plot(
    grid,
    [flagged(ignored, a).mean() for a in grid],
    "--",
    color=VERMILION,
    label="taken for rows",
)
left.plot(grid, grid, color=GREY, linewidth=0.8, label="promise")
left.set(
    xlabel="alpha", ylabel="share of rows of new groups flagged", xlim=(0, 0.3), ylim=(0, 0.4)
)
left.legend(frameon=False)
picture(checks, "share flagged", right)
plt.show()
