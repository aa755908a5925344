"""
Bounds on an error rate
=======================

**Promise.** An upper bound lies below the true error rate with probability at most delta, and a
lower bound above it. The same for the mean of losses between 0 and 1, and for the share of rows
below every threshold at once.

**Assumption.** The labelled rows (or groups of rows) are independent draws.

**Theorem.** Clopper and Pearson (1934); betting: Waudby-Smith and Ramdas (2024); shares:
Dvoretzky, Kiefer and Wolfowitz with the constant of Massart (1990).
"""

import numpy as np
from _checking import exact, judged, picture, rate, runs
from scipy.stats import binom

from vecuq.conformal import (
    coverage_margin,
    error_rate_lower,
    error_rate_p_values,
    error_rate_upper,
    group_means,
    mean_loss_p_values,
    mean_loss_upper,
    stakes_for,
)

rng = np.random.default_rng(2606)
RATE, N_LABELS, DELTA = 0.05, 200, 0.1

# %%
# Right or wrong: 200 labels, of which 5 % are wrong in truth. And the same labels in 20 groups of
# ten that are wrong together, which counts as 20 labels and not as 200.

errors = rng.binomial(N_LABELS, RATE, size=runs(4000))
copies = 10 * rng.binomial(N_LABELS // 10, RATE, size=runs(4000))
checks = [
    rate(
        "bounds",
        "p-value at the allowed rate",
        error_rate_p_values(errors, N_LABELS, RATE) <= DELTA,
        DELTA,
    ),
    rate(
        "bounds",
        "upper bound below the truth",
        error_rate_upper(errors, N_LABELS, DELTA) < RATE,
        DELTA,
    ),
    rate(
        "bounds",
        "lower bound above the truth",
        error_rate_lower(errors, N_LABELS, DELTA) > RATE,
        DELTA,
    ),
    rate(
        "bounds",
        "upper bound, groups taken for rows",
        error_rate_upper(copies, N_LABELS, DELTA) < RATE,
        DELTA,
        assumed=False,
    ),
]

# %%
# The p-value is the binomial law itself, computed another way by SciPy.

some, of_them = rng.integers(0, 60, size=500), rng.integers(60, 500, size=500)
apart = np.abs(error_rate_p_values(some, of_them, 0.07) - binom.cdf(some, of_them, 0.07)) > 1e-9
checks.append(exact("bounds", "p-value differs from SciPy's law", apart))

# %%
# Graded losses, by betting: three laws with mean 0.1. Groups of ten rows that lose together are
# bounded by their means.

LAWS = {
    "losses of a Beta law": lambda n: rng.beta(0.5, 4.5, n),
    "losses 0 or 0.25": lambda n: 0.25 * (rng.random(n) < 0.4),
    "losses 0 or 1": lambda n: (rng.random(n) < 0.1).astype(float),
}
stakes = stakes_for(N_LABELS, np.ones(1), 0.1, DELTA)
for name, law_of in LAWS.items():
    p = np.array(
        [
            mean_loss_p_values((law_of(N_LABELS) - 0.1)[:, None], 0.1, stakes)[0]
            for _ in range(runs(1000))
        ]
    )
    checks.append(rate("betting", f"p-value, {name}", p <= DELTA, DELTA))


def of_groups(*, by_group: bool) -> float:
    codes = np.repeat(np.arange(40), 10)
    lost = (rng.random(40) < 0.1).astype(float)[codes]
    return mean_loss_upper(group_means(lost, codes) if by_group else lost, DELTA)


by_group = np.array([of_groups(by_group=True) for _ in range(runs(300))])
by_row = np.array([of_groups(by_group=False) for _ in range(runs(300))])
checks += [
    rate("betting", "upper bound, groups of ten", by_group < 0.1, DELTA),
    rate("betting", "upper bound, groups taken for rows", by_row < 0.1, DELTA, assumed=False),
]

# %%
# The share of rows below every threshold at once, and below the one where it differs most.

uniform = np.sort(rng.random((runs(2000), 100)), axis=1)
places = np.arange(101) / 100
largest = np.maximum((places[1:] - uniform).max(axis=1), (uniform - places[:-1]).max(axis=1))
checks.append(
    rate(
        "coverage",
        "share further away than the margin",
        largest > coverage_margin(100, DELTA),
        DELTA,
    )
)
print(judged(checks))

# %%
# Bounds by betting hold for every law of losses, and are cautious for all of them.

picture(checks, "share of runs in which the bound fails")
