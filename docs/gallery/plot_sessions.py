"""
Groups: what ignoring sessions costs
====================================

Rows of one session are alike. Two hundred rows of twenty sessions say about as much of new
sessions as twenty rows would. Taken for two hundred, they flag far too often at a small alpha.
"""

import warnings

import numpy as np
from _look import BLUE, GREY, VERMILION, bare, panels

from vecuq import fit_ranker

rng = np.random.default_rng(8)
mixed = np.array([[1.0, 0.6], [0.0, 0.8]])


def sessions(n_sessions: int, size: int):
    """Return rows of two scores, nearly all of whose variance a session shares, and the sessions' names."""
    names = np.repeat(np.arange(n_sessions), size)
    shared, own = rng.normal(size=(n_sessions, 2)), rng.normal(size=(len(names), 2))
    return np.exp((np.sqrt(0.99) * shared[names] + 0.1 * own) @ mixed), names


# %%
# Left: what sessions look like. Right: the share of rows of new sessions that is flagged at alpha
# 0.01 and 0.05, with and without the names of the sessions.

plane, bars = panels(2, width_ratios=(1, 1.2))
rows, names = sessions(8, 12)
for k, mark in enumerate("osD^vP*X"):
    plane.scatter(*rows[names == k].T, s=18, marker=mark)
plane.set(xscale="log", yscale="log")
bare(plane, "eight sessions of twelve rows", xlabel="score 1", ylabel="score 2")


def flagged(n_sessions: int, alpha: float, *, named: bool) -> float:
    rows, names = sessions(n_sessions, 10)
    model = fit_ranker(rows, groups=names if named else None)
    return float(model.flag(sessions(200, 1)[0], alpha).mean())


cases = ((200, 0.01), (40, 0.05), (20, 0.01))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    without = [
        np.mean([flagged(n, alpha, named=False) for _ in range(50)]) for n, alpha in cases
    ]
    # 10 held-back sessions allow no p-value below 1/11: vecuq refuses alpha 0.01.
    given = [
        np.mean([flagged(n, alpha, named=True) for _ in range(50)]) for n, alpha in cases[:2]
    ]
at = np.arange(3)
bars.bar(
    at - 0.2,
    without,
    width=0.36,
    color=VERMILION,
    hatch="//",
    edgecolor="white",
    label="taken for rows",
)
bars.bar(at[:2] + 0.2, given, width=0.36, color=BLUE, label="groups=sessions")
bars.text(2.2, 0.002, "refused:\ntoo few", ha="center", color=BLUE)
for left, value in [
    *zip(at - 0.2, without, strict=True),
    *zip(at[:2] + 0.2, given, strict=True),
]:
    bars.text(left, value + 0.001, f"{value:.1%}", ha="center")
for place, (_, alpha) in enumerate(cases):
    bars.plot(
        [place - 0.45, place + 0.45],
        [alpha, alpha],
        "--",
        color=GREY,
        label="promised" if place == 0 else None,
    )
bars.set_xticks(at, [f"{n} sessions of 10\nalpha {alpha:g}" for n, alpha in cases])
bare(
    bars,
    "rows of new sessions flagged",
    ylabel="false-alarm rate",
    ylim=(0, 1.35 * max(without + given)),
)
bars.legend(frameon=False, ncols=3, loc="upper center")
