"""
The gate's average promise
==========================

**Promise.** Of the rows accepted from one batch, at most the target's share is wrong, on average
over batches and labels.

**Assumption.** New and labelled rows are exchangeable and independent, and a batch is decided as a
whole.

**Theorem.** Jin and Candes (2023), theorems 3 and 6; conformal alignment: Gui, Jin and Ren (2024).
"""

import matplotlib.pyplot as plt
import numpy as np
from _checking import BLUE, GREY, VERMILION, judged, mean, picture, rate, runs

from vecuq.conformal import acceptance_p_values, accepted_on_average

rng = np.random.default_rng(2609)
ALLOWED, N_LABELS = 0.1, 200

# %%
# Rows are wrong more often where the score is high. One new row per run shows the p-value, whole
# batches show the share of wrong rows among those accepted.


def drawn(n_rows: int, worse: float = 0.0):
    scores = rng.random(n_rows).round(2)
    return scores, rng.random(n_rows) < worse + 0.9 * scores**2


def small_and_wrong() -> bool:
    scores, wrong = drawn(N_LABELS + 1)
    p = acceptance_p_values(scores[:1], scores[1:], wrong[1:])[0]
    return bool(wrong[0] and p <= ALLOWED)


def batch(size: int, worse: float = 0.0) -> tuple[float, int, int]:
    labelled, failed = drawn(N_LABELS)
    scores, wrong = drawn(size, worse)
    taken = accepted_on_average(scores, labelled, failed, ALLOWED)
    return (
        (wrong & taken).sum() / max(taken.sum(), 1),
        int((wrong & taken).sum()),
        int(taken.sum()),
    )


sizes = (1, 5, 20, 100, 500)
found = {size: np.array([batch(size) for _ in range(runs(1000))]) for size in sizes}
drifted = np.array([batch(100, worse=0.1) for _ in range(runs(1000))])
checks = [
    rate(
        "average",
        "wrong, with a p-value up to 0.1",
        [small_and_wrong() for _ in range(runs(3000))],
        ALLOWED,
    ),
    *(mean("average", f"batches of {size}", found[size][:, 0], ALLOWED) for size in sizes),
    mean("average", "new rows wrong more often", drifted[:, 0], ALLOWED, assumed=False),
]

# %%
# The promise is about batches. All accepted rows taken together are wrong more often if batches
# are small: a batch that accepts nothing has a share of 0, and counts as much as one that accepts
# all. This is why a single row is refused under this promise.

alone = found[1][found[1][:, 2] > 0]
checks.append(
    rate("average", "accepted rows of batches of 1", alone[:, 1] > 0, ALLOWED, assumed=False)
)
print(judged(checks))

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4), layout="constrained", width_ratios=(1, 1.15)
)
left.plot(
    sizes,
    [found[size][:, 0].mean() for size in sizes],
    "o-",
    color=BLUE,
    label="mean over batches (promised)",
)
together = [found[size][:, 1].sum() / found[size][:, 2].sum() for size in sizes]
left.plot(sizes, together, "D--", color=VERMILION, label="all accepted rows together")
left.axhline(ALLOWED, color=GREY, linewidth=1)
left.set(xscale="log", xlabel="rows in a batch", ylabel="share that is wrong", ylim=(0, None))
left.set_xticks(sizes, [str(size) for size in sizes], minor=False)
left.legend(frameon=False)
picture(checks, "share that is wrong", right)
plt.show()
