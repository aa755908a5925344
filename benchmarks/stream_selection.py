"""Selections from 250 batches of 50 rows: how many of all selected rows are false, and how many outliers are found.

Run with ``python -m benchmarks.stream_selection``; the figures of docs/decisions.md and docs/adr/0042-live-gate.md come
from here. Scores are normal, outliers are shifted; alpha 0.1, 200 streams per line. LORD++ (Ramdas, Yang, Wainwright
and Jordan 2017), which vecuq does not offer, takes the rows one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import Discoveries, conformal_p_values, select_by_e_values, select_by_pooling, selected

N_RUNS, N_BATCHES, N_ROWS, ALPHA = 200, 250, 50, 0.1
CASES = ((0.0, 0.0), (0.005, 5.0), (0.01, 4.0), (0.02, 4.0), (0.1, 3.0), (0.1, 4.0), (0.3, 3.0))
Chosen = NDArray[np.bool_]
Rule = Callable[[Discoveries, Array, float], tuple[Discoveries, Chosen]]


def by_batch(p_values: Array, n_held: int) -> Chosen:
    """Benjamini and Hochberg in every batch by itself."""
    return np.array([selected(batch, ALPHA) for batch in p_values])


def online(rule: Rule) -> Callable[[Array, int], Chosen]:
    """One of vecuq's rules, batch after batch."""

    def run(p_values: Array, n_held: int) -> Chosen:
        found, chosen = Discoveries.new(n_held), []
        for batch in p_values:
            found, one = rule(found, batch, ALPHA)
            chosen.append(one)
        return np.array(chosen)

    return run


def lord(p_values: Array, n_held: int) -> Chosen:
    """LORD++ with its usual sequence."""
    flat = p_values.ravel()
    j = np.arange(1.0, len(flat) + 1.0)
    gamma = np.log(np.maximum(j, 2.0)) / (j * np.exp(np.sqrt(np.log(j))))
    gamma = 0.07720838 * gamma
    level = gamma * ALPHA / 2
    chosen, first = np.zeros(len(flat), dtype=bool), True
    for t, p in enumerate(flat):
        if p <= level[t]:
            chosen[t] = True
            level[t + 1 :] += (ALPHA / 2 if first else ALPHA) * gamma[: len(flat) - t - 1]
            first = False
    return chosen.reshape(p_values.shape)


RULES = {
    "BH per batch": by_batch,
    "e-LOND": online(select_by_e_values),
    "pooled": online(select_by_pooling),
    "LORD++": lord,
}


def main() -> None:
    """Print the table."""
    print(f"| held back | outliers | shift | {' | '.join(f'{name}: false, found' for name in RULES)} |")
    print("|---|---|---|" + "---|" * len(RULES))
    for n_held in (200, 1_000, 5_000):
        for share, shift in CASES:
            found = np.mean([_of_run(run, n_held, share, shift) for run in range(N_RUNS)], axis=0)
            shown = " | ".join(f"{false:.1%}, {power:.0%}" for false, power in found)
            print(f"| {n_held:,} | {share:.1%} | {shift:g} | {shown} |", flush=True)


def _of_run(run: int, n_held: int, share: float, shift: float) -> list[tuple[float, float]]:
    rng = np.random.default_rng([run, n_held])
    outside = rng.random((N_BATCHES, N_ROWS)) < share
    scores = rng.normal(size=outside.shape) + shift * outside
    p_values = conformal_p_values(scores.ravel(), np.sort(rng.normal(size=n_held))).reshape(outside.shape)
    rates = []
    for rule in RULES.values():
        chosen = rule(p_values, n_held)
        false, right = int((chosen & ~outside).sum()), int((chosen & outside).sum())
        rates.append((false / max(false + right, 1), right / max(int(outside.sum()), 1)))
    return rates


if __name__ == "__main__":
    main()
