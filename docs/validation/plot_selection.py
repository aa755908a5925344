"""
Selections: one batch, and a stream of batches
==============================================

**Promise.** Of the rows that ``select`` names as out-of-distribution in one batch, a share of at
most alpha is in-distribution, on average. ``StreamSelection(method="e-lond")`` keeps that rate
for everything it ever selects. ``method="pooled"`` has no proof; it is simulated only.

**Assumption.** In-distribution rows are exchangeable with the held-back rows; for
Benjamini-Hochberg they are also independent of each other.

**Theorem.** Bates, Candes, Lei, Romano and Sesia (2023); Benjamini and Yekutieli (2001); e-LOND:
Xu and Ramdas (2024).
"""

import matplotlib.pyplot as plt
import numpy as np
from _checking import BLUE, GREEN, GREY, VERMILION, exact, judged, mean, picture, runs

from vecuq.conformal import (
    Discoveries,
    conformal_p_values,
    rows_needed,
    select_by_e_values,
    select_by_pooling,
    selected,
)

rng = np.random.default_rng(2604)
ALPHA, N_HELD = 0.1, 1000

# %%
# One batch of 200 rows, of which 20 lie three standard deviations further out. For "by", the
# in-distribution rows are copies of twenty: dependent, and each of them valid.

STRANGE = np.arange(200) < 20


def p_of_batch(*, copies: bool = False, shift: float = 0.0):
    scores = rng.normal(size=20)[rng.integers(20, size=200)] if copies else rng.normal(size=200)
    scores[STRANGE] = rng.normal(size=20) + 3.0
    return conformal_p_values(scores + shift, np.sort(rng.normal(size=N_HELD)))


def false_share(chosen, strange=STRANGE) -> float:
    return (chosen & ~strange).sum() / max(chosen.sum(), 1)


n = runs(500)
checks = [
    mean(
        "select",
        "bh, one batch",
        [false_share(selected(p_of_batch(), ALPHA)) for _ in range(n)],
        ALPHA,
    ),
    mean(
        "select",
        "by, rows that are copies",
        [false_share(selected(p_of_batch(copies=True), ALPHA, "by")) for _ in range(n)],
        ALPHA,
    ),
    mean(
        "select",
        "bh, every row shifted by 0.5",
        [false_share(selected(p_of_batch(shift=0.5), ALPHA)) for _ in range(n)],
        ALPHA,
        assumed=False,
    ),
]

# %%
# So many rows must stand out before the rule can select any. One less, however far out, and
# nothing is selected.


def counted(n_far: int) -> int:
    scores = np.concatenate([np.full(n_far, 99.0), rng.normal(size=2000 - n_far)])
    held = np.append(rng.normal(size=499), 9.0)  # no other row beyond the largest
    return int(selected(conformal_p_values(scores, np.sort(held)), 0.05).sum())


needed = rows_needed(0.05, 500, 2000)
checks.append(
    exact(
        "select",
        f"{needed} far rows, not {needed - 1}",
        [counted(needed) == 0, counted(needed - 1) > 0],
    )
)

# %%
# Streams: 80 batches of 50 rows, 2 % of them far out. What counts is the share of false rows among
# all that were ever selected, here after 20 batches and at the end.

BATCHES, SIZE = 80, 50


def stream():
    held = np.sort(rng.normal(size=N_HELD))
    strange = rng.random(BATCHES * SIZE) < 0.02
    p = conformal_p_values(rng.normal(size=len(strange)) + 4.0 * strange, held)
    chosen = {
        "each batch by itself": np.concatenate(
            [selected(part, ALPHA) for part in np.split(p, BATCHES)]
        )
    }
    for name, step in (("e-lond", select_by_e_values), ("pooled", select_by_pooling)):
        found, parts = Discoveries.new(N_HELD), []
        for part in np.split(p, BATCHES):
            found, picked = step(found, part, ALPHA)
            parts.append(picked)
        chosen[name] = np.concatenate(parts)
    return {
        name: (
            false_share(all_of, strange),
            false_share(all_of[:1000], strange[:1000]),
            (all_of & strange).sum() / strange.sum(),
        )
        for name, all_of in chosen.items()
    }


streams = [stream() for _ in range(runs(60))]
of = {name: np.array([one[name] for one in streams]) for name in streams[0]}
checks += [
    mean("e_lond", "stream, e-lond", of["e-lond"][:, 0], ALPHA),
    mean("e_lond", "stream, e-lond, after 20 batches", of["e-lond"][:, 1], ALPHA),
    mean("pooled", "stream, pooled", of["pooled"][:, 0], ALPHA),
    mean(
        "select",
        "stream, each batch by itself",
        of["each batch by itself"][:, 0],
        ALPHA,
        assumed=False,
    ),
]
print(judged(checks))

# %%
# The proven way through a stream finds little; the pooled one finds much and is not proven.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4), layout="constrained", width_ratios=(1, 1.15)
)
for (name, found), colour, mark in zip(
    of.items(), (VERMILION, BLUE, GREEN), "Dos", strict=True
):
    left.plot(
        found[:, 0].mean(), found[:, 2].mean(), mark, color=colour, markersize=9, label=name
    )
left.axvline(ALPHA, color=GREY, linestyle="--", label="alpha")
left.set(
    xlabel="share of selected rows that are false",
    ylabel="share of far rows found",
    xlim=(0, 0.3),
    ylim=(0, 1.02),
)
left.legend(frameon=False, loc="center right")
picture(checks, "share of selected rows that are false", right)
plt.show()
