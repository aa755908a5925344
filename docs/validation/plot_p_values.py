"""
P-values and flags
==================

**Promise.** For an in-distribution row, P(p <= alpha) <= alpha, on average over calibration sets.

**Assumption.** The new row and the held-back rows are exchangeable, and none of them fitted the
score.

**Theorem.** The rank of one of n + 1 exchangeable numbers is uniform: Vovk, Gammerman and Shafer
(2005). Cross-conformal p-values promise about twice as much: Vovk and Wang (2020).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from _checking import BLUE, GREY, VERMILION, exact, judged, law, mean, picture, rate, runs

from vecuq import fit_ranker
from vecuq.conformal import conformal_p_values, cross_p_values, flagged, threshold_at

rng = np.random.default_rng(2601)
ALPHA, N_HELD = 0.05, 99

# %%
# One new row for each calibration set, so that the runs are independent and the limit is exact.
# Ties count against the row; broken at random, p-values are exactly uniform.


def p_of(calibration, new, draws=None):
    return conformal_p_values(np.array([new]), np.sort(calibration), draws)[0]


smooth = rng.normal(size=(runs(3000), N_HELD + 1))
tied = np.round(rng.gamma(1.0, size=(runs(3000), N_HELD + 1)), 1)
p_smooth = np.array([p_of(row[1:], row[0]) for row in smooth])
p_tied = np.array([p_of(row[1:], row[0]) for row in tied])
p_random = np.array([p_of(row[1:], row[0], rng.random(1)) for row in tied])
p_drifted = np.array([p_of(row[1:], row[0] + 1.0) for row in smooth])
# Uniform on 1/100, ..., 1; a draw within each step makes them uniform on (0, 1).
spread_out = p_random - rng.random(len(p_random)) / (N_HELD + 1)

checks = [
    rate("p_values", "smooth scores", flagged(p_smooth, ALPHA), ALPHA),
    rate("p_values", "scores with many ties", flagged(p_tied, ALPHA), ALPHA),
    law("p_values", "ties broken at random: law", spread_out, lambda x: x),
    rate("p_values", "row shifted by one sd", flagged(p_drifted, ALPHA), ALPHA, assumed=False),
]

# %%
# A threshold says the same as p-values, for every score.

thresholds_differ = [
    (
        flagged(conformal_p_values(new, calibration), ALPHA)
        != (new > threshold_at(calibration, ALPHA))
    )
    for calibration, new in ((np.sort(row[:N_HELD]), row) for row in tied[:100])
]
checks.append(exact("p_values", "threshold and p-value disagree", thresholds_differ))

# %%
# The whole model: 40 rows of four columns fit the map, 40 are held back.


def share_flagged() -> float:
    model = fit_ranker(rng.gamma(0.3, size=(80, 4)))
    return float(model.flag(rng.gamma(0.3, size=(200, 4)), ALPHA).mean())


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # so few rows are warned of
    by_model = [share_flagged() for _ in range(runs(120))]
checks.append(mean("p_values", "fitted model, 40 held-back rows", by_model, ALPHA))

# %%
# A score that adapts to its rows shows how much held-back rows matter: the distance to the mean
# in eight dimensions, fitted to 30 rows, compared with those same rows.


def distances(fitted, rows):
    centre, spread = fitted.mean(axis=0), np.linalg.inv(np.cov(fitted.T))
    moved = rows - centre
    return np.einsum("ij,jk,ik->i", moved, spread, moved)


def of_distances(kind: str) -> float:
    rows, new = rng.normal(size=(60, 8)), rng.normal(size=(1, 8))
    if kind == "reused":
        return p_of(distances(rows[:30], rows[:30]), distances(rows[:30], new)[0])
    if kind == "held back":
        return p_of(distances(rows[:30], rows[30:]), distances(rows[:30], new)[0])
    folds = np.arange(60) % 5
    by_fold = [
        conformal_p_values(
            distances(rows[folds != k], new),
            np.sort(distances(rows[folds != k], rows[folds == k])),
        )
        for k in range(5)
    ]
    return cross_p_values(by_fold, [12] * 5)[0]


held_back, reused, crossed = (
    np.array([of_distances(kind) for _ in range(runs(1000))])
    for kind in ("held back", "reused", "crossed")
)
doubled = 2 * ALPHA + 2 * (1 - ALPHA) * 4 / (60 + 5)
checks += [
    rate("p_values", "distance, 30 rows held back", flagged(held_back, ALPHA), ALPHA),
    rate("p_values", "distance, rows reused", flagged(reused, ALPHA), ALPHA, assumed=False),
    rate("cross", "distance, held back in five folds", flagged(crossed, ALPHA), doubled),
]

# %%
# Rows with missing values are compared with held-back rows that lack the same columns. Where a
# value is missing *because* it is large, the rows that lack it are unlike the held-back ones.


def incomplete(depends: bool) -> float:
    together = rng.gamma(1.0, size=(900, 1))
    rows = 0.2 * rng.gamma(1.0, size=(900, 3)) + together
    model, new = fit_ranker(rows[:200]), rows[200:].copy()
    lacks = new[:, 0] > 1.5 if depends else rng.random(700) < 0.3
    new[lacks, 0] = np.nan
    return float(flagged(model.p_values(new[lacks], missing="marginal"), ALPHA).mean())


checks += [
    mean(
        "missing",
        "values missing at random",
        [incomplete(depends=False) for _ in range(runs(60))],
        ALPHA,
    ),
    mean(
        "missing",
        "missing where large",
        [incomplete(True) for _ in range(runs(60))],
        ALPHA,
        assumed=False,
    ),
]
print(judged(checks))

# %%
# In the first picture a line at or below the diagonal keeps the promise at every alpha.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4.8), layout="constrained", width_ratios=(1, 1.15)
)
grid = np.linspace(0, 0.3, 61)
for values, colour, dashes, name in (
    (p_smooth, BLUE, "-", "held back"),
    (p_tied, BLUE, ":", "held back, with ties"),
    (reused, VERMILION, "--", "rows that fitted the score"),
):
    left.plot(
        grid,
        [flagged(values, alpha).mean() for alpha in grid],
        dashes,
        color=colour,
        label=name,
    )
left.plot(grid, grid, color=GREY, linewidth=0.8, label="promise")
left.set(
    xlabel="alpha", ylabel="share of in-distribution rows flagged", xlim=(0, 0.3), ylim=(0, 0.6)
)
left.legend(frameon=False)
picture(checks, "share flagged, or distance", right)
plt.show()
