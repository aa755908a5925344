"""
A gate over time: bounds that may be looked at after every label
================================================================

**Promise.** The bound of a ``LiveGate`` is ever below the running error rate of accepted rows with
probability at most delta, however often one looks. ``"broken"`` is ever said with probability at
most delta while every accepted row is wrong with at most the allowed probability. The two are
separate statements.

**Assumption.** Labels are those of rows drawn at random from the accepted ones.

**Theorem.** Ville (1939); Howard, Ramdas, McAuliffe and Sekhon (2021); Waudby-Smith and Ramdas
(2024).
"""

import matplotlib.pyplot as plt
import numpy as np
from _checking import BLUE, GREEN, GREY, VERMILION, judged, picture, rate, runs

from vecuq import Gate, fit_ranker
from vecuq.conformal import (
    Doubt,
    doubted,
    error_rate_upper,
    running_error_lower,
    running_error_upper,
)
from vecuq.gate import LiveGate

rng = np.random.default_rng(2610)
DELTA, ALLOWED, N_LABELS = 0.1, 0.1, 300
steps = np.arange(1, N_LABELS + 1)

# %%
# Streams of labels, looked at after every one. The error rate is constant, or jumps, or depends on
# the labels before. A bound for one look, taken at every look, fails far more often.


def rates_of(kind: str):
    """Return the error rate of every label, and the labels, (streams, labels)."""
    chances = rng.random((runs(80), N_LABELS))
    rates = np.full(chances.shape, 0.1)
    if kind == "jump":
        rates = np.where(steps > 120, 0.2, 0.02) * np.ones((len(chances), 1))
    wrong = chances < rates
    if kind == "depends on the past":
        for step in range(1, N_LABELS):
            rates[:, step] = np.where(wrong[:, step - 1], 0.3, 0.06)
            wrong[:, step] = chances[:, step] < rates[:, step]
    return rates.cumsum(axis=1) / steps, wrong.cumsum(axis=1)


checks = []
for kind in ("constant", "jump", "depends on the past"):
    running, seen = rates_of(kind)
    upper, lower = (
        running_error_upper(seen, steps, DELTA),
        running_error_lower(seen, steps, DELTA),
    )
    checks += [
        rate(
            "running", f"upper bound ever too low, {kind}", (upper < running).any(axis=1), DELTA
        ),
        rate(
            "running",
            f"lower bound ever too high, {kind}",
            (lower > running).any(axis=1),
            DELTA,
        ),
    ]
once = error_rate_upper(seen[:, 9:], steps[9:], DELTA)
checks.append(
    rate(
        "running",
        "bound for one look, every look",
        (once < running[:, 9:]).any(axis=1),
        DELTA,
        assumed=False,
    )
)

# %%
# "Broken": a promise that is kept with nothing to spare, and one that is not kept any more.


def said_broken(change: float):
    rates = np.where(steps > 150, ALLOWED + change, ALLOWED)
    _, evidence = doubted(
        Doubt.new(runs(400)), rates[:, None] > rng.random((runs(400), N_LABELS)).T, ALLOWED
    )
    return evidence >= np.log(1 / DELTA)


still, fallen = said_broken(0.0), said_broken(0.15)
checks += [
    rate("broken", "kept exactly, ever called broken", still.any(axis=0), DELTA),
    rate("broken", "15 points worse from label 150", fallen.any(axis=0), DELTA, assumed=False),
]

# %%
# The object itself. Half of the labels that would say "wrong" never come. In the bound they count
# as wrong, so it holds; left out, they spoil it. A reviewer who labels what looks safe has no
# random sample: a bound from such labels says nothing of the accepted rows.

model = fit_ranker(rng.gamma(2.0, size=(400, 2)))
rows = rng.gamma(2.0, size=(30_000, 2))
chance = np.clip(rows.sum(axis=1) / 20, 0, 1)
gate = Gate(model, accuracy=0.5).fit(rows[:600], np.arange(600) % 10 > 0)
truth = chance[gate.accept_scores(model.uncertainty(rows))].mean()


def bounds_too_low() -> tuple[bool, bool, bool]:
    """Return whether a bound is ever too low: of the live gate, without lost labels, with labels of safe rows."""
    live = LiveGate(
        gate, audit=0.5, confidence=1 - DELTA, overdue=20, random_state=int(rng.integers(2**31))
    )
    some = rng.integers(len(rows), size=500)
    done = live.decide(rows[some], ids=range(500))
    failed = rng.random(500) < chance[some]
    came = np.flatnonzero(done.audit & ~(failed & (rng.random(500) < 0.5)))
    ever = False
    for part in np.array_split(came, 5):
        live.update(part, ~failed[part])
        ever |= live.bound < truth
    uncertain = model.uncertainty(rows[some])
    safe = done.accept & (uncertain < np.quantile(uncertain, 0.4))
    without, picked = ((failed[kept].sum(), len(failed[kept])) for kept in (came, safe))
    return ever, *(
        bool(running_error_upper(*counts, DELTA) < truth) for counts in (without, picked)
    )


found = np.array([bounds_too_low() for _ in range(runs(30))])
checks += [
    rate("running", "live gate, wrong labels lost", found[:, 0], DELTA),
    rate("running", "lost labels left out", found[:, 1], DELTA, assumed=False),
    rate("running", "labels of rows that look safe", found[:, 2], DELTA, assumed=False),
]
print(judged(checks))

# %%
# One stream: the bound for every look is wider than one for a single look, and ends up close.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 5), layout="constrained", width_ratios=(1, 1.15)
)
left.plot(steps, running[0], color=GREY, label="running error rate (truth)")
left.fill_between(
    steps, lower[0], upper[0], color=BLUE, alpha=0.25, label="bounds for every look"
)
left.plot(steps[9:], once[0], "--", color=VERMILION, label="bound for one look")
left.set(xlabel="labels", ylabel="error rate", ylim=(0, 0.6))
left.legend(frameon=False)
delay = fallen.argmax(axis=0)[fallen.any(axis=0)] - 150
left.text(
    0.97,
    0.6,
    f"15 points worse: found after\n{np.median(delay):.0f} labels (median)",
    transform=left.transAxes,
    ha="right",
    color=GREEN,
)
picture(checks, "share of streams in which the bound ever fails", right)
plt.show()
