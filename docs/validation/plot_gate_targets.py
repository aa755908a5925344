"""
The gate's other targets
========================

**Promise.** As for the accuracy: with probability 1 - delta, accepted rows keep a mean quality,
the flag finds a share of the wrong rows, a share of what it flags is wrong, costs stay below
their bound, each category keeps its target, or all of them do.

**Assumption.** Labelled rows are a random sample of the rows to be decided.

**Theorem.** The walk of :doc:`the gate <plot_gate>`, over exact tests or bets; bounds that share
delta among all thresholds (Bonferroni); sample splitting where labels choose the order.
"""

import warnings

import numpy as np
from _checking import judged, picture, rate, runs

from vecuq import Gate, fit_ranker
from vecuq.conformal import Ladder, missed_p_values, walk_outwards

rng = np.random.default_rng(2608)
DELTA, N = 0.1, 10_000
warnings.simplefilter(
    "ignore"
)  # where labels do not suffice, the gate warns and accepts nothing

# %%
# A population that is known as a whole, and a model that scores it.

model = fit_ranker(rng.gamma(2.0, size=(400, 2)))
rows = rng.gamma(2.0, size=(N, 2))
score = model.uncertainty(rows)
wrong = rng.random(N) < np.clip(rows.sum(axis=1) / 25, 0, 1)
quality = np.clip(1.0 - rng.beta(1, 8, N) * rows.sum(axis=1) / 2, 0, 1)
category = np.where(rng.random(N) < 0.5, "easy", "hard")
harder = rng.random(N) < np.clip((rows.sum(axis=1) + 2.0 * (category == "hard")) / 35, 0, 1)


def fitted(labels, *, by=None, simultaneous=False, n_labels=400, **target):
    drawn = rng.integers(N, size=n_labels)
    chosen = {} if by is None else {"by": by[drawn], "simultaneous": simultaneous}
    return Gate(model, confidence=1 - DELTA, **target).fit(rows[drawn], labels[drawn], **chosen)


def broken(times, measured, labels, **target):
    """Return in which runs what was measured on all rows breaks the target."""
    return [measured(fitted(labels, **target)) for _ in range(runs(times))]


def accepted(gate):
    return score <= (-np.inf if gate.threshold_ is None else gate.threshold_)


# %%
# Each target, counted on all 10,000 rows. A gate that certifies nothing promises nothing.


def low_quality(gate) -> bool:
    return gate.certified_ and quality[accepted(gate)].mean() < 0.8


def low_recall(gate) -> bool:
    return gate.certified_ and (wrong & ~accepted(gate)).sum() / wrong.sum() < 0.8


def low_precision(gate) -> bool:
    return gate.certified_ and wrong[~accepted(gate)].mean() < 0.3


def too_dear(gate) -> bool:
    cost = 10.0 * (wrong & accepted(gate)).mean() + 1.0 * (~accepted(gate)).mean()
    return cost > gate.certificate().cost_bound


def bound_fails(gate) -> bool:
    return accepted(gate).any() and wrong[accepted(gate)].mean() > gate.bound_


right = ~wrong
checks = [
    rate("quality", "mean quality 0.8", broken(30, low_quality, quality, quality=0.8), DELTA),
    rate(
        "flag_targets",
        "recall 0.8 of the flag",
        broken(30, low_recall, right, flag_recall=0.8),
        DELTA,
    ),
    rate(
        "flag_targets",
        "precision 0.3 of the flag",
        broken(30, low_precision, right, flag_precision=0.3),
        DELTA,
    ),
    rate(
        "costs",
        "costs 10 and 1",
        broken(30, too_dear, right, cost_wrong=10.0, cost_review=1.0),
        DELTA,
    ),
    rate(
        "costs",
        "budget 0.3: bound on errors",
        broken(30, bound_fails, right, budget=0.3),
        DELTA,
    ),
]

# %%
# The share of wrong rows that a flag misses, by labels alone: quick, so with many more draws.

ladder = Ladder.of(rng.random(500))
truth = np.sort(rng.random(50_000) ** 0.6)  # scores of wrong rows


def misses_too_many() -> bool:
    labelled, failed = rng.random(400), rng.random(400) < 0.2
    labelled[failed] = truth[rng.integers(50_000, size=failed.sum())]
    p = missed_p_values(labelled, failed, ladder, allowed=0.2, delta=DELTA)
    last = walk_outwards(p, DELTA * (np.arange(len(p)) == 0)).last
    return last >= 0 and np.searchsorted(
        truth, ladder.thresholds[last], side="right"
    ) > 0.2 * len(truth)


checks.append(
    rate(
        "flag_targets",
        "recall 0.8, by labels alone",
        [misses_too_many() for _ in range(runs(1000))],
        DELTA,
    )
)

# %%
# Categories: each certificate by itself, all of them together, and one certificate for everything,
# which says nothing of a category.


def breaks_by_category(gate):
    """Return whether each category is wrong more often than the certificate says."""
    limits = {
        name: rule.threshold
        for rule in gate.rules_
        for name in ([rule.unit] if rule.unit else ["easy", "hard"])
    }
    taken = score <= np.where(category == "easy", limits["easy"], limits["hard"])
    rates = [harder[taken & (category == name)] for name in ("easy", "hard")]
    return [len(some) > 0 and some.mean() > 0.15 for some in rates]


def of_categories(times: int, *, by: bool = True, simultaneous: bool = False):
    how = {"by": category if by else None, "simultaneous": simultaneous, "n_labels": 900}
    return np.array(
        [breaks_by_category(fitted(~harder, error=0.15, **how)) for _ in range(runs(times))]
    )


alone, together, pooled = (
    of_categories(30),
    of_categories(30, simultaneous=True),
    of_categories(24, by=False),
)
checks += [
    rate("categories", "hard category, by itself", alone[:, 1], DELTA),
    rate("categories", "any category, simultaneous", together.any(axis=1), DELTA),
    rate("categories", "hard category, one certificate", pooled[:, 1], DELTA, assumed=False),
]

# %%
# The order of one column, and a guard that leaves out rows with small p-values.


def rate_breaks(gate) -> bool:
    found = gate.accept_scores(gate.uncertainty(rows))
    return found.any() and wrong[found].mean() > 0.15


checks += [
    rate(
        "order",
        "order of one column",
        broken(24, rate_breaks, right, error=0.15, order=model.columns[0]),
        DELTA,
    ),
    rate(
        "guard",
        "guard at p-value 0.05",
        broken(30, rate_breaks, right, error=0.15, guard=0.05),
        DELTA,
    ),
]

print(judged(checks))
picture(checks, "share of draws in which the promise breaks")
