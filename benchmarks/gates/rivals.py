"""Other ways to spend the same labels on several scores: thresholds for each (MAPIE), a learned model, a choice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.gates.draws import DELTA, Outcome
from benchmarks.gates.mapie_control import mapie
from benchmarks.gates.population import SUM, Population
from vecuq.conformal import Ladder, accept_confidently

MAPIE, LOGISTIC, BEST = "MAPIE", "logistic", "order='best'"
# What a model or a choice of the order may spend: reviewers used 30 % for a model, the gate takes 25 % for a choice.
SPENT = {LOGISTIC: 0.3, BEST: 0.25}


def logistic(population: Population, n_labels: int, allowed: float, draws: int, rng: np.random.Generator) -> Outcome:
    """Return what the gate's certificate gives an order that a logistic model learned from a part of the labels."""

    def learned(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from sklearn.linear_model import LogisticRegression

        failed = population.wrong[rows]
        if failed.all() or not failed.any():
            return population.orders[SUM].ladder.thresholds, population.orders[SUM].scores
        centre, scale = population.held.mean(axis=0), population.held.std(axis=0) + 1e-12
        model = LogisticRegression(max_iter=200).fit((population.values[rows] - centre) / scale, failed)
        return tuple(model.decision_function((x - centre) / scale) for x in (population.held, population.values))

    return _split(population, LOGISTIC, n_labels, allowed, draws, rng, learned)


def best_order(population: Population, n_labels: int, allowed: float, draws: int, rng: np.random.Generator) -> Outcome:
    """Return what a gate accepts whose order a quarter of the labels chose between model and columns.

    Until 0.3 that was ``Gate(order="best")``.
    """
    names = [name for name in population.orders if name != SUM]
    held = {name: population.orders[name].ladder for name in names}

    def chosen(rows: np.ndarray) -> tuple[Ladder, np.ndarray]:
        failed = population.wrong[rows].astype(float)
        areas = [error_area(population.orders[name].scores[rows], failed) for name in names]
        name = names[int(np.argmin(areas))]
        return held[name], population.orders[name].scores

    return _split(population, BEST, n_labels, allowed, draws, rng, chosen)


def error_area(scores: np.ndarray, losses: np.ndarray) -> float:
    """Return the mean error rate over all coverages (AURC); equal scores share their mean loss."""
    filled = np.where(np.isnan(scores), np.inf, scores)
    _, inverse, counts = np.unique(filled, return_inverse=True, return_counts=True)
    shared = (np.bincount(inverse, weights=losses) / counts)[inverse]
    ordered = shared[np.argsort(filled, kind="stable")]
    return float((np.cumsum(ordered) / np.arange(1, len(ordered) + 1)).mean())


def _split(
    population: Population,
    rule: str,
    n_labels: int,
    allowed: float,
    draws: int,
    rng: np.random.Generator,
    order_from: Callable[[np.ndarray], tuple[Ladder | np.ndarray, np.ndarray]],
) -> Outcome:
    """Spend some labels on an order, and certify it with the others by the product's own function."""
    coverage, broken = np.zeros(draws), np.zeros(draws, dtype=bool)
    for draw in range(draws):
        rows = rng.integers(0, len(population.wrong), n_labels)
        spent = int(SPENT[rule] * n_labels)
        known, scores = order_from(rows[:spent])
        ladder = known if isinstance(known, Ladder) else Ladder.of(known)
        rest = rows[spent:]
        found = accept_confidently(scores[rest], population.wrong[rest], ladder, allowed=allowed, delta=DELTA)
        taken = scores <= found.threshold
        coverage[draw] = taken.mean()
        broken[draw] = population.wrong[taken].sum() > allowed * taken.sum() + 1e-9
    return Outcome(coverage, broken)


RIVALS = {MAPIE: mapie, LOGISTIC: logistic, BEST: best_order}
