"""How the simulations of this folder are judged: every limit is fixed before a run, and a broken promise raises.

A promise that holds exactly at its limit fails a check with probability `CHANCE`. Where the assumption of a promise is
left out on purpose, the check is the other way round: the simulation must see that the promise breaks, or it could not
see anything.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from scipy.stats import binom, kstwo, norm

# The probability with which a promise that holds with nothing to spare fails one check.
CHANCE = 1e-4
# Longer runs: VECUQ_FULL=1, or --full behind the name of a script.
FULL = bool(os.environ.get("VECUQ_FULL")) or "--full" in sys.argv
TIMES = 10
# Of Okabe and Ito's palette, which colour-blind readers can tell apart.
BLUE, VERMILION, GREEN, AMBER, GREY = "#0072B2", "#D55E00", "#009E73", "#B87400", "#5F6B76"

KEPT, BROKEN, MISSED = "kept", "broken, as expected", "FAILED"


class BrokenPromiseError(AssertionError):
    """A simulation contradicts a promise, or does not see one break that must."""


@dataclass(frozen=True)
class Check:
    """What one simulation found."""

    promise: str  # its key in promises.py
    case: str
    seen: float
    promised: float
    limit: float  # from the number of runs alone, or from how much the runs vary
    runs: int
    assumed: bool = True  # whether the assumption of the promise holds in this case

    @property
    def within(self) -> bool:
        """Whether what was seen is within the limit."""
        return self.seen <= self.limit

    @property
    def verdict(self) -> str:
        """What this says of the promise."""
        return (
            (KEPT if self.within else MISSED)
            if self.assumed
            else (MISSED if self.within else BROKEN)
        )


DONE: list[Check] = []  # of all scripts that ran in this process


def runs(quick: int) -> int:
    """Return how many runs a simulation has: ten times as many in a full one."""
    return quick * TIMES if FULL else quick


def rate(
    promise: str, case: str, happened: ArrayLike, at_most: float, *, assumed: bool = True
) -> Check:
    """Check how often something happened, against a probability; the limit is a quantile of the binomial law."""
    found = np.asarray(happened, dtype=bool)
    limit = float(binom.isf(CHANCE, len(found), at_most)) / len(found)
    return Check(promise, case, float(found.mean()), at_most, limit, len(found), assumed)


def mean(
    promise: str, case: str, values: ArrayLike, at_most: float, *, assumed: bool = True
) -> Check:
    """Check a mean over runs against a bound; the limit is so many standard errors of these runs above it."""
    found = np.asarray(values, dtype=float)
    error = float(found.std(ddof=1) / np.sqrt(len(found)))
    limit = at_most + float(norm.isf(CHANCE)) * error
    return Check(promise, case, float(found.mean()), at_most, limit, len(found), assumed)


def law(
    promise: str,
    case: str,
    numbers: ArrayLike,
    cdf: Callable[[Any], Any],
    *,
    assumed: bool = True,
) -> Check:
    """Check the law of some numbers: the largest distance between two distribution functions (Kolmogorov)."""
    found = np.sort(np.asarray(numbers, dtype=float))
    n = len(found)
    below = cdf(found)
    distance = float(
        max((np.arange(1, n + 1) / n - below).max(), (below - np.arange(n) / n).max())
    )
    return Check(promise, case, distance, 0.0, float(kstwo.isf(CHANCE, n)), n, assumed)


def exact(promise: str, case: str, violated: ArrayLike, *, assumed: bool = True) -> Check:
    """Check what must hold in every single case."""
    found = np.asarray(violated, dtype=bool).ravel()
    return Check(promise, case, float(found.mean()), 0.0, 0.0, len(found), assumed)


def judged(checks: Sequence[Check]) -> str:
    """Return a table of checks; raise if one of them failed."""
    DONE.extend(checks)
    wide = max(len(check.case) for check in checks)
    lines = [f"{'case':<{wide}}  {'promised':>8}  {'seen':>7}  {'limit':>7}  {'runs':>7}"]
    lines += [
        f"{check.case:<{wide}}  {check.promised:>8.4g}  {check.seen:>7.4f}  {check.limit:>7.4f}  {check.runs:>7,}  "
        f"{check.verdict}"
        for check in checks
    ]
    table = "\n".join(lines)
    if any(check.verdict == MISSED for check in checks):
        raise BrokenPromiseError(f"A promise did not hold, or none was seen to break:\n{table}")
    return table


def picture(checks: Sequence[Check], what: str, ax: Axes | None = None) -> Axes:
    """Draw what was promised and what was seen, one line per check, with the limit that was fixed beforehand."""
    if ax is None:
        _, ax = plt.subplots(figsize=(7.6, 0.9 + 0.42 * len(checks)), layout="constrained")
    places = np.arange(len(checks))[::-1]
    for place, check in zip(places, checks, strict=True):
        colour, mark = (BLUE, "o") if check.assumed else (VERMILION, "D")
        ax.plot(
            [check.promised, check.limit],
            [place, place],
            color=GREY,
            linewidth=7,
            alpha=0.25,
            solid_capstyle="butt",
        )
        ax.plot([check.promised] * 2, [place - 0.3, place + 0.3], color=GREY, linewidth=2)
        ax.plot(
            check.seen,
            place,
            mark,
            color=colour,
            fillstyle="full" if check.assumed else "none",
            markersize=7,
        )
    ax.set_yticks(places, [check.case for check in checks])
    ax.set_xlim(left=min(0.0, *(check.seen for check in checks)) - 0.005)
    note = "grey: what is promised, and what chance may add; open diamond: assumption left out"
    ax.set_xlabel(f"{what}\n{note}", fontsize=8, loc="right")
    ax.grid(axis="x", alpha=0.3)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0, labelsize=9)
    return ax
