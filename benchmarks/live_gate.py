"""A gate over time, looked at after every audited label: how often its statements are wrong, how soon a fall is found.

Run with ``python -m benchmarks.live_gate``; the table of docs/adr/0042-live-gate.md comes from here. 1,000 streams in
each row, confidence 0.9. "Upper bound below" and "lower bound above" count streams in which the true running error
rate *ever* left the bound; "broken" counts streams that were called broken while every label was wrong with at most
the allowed probability. All three may be 10 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import Doubt, doubted, running_error_lower, running_error_upper

N_STREAMS = 1_000
N_LABELS = 2_000
DELTA = 0.1
Law = Callable[[Array, int], Array]
Labels = NDArray[np.bool_]


def steady(rate: float) -> Law:
    """Every label is wrong with the same probability."""
    return lambda share, step: np.full(len(share), rate)


def jump(before: float, after: float, at: int) -> Law:
    """Another probability from one label on."""
    return lambda share, step: np.full(len(share), before if step < at else after)


def leaning(share: Array, step: int) -> Array:
    """Wrong more often after few errors, and less often after many: it depends on the past."""
    return np.where(share < 0.05, 0.12, 0.02)


LAWS: dict[str, Law] = {
    "0.05, steady": steady(0.05),
    "0.1, steady": steady(0.1),
    "0.2, steady": steady(0.2),
    "0.02, from label 300 on 0.3": jump(0.02, 0.3, 300),
    "0.3, from label 300 on 0.02": jump(0.3, 0.02, 300),
    "0.12 or 0.02, by the past": leaning,
}


def streams(law: Law, n_labels: int, seed: int) -> tuple[Labels, Array]:
    """Return labels and the probabilities with which they are wrong, (labels, streams) each."""
    rng, wrong = np.random.default_rng(seed), np.zeros(N_STREAMS)
    labels, rates = [], []
    for step in range(n_labels):
        rates.append(law(wrong / max(step, 1), step))
        labels.append(rng.random(N_STREAMS) < rates[-1])
        wrong = wrong + labels[-1]
    return np.array(labels), np.array(rates)


def by_counts(labels: Labels, bound: Callable[[Array, Array, float], Array]) -> Array:
    """Return the bound after every label; each pair of counts is computed once."""
    wrong = np.cumsum(labels, axis=0)
    count = np.arange(1, len(labels) + 1)[:, None] + np.zeros_like(wrong)
    pairs, place = np.unique(np.stack([wrong.ravel(), count.ravel()]), axis=1, return_inverse=True)
    return bound(pairs[0], pairs[1], DELTA)[np.ravel(place)].reshape(wrong.shape)


def print_bounds() -> None:
    """Print how often the running error rate ever left its bounds."""
    print("| error rate of labels | upper bound below | lower bound above | upper bound at 2,000 |\n|---|---|---|---|")
    for seed, (name, law) in enumerate(LAWS.items()):
        labels, rates = streams(law, N_LABELS, seed)
        running = np.cumsum(rates, axis=0) / np.arange(1, N_LABELS + 1)[:, None]
        upper, lower = (by_counts(labels, bound) for bound in (running_error_upper, running_error_lower))
        below, above = (upper < running).any(axis=0).mean(), (lower > running).any(axis=0).mean()
        print(f"| {name} | {below:.1%} | {above:.1%} | {np.median(upper[-1]):.3f} of {running[-1].mean():.3f} |")


def print_false() -> None:
    """Print how often a promise that held was called broken."""
    print("\n| allowed | labels wrong with | broken within 2,000 labels |\n|---|---|---|")
    for allowed in (0.05, 0.1, 0.2):
        for share in (0.5, 0.8, 1.0):
            labels, _ = streams(steady(share * allowed), N_LABELS, seed=10)
            print(f"| {allowed:g} | {share * allowed:g} | {broken(labels, allowed)[0].mean():.1%} |")


def print_delays() -> None:
    """Print after how many labels a fall by ten points was found."""
    print(
        "\n| target | good labels before | median | 90 % found within | called broken before |\n|---|---|---|---|---|"
    )
    for accuracy in (0.95, 0.9, 0.8):
        for before in (0, 200, 500, 2_000, 10_000):
            allowed = 1 - accuracy
            labels, _ = streams(jump(allowed, allowed + 0.1, before), before + 1_000, seed=20)
            found, first = broken(labels, allowed)
            early = found & (first < before)
            after = np.where(found, first - before + 1, np.inf)[~early]
            late = np.quantile(after, 0.9, method="higher")
            print(f"| {accuracy:g} | {before:,} | {np.median(after):.0f} | {late:.0f} | {early.mean():.1%} |")


def broken(labels: Labels, allowed: float) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return which streams were ever called broken, and at which label."""
    doubt, parts = Doubt.new(N_STREAMS), []
    for some in np.array_split(labels, max(1, len(labels) // 500)):
        doubt, evidence = doubted(doubt, some, allowed)
        parts.append(evidence >= np.log(1 / DELTA))
    over = np.concatenate(parts)
    return over.any(axis=0), over.argmax(axis=0)


def main() -> None:
    """Print the three tables."""
    print_bounds()
    print_false()
    print_delays()


if __name__ == "__main__":
    main()
