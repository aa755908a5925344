"""
The gate: accepted rows keep their accuracy
===========================================

**Promise.** With probability 1 - delta over the labelled rows, the error rate of accepted rows is
at most what the target allows. It is a statement about one threshold, good for single rows.

**Assumption.** The labelled rows are a random sample of the rows to be decided, independent of
each other (or the groups are), and none of them fitted the model.

**Theorem.** Thresholds are tested from the most certain rows outwards, each by an exact test; the
share of delta moves on with every pass (Wiens and Dmitrienko 2005; Bretz, Maurer, Brannath and
Posch 2009; *Learn then test*, Angelopoulos and others 2021).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from _checking import BLUE, GREY, VERMILION, judged, picture, rate, runs

from vecuq import Gate, fit_ranker
from vecuq.conformal import Ladder, accept_confidently, error_rate_p_values

rng = np.random.default_rng(2607)
ALLOWED, DELTA, N_LABELS = 0.1, 0.1, 400
HOW = {"allowed": ALLOWED, "delta": DELTA}

# %%
# A population whose error rate rises with the score, dips and rises again. It is known as a whole,
# so the error rate of what is accepted is counted exactly, not estimated on a few other rows.

scores = np.sort(rng.random(20_000))
chance = np.clip(0.02 + 0.35 * scores + 0.08 * np.sin(12 * scores), 0, 1)
wrong = rng.random(20_000) < chance
risk = np.append(0.0, np.cumsum(wrong) / np.arange(1, 20_001))
ladder = Ladder.of(rng.random(500))


def true_rate(threshold: float) -> float:
    """Return the error rate of all rows up to a threshold."""
    return risk[np.searchsorted(scores, threshold, side="right")]


def counted(places, failed):
    """Return labelled rows, and wrong ones, up to each threshold."""
    sums = (
        np.bincount(places, weights=kind, minlength=len(ladder.thresholds) + 1)
        for kind in (None, failed)
    )
    return (found.cumsum()[:-1] for found in sums)


def by_gate(drawn) -> float:
    return accept_confidently(scores[drawn], wrong[drawn], ladder, **HOW).threshold


def naive(drawn) -> float:
    """Accept as much as has an error rate of at most 10 % on the labelled rows."""
    n_rows, errors = counted(ladder.places_of(scores[drawn]), wrong[drawn])
    good = np.flatnonzero((n_rows > 0) & (errors <= ALLOWED * n_rows))
    return ladder.thresholds[good[-1]] if len(good) else -np.inf


def rates_of(choose, drawn_by=lambda: rng.integers(20_000, size=N_LABELS)):
    return np.array([true_rate(choose(drawn_by())) for _ in range(runs(1000))])


def reviewed():
    """Draw labels where somebody had fixed half of the wrong answers before."""
    drawn = rng.integers(20_000, size=N_LABELS)
    fixed = wrong[drawn] & (rng.random(N_LABELS) < 0.5)
    return drawn[~fixed]


kept, simple, picked = rates_of(by_gate), rates_of(naive), rates_of(by_gate, reviewed)
checks = [
    rate("gate", "gate, 400 labels", kept > ALLOWED, DELTA),
    rate("gate", "naive threshold", simple > ALLOWED, DELTA, assumed=False),
    rate("gate", "labels not drawn at random", picked > ALLOWED, DELTA, assumed=False),
]

# %%
# The hardest case: at every threshold the error rate is just above what is allowed. Whatever is
# certified is false.


def hardest(*, groups: bool | None) -> bool:
    if groups is None:
        return accept_confidently(
            rng.random(300), rng.random(300) < ALLOWED + 1e-6, ladder, **HOW
        ).certified
    codes = np.repeat(np.arange(100), 6)
    together, where = (rng.random(100) < ALLOWED + 1e-6)[codes], rng.random(100)[codes]
    return accept_confidently(
        where, together, ladder, groups=codes if groups else None, **HOW
    ).certified


def hardest_inwards() -> bool:
    """Start with all rows, and stop at the first threshold that passes an exact test by itself."""
    places, failed = ladder.places_of(rng.random(300)), rng.random(300) < ALLOWED + 1e-6
    n_rows, errors = counted(places, failed)
    return bool((error_rate_p_values(errors, n_rows, ALLOWED) <= DELTA).any())


checks += [
    rate(
        "gate",
        "every threshold just too bad",
        [hardest(groups=None) for _ in range(runs(1500))],
        DELTA,
    ),
    rate(
        "gate",
        "the same, from the widest inwards",
        [hardest_inwards() for _ in range(runs(500))],
        DELTA,
        assumed=False,
    ),
    rate(
        "gate_groups",
        "the same in 100 groups of 6",
        [hardest(groups=True) for _ in range(runs(300))],
        DELTA,
    ),
    rate(
        "gate_groups",
        "groups taken for rows",
        [hardest(groups=False) for _ in range(runs(300))],
        DELTA,
        assumed=False,
    ),
]

# %%
# From end to end: a model of two scores, labels, a gate. And rows of a category that the labels
# never saw, whose answers are wrong more often.

model = fit_ranker(rng.gamma(2.0, size=(400, 2)))
rows = rng.gamma(2.0, size=(20_000, 2))
uncertainty = model.uncertainty(rows)
failed = rng.random(20_000) < np.clip(rows.sum(axis=1) / 40, 0, 1)
unseen = rng.random(20_000) < np.clip(0.08 + rows.sum(axis=1) / 40, 0, 1)


def of_whole_gate() -> tuple[float, float]:
    drawn = rng.integers(20_000, size=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the labels do not suffice
        gate = Gate(model, error=ALLOWED, confidence=1 - DELTA).fit(rows[drawn], ~failed[drawn])
    accepted = uncertainty <= gate.threshold_
    return failed[accepted].mean() if accepted.any() else 0.0, unseen[
        accepted
    ].mean() if accepted.any() else 0.0


whole = np.array([of_whole_gate() for _ in range(runs(100))])
checks += [
    rate("gate", "model, labels, gate", whole[:, 0] > ALLOWED, DELTA),
    rate("gate", "an unseen category", whole[:, 1] > ALLOWED, DELTA, assumed=False),
]
print(judged(checks))

# %%
# The naive threshold is right on average, and so wrong half of the time.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4.4), layout="constrained", width_ratios=(1, 1.15)
)
bins = np.linspace(0.04, 0.15, 45)
left.hist(simple, bins, color=VERMILION, alpha=0.4, hatch="//", label="naive threshold")
left.hist(kept[kept > 0], bins, color=BLUE, alpha=0.55, label="gate")
left.axvline(ALLOWED, color=GREY, linestyle="--", label="allowed")
left.set(xlabel="true error rate of accepted rows", ylabel=f"draws of {N_LABELS} labels")
left.legend(frameon=False)
picture(checks, "share of draws in which the promise breaks", right)
plt.show()
