"""Draws of labels from a population, many at once: only the counts between thresholds matter, and they are multinomial.

:func:`agrees_with_the_product` checks on single draws that this is what ``accept_confidently`` and ``Gate`` decide.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from benchmarks.gates.population import VECUQ, Order, Population
from vecuq import Gate
from vecuq.conformal import Ladder, accept_confidently, error_rate_p_values
from vecuq.conformal.acceptance import shares_of_delta
from vecuq.conformal.p_values import SLACK

DELTA = 0.1


@dataclass(frozen=True)
class Counts:
    """What many sets of labels show at each threshold, and what is true of the population there."""

    n_labels: int
    accepted: np.ndarray  # (draws, steps), labelled rows at or below each threshold
    errors: np.ndarray  # (draws, steps), those of them that are wrong
    coverage: np.ndarray  # (steps,), of the population
    error: np.ndarray  # (steps,), the error rate of the rows of the population that are accepted


@dataclass(frozen=True)
class Outcome:
    """What each draw came to: the share of the population that is accepted, and whether it is wrong too often."""

    coverage: np.ndarray  # (draws,)
    broken: np.ndarray  # (draws,), bool


def cells_of(order: Order, wrong: np.ndarray) -> np.ndarray:
    """Return how many rows lie between thresholds, right ones and wrong ones, (2, steps + 1)."""
    places, steps = order.ladder.places_of(order.scores), len(order.ladder.thresholds)
    return np.stack([np.bincount(places[wrong == kind], minlength=steps + 1) for kind in (False, True)])


def draw_counts(order: Order, wrong: np.ndarray, n_labels: int, draws: int, rng: np.random.Generator) -> Counts:
    """Draw labels with replacement from a population, many times."""
    cells = cells_of(order, wrong)
    seen = rng.multinomial(n_labels, cells.ravel() / cells.sum(), size=draws).reshape(draws, *cells.shape)
    return counts_of(seen, cells, n_labels)


def counts_of(seen: np.ndarray, cells: np.ndarray, n_labels: int) -> Counts:
    """Add up from the most certain rows outwards: labels that were seen (draws, 2, steps + 1), and all rows."""
    upto, true = seen.cumsum(axis=2)[:, :, :-1], cells.cumsum(axis=1)[:, :-1]
    both = true.sum(axis=0)
    return Counts(n_labels, upto.sum(axis=1), upto[:, 1], both / cells.sum(), true[1] / np.maximum(both, 1))


def outcome(counts: Counts, last: np.ndarray, allowed: float) -> Outcome:
    """Return what the draws come to that accept up to step ``last``, (draws,); -1 accepts nothing."""
    coverage, error = np.append(counts.coverage, 0.0), np.append(counts.error, 0.0)
    return Outcome(coverage[last], error[last] > allowed + 1e-12)


def certified(counts: Counts, ladder: Ladder, allowed: float, delta: float = DELTA) -> np.ndarray:
    """Return the step that the gate's own rule certifies for each draw, -1 for none."""
    p_values = error_rate_p_values(counts.errors, counts.accepted, allowed)
    return walks(p_values, shares_for(ladder, counts.n_labels, allowed, delta))


def walks(p_values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return where ``walk_outwards`` ends for each row of p-values; all rows have the same shares, or each its own."""
    level, last = np.zeros(len(p_values)), np.full(len(p_values), -1)
    for step in range(p_values.shape[1]):
        level = level + shares[..., step]
        passes = (p_values[:, step] <= level * (1 + SLACK)) & (level > 0)
        last[passes] = step
        level = np.where(passes, level, 0.0)
    return last


def shares_for(ladder: Ladder, n_labels: int, allowed: float, delta: float) -> np.ndarray:
    """Return the product's shares of delta; they follow from the ladder's coverage alone."""
    return _shares(ladder.coverage.tobytes(), n_labels, allowed, delta)


@lru_cache(maxsize=20_000)
def _shares(coverage: bytes, n_labels: int, allowed: float, delta: float) -> np.ndarray:
    steps = np.frombuffer(coverage)
    return shares_of_delta(Ladder(steps, steps), n_labels, allowed=allowed, delta=delta)


def naive(counts: Counts, allowed: float) -> np.ndarray:
    """Return the last step at which the labels themselves are wrong rarely enough, -1 for none."""
    passes = (counts.errors <= allowed * counts.accepted) & (counts.accepted > 0)
    return np.where(passes.any(axis=1), passes.shape[1] - 1 - passes[:, ::-1].argmax(axis=1), -1)


def oracle(scores: np.ndarray, wrong: np.ndarray, allowed: float) -> float:
    """Return the largest share of the population that one threshold can accept without too many errors."""
    kept = np.flatnonzero(~np.isnan(scores))
    ranked = kept[np.argsort(scores[kept], kind="stable")]
    last = np.append(scores[ranked][1:] != scores[ranked][:-1], True)[: len(ranked)]
    sizes = np.arange(1, len(ranked) + 1)
    passes = last & (wrong[ranked].cumsum() <= allowed * sizes)
    return float(sizes[passes].max(initial=0) / len(scores))


def agrees_with_the_product(
    population: Population, n_labels: int, allowed: float, rng: np.random.Generator, *, gate: bool = False
) -> bool:
    """Whether one draw of rows has the same threshold here and in the product's function, or in the Gate itself."""
    order, rows = population.orders[VECUQ], rng.integers(0, len(population.wrong), n_labels)
    scores, wrong = order.scores[rows], population.wrong[rows]
    seen = cells_of(Order(order.ladder, scores), wrong)
    step = certified(counts_of(seen[None], seen, n_labels), order.ladder, allowed)[0]
    ours = float(order.ladder.thresholds[step]) if step >= 0 else -np.inf
    if not gate:
        return ours == accept_confidently(scores, wrong, order.ladder, allowed=allowed, delta=DELTA).threshold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = Gate(population.model, error=allowed, confidence=1 - DELTA).fit(population.values[rows], ~wrong)
    return ours == fitted.threshold_
