"""
Drift: the monitor, and one test of many rows
=============================================

**Promise.** Without drift, the probability that a monitor *ever* raises an alarm, in any stream,
is at most alpha. The p-values of ``drift_test`` are valid for any number of new rows, and all
looks together keep alpha.

**Assumption.** Calibration rows and stream are exchangeable. Rows that depend on each other in
time, or come in sessions, are not.

**Theorem.** Online ranks of exchangeable numbers are independent and uniform (Vovk, Nouretdinov
and Gammerman 2003), so a betting fortune rarely grows (Ville 1939). The test: the exceedance
statistic of Gumbel and von Schelling (1950).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from _checking import BLUE, GREEN, GREY, VERMILION, judged, law, picture, rate, runs
from scipy.signal import lfilter
from scipy.special import ndtr

from vecuq import fit_ranker
from vecuq.conformal import (
    Fortune,
    SortedScores,
    bets_on,
    play,
    rows_beyond_p_value,
    uniform_ranks,
)
from vecuq.monitor import Monitor, drift_test

rng = np.random.default_rng(2605)
ALPHA, N_CALIBRATION, N_ROWS = 0.1, 300, 600

# %%
# Online p-values: those of one run are uniform and independent, although all rows are compared
# with the same calibration rows. (P-values against a fixed set are not: see the second line.)


def online(calibration, stream):
    held = SortedScores.of(calibration, seed=(0,))
    above = held.bins_above(stream, rng.random(len(stream)))
    return uniform_ranks(
        above, np.zeros(len(calibration) + 1, dtype=np.int64), rng.random(len(stream))
    )


def means_of_runs(kind: str):
    """Return the mean p-value of 100 rows, as a normal score: standard normal if they are independent."""
    found = []
    for _ in range(runs(600)):
        calibration, stream = rng.normal(size=50), rng.normal(size=100)
        fixed = (1.0 + (calibration > stream[:, None]).sum(axis=1)) / 51.0
        p = online(calibration, stream) if kind == "online" else fixed
        found.append((p.mean() - 0.5) * np.sqrt(12 * len(p)))
    return np.array(found)


checks = [
    law("monitor", "online p-values: law of their mean", means_of_runs("online"), ndtr),
    law(
        "monitor",
        "against a fixed set: law of the mean",
        means_of_runs("fixed"),
        ndtr,
        assumed=False,
    ),
]

# %%
# The evidence of one stream, for rows without drift, and for rows that follow each other.


def evidence(correlation: float, *, every: int = 1):
    noise = rng.normal(size=N_CALIBRATION + N_ROWS) * np.sqrt(1 - correlation**2)
    rows = lfilter(
        [1.0], [1.0, -correlation], noise
    )  # each row is so much of the one before, and noise
    calibration, stream = rows[:N_CALIBRATION:every], rows[N_CALIBRATION::every]
    p = online(calibration, stream)
    bets = bets_on("both")
    return play(Fortune.new(len(bets)), p, np.arange(len(p)), bets).log_total / np.log(10)


paths = {
    "independent rows": [evidence(0.0) for _ in range(runs(250))],
    "correlation 0.5": [evidence(0.5) for _ in range(runs(60))],
    "correlation 0.5, every tenth row": [evidence(0.5, every=10) for _ in range(runs(250))],
}
ever = {
    name: np.array([path.max() >= np.log10(1 / ALPHA) for path in some])
    for name, some in paths.items()
}
checks += [
    rate("monitor", name, ever[name], ALPHA, assumed=name != "correlation 0.5")
    for name in paths
]

# %%
# The monitor itself: the joint score, two columns and missing values together keep alpha. Sessions
# of five rows raise alarms, and one row of each does not.


def alarms(size: int, *, groups: bool = False) -> bool:
    mixed = np.array([[1.0, 0.6], [0.0, 0.8]])
    names = np.repeat(np.arange(700 // size), size)
    rows = np.exp(
        rng.normal(size=(700 // size, 2))[names] @ mixed + 0.05 * rng.normal(size=(700, 2))
    )
    model = fit_ranker(rows[:300], groups=names[:300] if groups else None)
    watched = Monitor(model, alpha=ALPHA, random_state=int(rng.integers(2**31)))
    return bool(watched.observe(rows[300:], groups=names[300:] if groups else None))


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # few groups are warned of
    checks += [
        rate(
            "monitor", "monitor, independent rows", [alarms(1) for _ in range(runs(60))], ALPHA
        ),
        rate(
            "monitor",
            "monitor, sessions of 5",
            [alarms(5) for _ in range(runs(30))],
            ALPHA,
            assumed=False,
        ),
        rate(
            "monitor",
            "monitor, one row of each",
            [alarms(5, groups=True) for _ in range(runs(60))],
            ALPHA,
        ),
    ]

# %%
# The test: how many of 900 new rows lie above the tenth largest of 100 held-back rows. A test that
# takes the held-back quantile for the truth is wrong most of the time.


def beyond():
    held, new = np.sort(rng.normal(size=100)), rng.normal(size=900)
    above = int((new > held[-10]).sum())
    taken_for_truth = abs(above / 900 - 0.095) / np.sqrt(0.095 * 0.905 / 900) > 1.645
    return rows_beyond_p_value(above, 900, 10, 100) <= ALPHA, taken_for_truth


def looked(looks: int = 5) -> bool:
    mixed = np.array([[1.0, 0.6], [0.0, 0.8]])
    ranker, rows = fit_ranker(np.exp(rng.normal(size=(300, 2)) @ mixed)), np.empty((0, 2))
    for look in range(1, looks + 1):
        rows = np.concatenate([rows, np.exp(rng.normal(size=(200, 2)) @ mixed)])
        if any(one.p_value <= ALPHA for one in drift_test(ranker, rows, look=look)):
            return True
    return False


counted = np.array([beyond() for _ in range(runs(1000))])
checks += [
    rate("drift_test", "rows beyond a held-back score", counted[:, 0], ALPHA),
    rate("drift_test", "its quantile taken for the truth", counted[:, 1], ALPHA, assumed=False),
    rate("drift_test", "all streams, five looks", [looked() for _ in range(runs(50))], ALPHA),
]
print(judged(checks))

# %%
# Evidence of thirty streams of each kind. Above the dashed line is an alarm.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 5), layout="constrained", width_ratios=(1, 1.15)
)
for (name, some), colour, dashes in zip(
    paths.items(), (BLUE, VERMILION, GREEN), ("-", "-", ":"), strict=True
):
    for place, path in enumerate(some[:30]):
        steps = np.linspace(0, N_ROWS, len(path))
        left.plot(
            steps,
            path,
            dashes,
            color=colour,
            linewidth=0.7,
            alpha=0.6,
            label=name if place == 0 else None,
        )
left.axhline(np.log10(1 / ALPHA), color=GREY, linestyle="--", label="alarm")
left.set(xlabel="rows", ylabel="evidence of drift (power of ten)", ylim=(-2.5, 6))
left.legend(frameon=False, loc="upper left")
picture(checks, "share of runs with an alarm, or distance", right)
plt.show()
