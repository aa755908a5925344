"""
Drift: evidence over time
=========================

A monitor bets against "nothing has changed". Without drift its evidence is 1 in expectation and
rarely grows; with drift it grows without end. An alarm is raised at a line that evidence without
drift ever reaches with probability alpha, however long it runs.
"""

import numpy as np
from _look import BLUE, GREEN, GREY, VERMILION, bare, panels

from vecuq import fit_ranker
from vecuq.monitor import Monitor

rng = np.random.default_rng(9)
mixed = np.array([[1.0, 0.6], [0.0, 0.8]])
model = fit_ranker(np.exp(rng.normal(size=(1000, 2)) @ mixed))


def watched(shift_from: int, size: float, n_rows: int = 1600, step: int = 40):
    """Return the evidence of the joint score after every few rows, and the row of the alarm."""
    monitor = Monitor(model, random_state=int(rng.integers(2**31)))
    rows = rng.normal(size=(n_rows, 2)) @ mixed
    rows[shift_from:] += [0.0, size]
    evidence = []
    for start in range(0, n_rows, step):
        monitor.observe(np.exp(rows[start : start + step]))
        evidence.append(monitor.evidence["uncertainty"])
    return np.log10(evidence), len(monitor.streams) / monitor.alpha


# %%
# Eight streams of each kind: without drift, and with a shift of one column after 600 rows.

ax = panels(1, height=4.0)
kinds = (
    ("no drift", 1600, 0.0, BLUE, "-"),
    ("half a sd", 600, 0.5, GREEN, "--"),
    ("one sd", 600, 1.0, VERMILION, "-"),
)
for name, start, size, colour, dashes in kinds:
    for k in range(8):
        evidence, limit = watched(start, size)
        at = np.arange(40, 1601, 40)
        ax.plot(
            at,
            evidence,
            dashes,
            color=colour,
            linewidth=0.9,
            alpha=0.8,
            label=name if k == 0 else None,
        )
ax.axhline(np.log10(limit), color=GREY, linestyle="--")
ax.text(20, np.log10(limit) + 0.25, "alarm", color=GREY)
ax.axvline(600, color=GREY, linewidth=0.8)
ax.text(610, -3.4, "a column shifts here", color=GREY)
bare(ax, xlabel="rows", ylabel="evidence of drift (power of ten)", ylim=(-4, 12))
ax.legend(frameon=False, loc="upper left")
