"""
Intervals and comparisons of an evaluation
==========================================

**Promise.** The interval of a ROC-AUC covers the truth in about 95 % of test sets, with as few as
ten positive rows. Bootstrap intervals do so with many rows. Among equal methods, ``separated``
names a difference in at most 5 % of tables, however many methods there are. These rest on
approximations: they are simulated, not proven.

**Assumption.** Rows are independent, or come in groups that are named.

**Reference.** Newcombe (2006), method 5; Efron (1979); the max-T test of Westfall and Young (1993)
and Romano and Wolf (2005).
"""

import matplotlib.pyplot as plt
import numpy as np
from _checking import BLUE, GREY, VERMILION, judged, picture, rate, runs
from scipy.special import ndtri

from vecuq.evaluation import (
    Bootstrap,
    evaluate,
    kept_band,
    roc_auc_interval,
)

rng = np.random.default_rng(2612)
LEVEL = 0.95
# Approximate intervals are given two hundredths more than they say, fixed before the runs.
ALLOWED = 1 - LEVEL + 0.02

# %%
# ROC-AUC of two normal laws, which is known exactly. Ten positive rows, and 200 negative ones.


def misses(area: float, *, size: int = 1, groups: bool = False) -> bool:
    shift = np.sqrt(2) * ndtri(area)
    names = np.repeat(np.arange(20 * size + 40), size if size > 1 else 1)
    n_positive = 10 if size == 1 else 20 * size
    n = 210 if size == 1 else len(names)
    names = np.arange(n) if size == 1 else names
    positive = np.arange(n) < n_positive
    noise = rng.normal(size=names.max() + 1)[names] * np.sqrt(0.8) + rng.normal(
        size=n
    ) * np.sqrt(0.2)
    scores = (rng.normal(size=n) if size == 1 else noise) + shift * positive
    low, high = roc_auc_interval(scores, positive, groups=names if groups else None)
    return not low <= area <= high


checks = [
    rate(
        "auc",
        f"ROC-AUC {area}, ten positive rows",
        [misses(area) for _ in range(runs(600))],
        ALLOWED,
    )
    for area in (0.7, 0.9, 0.98)
]
checks += [
    rate(
        "auc",
        "groups of 8, given",
        [misses(0.8, size=8, groups=True) for _ in range(runs(400))],
        ALLOWED,
    ),
    rate(
        "auc",
        "groups of 8, taken for rows",
        [misses(0.8, size=8) for _ in range(runs(400))],
        ALLOWED,
        assumed=False,
    ),
]

# %%
# A bootstrap interval: the area under the accuracy-coverage curve, from 300 rows. The truth comes
# from half a million. With so few rows the interval is a little too narrow.


def drawn(n_rows: int):
    scores = rng.random(n_rows)
    return scores, rng.random(n_rows) < 0.05 + 0.4 * scores**2


METRIC = "selective accuracy_coverage_area"
scores, wrong = drawn(500_000)
truth = evaluate(
    {"score": scores}, error=wrong, metrics=["accuracy_coverage_area"], bootstrap=Bootstrap(0)
).estimate("score", METRIC)


def area_missed() -> bool:
    some, failed = drawn(300)
    found = evaluate({"score": some}, error=failed, metrics=["accuracy_coverage_area"])
    one = found.estimate("score", METRIC)
    return not one.low <= truth.value <= one.high


checks.append(
    rate(
        "bootstrap",
        "accuracy-coverage area, 300 rows",
        [area_missed() for _ in range(runs(100))],
        ALLOWED,
    )
)

# %%
# The band around a risk-coverage curve, at half of the rows and at all of them. The threshold is
# read from the rows, and one of them sits on it: where only the very last rows are wrong, that one
# is not like the others, and slightly more than 5 % of the intervals miss.


def band_misses(*, at_the_end: bool) -> bool:
    some = rng.random(200)
    failed = some > 1 - 1.2 / 200 if at_the_end else rng.random(200) < 0.05 + 0.4 * some**2
    band = kept_band(some, failed.astype(float))
    place = -1 if at_the_end else int(np.argmin(np.abs(band.share - 0.5)))
    limit = np.sort(some)[round(band.share[place] * 200) - 1]  # the largest that is kept
    rate_below = (
        max(limit - (1 - 1.2 / 200), 0) / limit if at_the_end else 0.05 + 0.4 * limit**2 / 3
    )
    return not band.low[place] <= rate_below <= band.high[place]


checks += [
    rate(
        "band",
        "risk at half of the rows",
        [band_misses(at_the_end=False) for _ in range(runs(500))],
        0.05,
    ),
    rate(
        "band",
        "risk, the last rows wrong",
        [band_misses(at_the_end=True) for _ in range(runs(500))],
        ALLOWED,
    ),
]

# %%
# Ten methods that are equally good. Every pair judged by its own interval finds a winner in many
# tables; all pairs judged at once do not.


def false_wins() -> tuple[bool, bool]:
    wrong = rng.random(200) < 0.3
    methods = {f"method {k}": rng.normal(size=200) + wrong for k in range(10)}
    table = evaluate(
        methods, error=wrong, metrics=["error roc_auc"], bootstrap=Bootstrap(200)
    ).comparison("error roc_auc")
    best = table.ranked[0]
    alone = any(table.difference(best, other).excludes_zero for other in table.ranked[1:])
    return bool(table.separated(best)), alone


wins = np.array([false_wins() for _ in range(runs(100))])
checks += [
    rate("wins", "all pairs judged at once", wins[:, 0], ALLOWED),
    rate("wins", "each pair by its own interval", wins[:, 1], ALLOWED, assumed=False),
]

print(judged(checks))

# %%
# How many pairs differ "by chance" when every one is judged by itself.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4.4), layout="constrained", width_ratios=(0.8, 1.2)
)
left.bar([0, 1], wins.mean(axis=0), color=[BLUE, VERMILION], hatch=["", "//"], width=0.6)
left.axhline(1 - LEVEL, color=GREY, linestyle="--", label="promised")
left.set_xticks([0, 1], ["all pairs\nat once", "each pair\nby itself"])
left.set(ylabel="tables of equal methods with a false win")
left.legend(frameon=False)
picture(checks, "share of tables, or of intervals that miss", right)
plt.show()
