"""Claims: the paper's measures at least ten times as fast as pairwise loops, at a cost linear in the members.

Run with ``python -m benchmarks.classifier_measures``. The loops are those of research code: vectorised over rows and
classes, one pass in Python over every pair of a truth and a prediction, everything computed anew for every measure.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import log_softmax, softmax

from benchmarks.measure import Claim, best_of
from vecuq import ClassifierOutputs
from vecuq.measures import compositions, measure, risk

SHAPE, GOAL, EXACT = (5, 10_000, 100), 10.0, 1e-10
MEMBERS, GROWTH_ROWS = (2, 4, 8, 16, 32), 500
NAMES = tuple(dict.fromkeys(name for names in compositions.values() for name in names if name != "mahalanobis"))


def excess(rule: str, eta: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the Bregman divergence of the rule per row."""
    if rule == "log":
        return (eta * (np.log(eta) - np.log(q))).sum(axis=-1)
    if rule == "brier":
        return ((eta - q) ** 2).sum(axis=-1)
    if rule == "spherical":
        norms = np.linalg.norm(eta, axis=-1), np.linalg.norm(q, axis=-1)
        return norms[0] * (1 - (eta * q).sum(axis=-1) / (norms[0] * norms[1]))
    chosen = q.argmax(axis=-1)[:, None]
    return eta.max(axis=-1) - np.take_along_axis(eta, chosen, axis=-1)[:, 0]


def bayes(rule: str, eta: np.ndarray) -> np.ndarray:
    """Return the Bayes risk of the rule per row."""
    if rule == "log":
        return -(eta * np.log(eta)).sum(axis=-1)
    if rule == "brier":
        return 1 - (eta**2).sum(axis=-1)
    return 1 - (np.linalg.norm(eta, axis=-1) if rule == "spherical" else eta.max(axis=-1))


def central(rule: str, p: np.ndarray) -> np.ndarray:
    """Return the rule's central prediction."""
    if rule == "log":
        return softmax(np.log(p).mean(axis=0), axis=-1)
    if rule != "spherical":
        return p.mean(axis=0)
    x = (p / np.linalg.norm(p, axis=-1, keepdims=True)).mean(axis=0)
    y = x - x.mean(axis=-1, keepdims=True)
    return 1 / p.shape[-1] + y / np.sqrt(1 - (y**2).sum(axis=-1, keepdims=True)) / np.sqrt(p.shape[-1])


def literal(logits: np.ndarray, name: str) -> np.ndarray:
    """Return one measure by a double loop over truths and predictions."""
    kind, *middle = name.split("_")
    ways = [int(part) for part in middle if part.isdecimal()]
    rule = "-".join(part for part in middle if not part.isdecimal())
    p = np.exp(log_softmax(logits, axis=-1))
    stands_for = {1: lambda: list(p), 2: lambda: [p.mean(axis=0)], 3: lambda: [central(rule, p)]}
    truths = stands_for[ways[0]]()
    found = np.zeros(p.shape[1])
    if kind != "excess":
        found = found + np.mean([bayes(rule, eta) for eta in truths], axis=0)
    if kind != "bayes":
        predictions = stands_for[ways[1]]()
        found = found + np.mean([excess(rule, eta, q) for eta in truths for q in predictions], axis=0)
    return found


def literal_table(logits: np.ndarray) -> np.ndarray:
    """Return every measure of the paper by loops, (rows, measures)."""
    return np.stack([literal(logits, name) for name in NAMES], axis=1)


def logits_of(members: int, rows: int, classes: int) -> np.ndarray:
    """Return the logits of an ensemble whose members mostly agree."""
    rng = np.random.default_rng(0)
    return 3 * rng.normal(size=(rows, classes)) + rng.normal(size=(members, rows, classes))


def speed(rounds: int) -> Claim:
    """Compute the paper's measures both ways and compare."""
    logits = logits_of(*SHAPE)
    outputs = ClassifierOutputs.of(logits=logits)
    calls = {"ours": lambda: measure(outputs, NAMES).values, "loops": lambda: literal_table(logits)}
    best = best_of(calls, {"ours": 2 * rounds, "loops": rounds})
    error = float(np.abs(best["ours"].result - best["loops"].result).max())
    if not error <= EXACT:
        raise RuntimeError(f"The measures differ from the literal loops by {error:.1e}.")
    size = " x ".join(f"{n:,}" for n in SHAPE)
    return Claim(
        f"{len(NAMES)} measures of {size} logits (differ by {error:.0e})",
        f"{best['ours'].cpu:.3f} s",
        f"pairwise loops {best['loops'].cpu:.3f} s",
        best["loops"].cpu / best["ours"].cpu,
        goal=GOAL,
    )


def growth(rule: str, rounds: int) -> Claim:
    """Fit the exponent of the cost of the pairwise form in the number of members."""
    calls, loops = {}, {}
    for members in MEMBERS:
        logits = logits_of(members, GROWTH_ROWS, 100)
        calls[f"ours {members}"] = partial(risk, logits, kind="excess", rule=rule)
        loops[f"loops {members}"] = partial(literal, logits, f"excess_{rule}_1_1")
    best = best_of(calls | loops, dict.fromkeys(calls, 5 * rounds) | dict.fromkeys(loops, rounds))
    exponents = [
        np.polyfit(np.log(MEMBERS), np.log([best[name].cpu for name in part]), 1)[0] for part in (calls, loops)
    ]
    ours, theirs = map(float, exponents)
    name = f"excess_{rule}_1_1: exponent of the cost in {MEMBERS[0]} to {MEMBERS[-1]} members"
    return Claim(name, f"{ours:.2f}", f"pairwise loops {theirs:.2f}", ours, unit="", goal=1.2, at_least=False)


def run(quick: bool = False) -> list[Claim]:
    """Measure speed and growth."""
    rounds = 1 if quick else 3
    return [speed(rounds), growth("log", rounds), growth("brier", rounds)]


def main() -> None:
    """Print the claims."""
    for claim in run():
        print(" | ".join(claim.cells), flush=True)


if __name__ == "__main__":
    main()
