"""
The order: monotone, the same bits
==================================

**Promise.** Raising one score never lowers the uncertainty, where this is proven from the map. A
row has the same bits alone, in a batch, in any part of a file, and after saving. Contributions and
the baseline add up to the uncertainty.

**Assumption.** For the first: the default grid; ``is_proven_monotone`` says whether the proof goes
through. Bits are promised for one machine and one build of its libraries.

**Proof.** The slope of the squared length is a polynomial with no negative coefficient
(``vecuq/ranker/proof.py``); blocks of equal size in every matrix product.
"""

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from _checking import BLUE, GREY, VERMILION, exact, judged, picture, runs

from vecuq import VecUQ, fit_ranker, load
from vecuq.ranker import is_proven_monotone

rng = np.random.default_rng(2613)

# %%
# Raise one column of a row, by little or by much, near the calibration rows and far away.


def falls(score, n_columns: int):
    rows = rng.gamma(0.7, size=(1000, n_columns)) * np.exp(rng.normal(0, 2, size=(1000, 1)))
    raised = rows.copy()
    raised[np.arange(1000), rng.integers(n_columns, size=1000)] += np.exp(
        rng.normal(-1, 2, size=1000)
    )
    before, after = score(rows), score(raised)
    return after < before - 1e-9 * (1 + before)


def of_model(n_columns: int, *, paper: bool = False):
    rows = rng.gamma(0.7, size=(300, n_columns))
    if paper:
        return falls(VecUQ.paper(grid="authors").fit(rows).uncertainty, n_columns)
    ranker = fit_ranker(rows)
    return (
        falls(ranker.uncertainty, n_columns)
        if is_proven_monotone(ranker)
        else np.empty(0, dtype=bool)
    )


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # independent columns are warned of
    proven = {m: np.concatenate([of_model(m) for _ in range(runs(8))]) for m in (2, 3, 4)}
    latin = np.concatenate([of_model(3, paper=True) for _ in range(runs(4))])
checks = [
    exact("monotone", f"{m} columns: raised, and lower", some) for m, some in proven.items()
]
checks.append(exact("monotone", "Latin hypercube of the paper's code", latin, assumed=False))

# %%
# The same rows alone, in parts, in another order, and by a model that was saved and read.

model = fit_ranker(0.3 * rng.gamma(0.7, size=(400, 3)) + rng.gamma(0.7, size=(400, 1)))
rows = 4 * rng.gamma(0.4, size=(1500, 3))
whole, order = model.uncertainty(rows), rng.permutation(1500)
alone = np.array([model.uncertainty(rows[k : k + 1])[0] for k in range(300)])
parts = np.concatenate([model.uncertainty(part) for part in np.split(rows, [1, 7, 600, 1100])])
with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder) / "model.vecuq")
    again = load(Path(folder) / "model.vecuq").uncertainty(rows)
others = np.concatenate(
    [
        alone != whole[:300],
        parts != whole,
        model.uncertainty(rows[order]) != whole[order],
        again != whole,
    ]
)
checks.append(exact("same_bits", "a bit differs", others))

# %%
# What the score is made of adds up.

summed = model.explain(rows).sum(axis=1) + model.baseline
checks.append(
    exact(
        "contributions",
        "contributions do not add up",
        np.abs(summed - whole) > 1e-9 * (1 + whole),
    )
)

print(judged(checks))

# %%
# One column is raised, the others are fixed: the default, and the paper's code with an exponential
# reference, which falls most. Of 300 such lines, the one with the largest fall.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4.4), layout="constrained", width_ratios=(1, 1.15)
)
calibration = rng.gamma(0.7, size=(300, 3)) + 0.3 * rng.gamma(0.7, size=(300, 1))
models = {
    "default": (VecUQ(overshoot=0).fit(calibration), BLUE, "-"),
    "Latin hypercube": (
        VecUQ.paper(grid="authors", reference="exponential").fit(calibration),
        VERMILION,
        "--",
    ),
}
steps = np.linspace(0, 4 * calibration.max(), 100)
others = 4 * rng.gamma(0.7, size=(300, 2))
lines = np.concatenate([np.column_stack([steps, np.tile(pair, (100, 1))]) for pair in others])
along = models["Latin hypercube"][0].uncertainty(lines).reshape(300, 100)
most = int((np.maximum.accumulate(along, axis=1) - along).max(axis=1).argmax())
for name, (fitted, colour, dashes) in models.items():
    scored = fitted.uncertainty(lines[100 * most : 100 * most + 100])
    left.plot(steps, scored, dashes, color=colour, label=name)
left.set(xlabel="first column; the others are fixed", ylabel="uncertainty, without overshoot")
left.legend(frameon=False)
left.grid(alpha=0.3, color=GREY)
picture(checks, "share of cases in which it fails", right)
plt.show()
