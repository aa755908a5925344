"""
Gate against threshold
======================

Take labelled rows and choose the largest threshold at which they are 90 % right. On new rows that
threshold breaks the 90 % about half of the time. The gate chooses from the same labels with a
certificate, accepts a little less, and breaks it in at most one of ten draws.
"""

import numpy as np
from _look import BLUE, GREY, VERMILION, bare, panels

from vecuq.conformal import Ladder, accept_confidently

rng = np.random.default_rng(7)
ALLOWED, DELTA = 0.1, 0.1

# %%
# A population that is known as a whole: the error rate rises with the uncertainty.

scores = np.sort(rng.random(20_000))
wrong = rng.random(20_000) < 0.3 * scores
risk = np.append(0.0, np.cumsum(wrong) / np.arange(1, 20_001))
ladder = Ladder.of(rng.random(1000))


def both(n_labels: int) -> tuple[float, float]:
    """Return the thresholds that one draw of labels leads to: naive, and by the gate."""
    drawn = rng.integers(20_000, size=n_labels)
    found = accept_confidently(
        scores[drawn], wrong[drawn], ladder, allowed=ALLOWED, delta=DELTA
    )
    good = np.flatnonzero((found.n_accepted > 0) & (found.losses <= ALLOWED * found.n_accepted))
    return ladder.thresholds[good[-1]] if len(good) else -np.inf, found.threshold


draws = {n: np.array([both(n) for _ in range(300)]) for n in (100, 200, 500, 1000, 2000)}
accepted = {n: np.searchsorted(scores, some, side="right") for n, some in draws.items()}

# %%
# Left: the accuracy that 300 draws of 500 labels lead to. Right: how often the promise breaks.

bars, lines = panels(2, width_ratios=(1.15, 1))
bins = np.linspace(0.84, 0.99, 46)
for column, (name, colour, mark, hatch) in enumerate(
    (("naive threshold", VERMILION, "x", "//"), ("gate", BLUE, "o", ""))
):
    taken = accepted[500][:, column]
    bars.hist(
        1 - risk[taken[taken > 0]],
        bins,
        color=colour,
        alpha=0.55,
        hatch=hatch,
        edgecolor="white",
        label=name,
    )
    broken = [(risk[some[:, column]] > ALLOWED).mean() for some in accepted.values()]
    lines.plot(list(accepted), broken, marker=mark, color=colour, label=name)
    lines.annotate(
        f"{broken[2]:.0%}",
        (500, broken[2]),
        (0, 7),
        textcoords="offset points",
        ha="center",
        color=colour,
    )
bars.axvline(1 - ALLOWED, color=GREY, linestyle="--", label="target")
bare(bars, "300 draws of 500 labels", xlabel="true accuracy of accepted rows", ylabel="draws")
bars.legend(frameon=False, loc="upper right")
lines.axhline(DELTA, color=GREY, linestyle="--", label="promised: at most 10 %")
lines.set(xscale="log", ylim=(0, 0.8))
lines.set_xticks(list(accepted), [f"{n:,}" for n in accepted], minor=False)
lines.minorticks_off()
bare(lines, "accuracy below 90 %", xlabel="labels", ylabel="share of draws")
lines.legend(frameon=False)
