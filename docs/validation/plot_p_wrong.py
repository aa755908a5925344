"""
The probability of being wrong
==============================

**Promise.** ``p_wrong`` merges two isotonic fits, one with the new row taken for right and one with
it taken for wrong; the one that guesses its label is calibrated exactly. The error rate of one
cell lies in its interval with probability 1 - delta.

**Assumption.** Labelled and new rows are exchangeable. For the interval also: rows are independent,
and the error rate does not fall as the uncertainty rises.

**Theorem.** Venn-Abers predictors: Vovk and Petej (2014), merged as in Vovk, Petej and Fedorova
(2015). The interval: windows of cells, as Yang and Barber (2019).
"""

import matplotlib.pyplot as plt
import numpy as np
from _checking import BLUE, GREY, VERMILION, exact, judged, mean, picture, rate, runs
from scipy.optimize import isotonic_regression

from vecuq.conformal import wrong_rates

rng = np.random.default_rng(2611)
DELTA, N_CELLS, N_LABELS = 0.1, 12, 300

# %%
# The two fits, made here by SciPy from the labelled rows and the new row: another way to the
# number that vecuq gives.


def two_fits(cells, wrong, new_cell):
    fits = []
    for label in (0.0, 1.0):
        x, y = np.append(cells, new_cell), np.append(wrong, label)
        order = np.argsort(x, kind="stable")
        kinds, start = np.unique(x[order], return_index=True)
        sizes = np.diff(np.append(start, len(x)))
        means = np.add.reduceat(y[order], start) / sizes
        fits.append(
            isotonic_regression(means, weights=sizes).x[np.searchsorted(kinds, new_cell)]
        )
    return fits


def rate_in(cells, *, falls: bool = False):
    return (
        0.02 + 0.4 * ((cells + 0.5) / N_CELLS) ** 2
        if not falls
        else 0.35 - 0.3 * (cells + 0.5) / N_CELLS
    )


def run() -> tuple[float, float, float, float]:
    cells = rng.integers(N_CELLS, size=N_LABELS + 1)
    wrong = (rng.random(N_LABELS + 1) < rate_in(cells)).astype(float)
    right_fit, wrong_fit = two_fits(cells[1:], wrong[1:], cells[0])
    found = wrong_rates(cells[1:], wrong[1:], N_CELLS, DELTA)
    merged = np.clip(
        wrong_fit / (1 - right_fit + wrong_fit), found.lower[cells[0]], found.upper[cells[0]]
    )
    return wrong[0], wrong_fit if wrong[0] else right_fit, found.probability[cells[0]], merged


found = np.array([run() for _ in range(runs(1500))])
label, oracle, given, merged = found.T

# %%
# Calibrated means: in every class of rows with about the same probability, as many are wrong as
# it says. That of the fit that guesses the label holds exactly; the one that is given differs by
# at most the distance between the two fits.

edges = np.quantile(oracle, [1 / 3, 2 / 3])
checks = [exact("p_wrong", "differs from two fits by SciPy", np.abs(given - merged) > 1e-9)]
for k, name in enumerate(("lowest third", "middle third", "highest third")):
    some = np.searchsorted(edges, oracle) == k
    checks.append(
        mean("p_wrong", f"wrong more often than said, {name}", label[some] - oracle[some], 0.0)
    )
    checks.append(
        mean("p_wrong", f"wrong less often than said, {name}", oracle[some] - label[some], 0.0)
    )

# %%
# The interval of one cell, named beforehand; and the same where the error rate falls.


def outside(cell: int, *, falls: bool = False) -> bool:
    cells = rng.integers(N_CELLS, size=N_LABELS)
    wrong = (rng.random(N_LABELS) < rate_in(cells, falls=falls)).astype(float)
    band = wrong_rates(cells, wrong, N_CELLS, DELTA)
    return not band.lower[cell] <= rate_in(cell, falls=falls) <= band.upper[cell]


checks += [
    rate(
        "p_wrong",
        f"cell {cell + 1} outside its interval",
        [outside(cell) for _ in range(runs(400))],
        DELTA,
    )
    for cell in (2, 9)
]
falling = [outside(11, falls=True) for _ in range(runs(400))]
checks.append(
    rate("p_wrong", "error rate falls: last cell outside", falling, DELTA, assumed=False)
)
print(judged(checks))

# %%
# One set of labels: probabilities, intervals and the truth.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4.6), layout="constrained", width_ratios=(1, 1.15)
)
cells = rng.integers(N_CELLS, size=N_LABELS)
band = wrong_rates(cells, (rng.random(N_LABELS) < rate_in(cells)).astype(float), N_CELLS, DELTA)
places = np.arange(N_CELLS) + 1
left.fill_between(
    places,
    band.lower,
    band.upper,
    step="mid",
    color=BLUE,
    alpha=0.2,
    label="interval of a cell",
)
left.step(places, band.probability, where="mid", color=BLUE, label="p_wrong")
left.plot(places, rate_in(places - 1), "o", color=VERMILION, label="truth")
left.set(
    xlabel="cell, from certain to uncertain", ylabel="probability of being wrong", ylim=(0, 0.8)
)
left.legend(frameon=False, loc="upper left")
left.grid(alpha=0.3, color=GREY)
picture(checks, "share of runs, or difference", right)
plt.show()
