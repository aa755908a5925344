"""Asking for the next label: whether 300 labels of chosen rows certify as much as 500 of random ones.

Both ways are honest: what is labelled in the second stage follows from the first stage alone, its p-values hold given
the first stage, and thresholds and shares of delta are fixed beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from benchmarks.gates.draws import (
    DELTA,
    Counts,
    Outcome,
    cells_of,
    certified,
    counts_of,
    draw_counts,
    outcome,
    shares_for,
    walks,
)
from benchmarks.gates.population import VECUQ, Order, Population
from vecuq.conformal import error_rate_p_values

FIRST, SECOND = 100, 200
RANDOM = (300, 400, 500)
# A typical share of rows below the threshold, which fixes how much either stage counts.
_TYPICAL = 0.5


@dataclass(frozen=True)
class Asked:
    """Mean coverage of a family: random labels, and the same certificate with labels of chosen rows."""

    family: str
    random: tuple[float, ...]
    asked: tuple[float, ...]
    broken: float  # the largest share of broken draws of any set


def study_asking(family: str, populations: list[Population], draws: int, allowed: float = 0.1) -> Asked:
    """Compare random labels with both ways of asking."""
    random, asked, broken = [], [], 0.0
    for k, population in enumerate(populations):
        rng, order = np.random.default_rng(k), population.orders[VECUQ]
        several = [draw_counts(order, population.wrong, n, draws, rng) for n in RANDOM]
        random.append([outcome(one, certified(one, order.ladder, allowed), allowed).coverage.mean() for one in several])
        found = [way(order, population.wrong, allowed, draws, rng) for way in (by_region, by_weighted_bets)]
        asked.append([one.coverage.mean() for one in found])
        broken = max(broken, *(float(one.broken.mean()) for one in found))
    return Asked(family, tuple(np.mean(random, axis=0)), tuple(np.mean(asked, axis=0)), broken)


def reach(counts: Counts, allowed: float) -> np.ndarray:
    """Return how far acceptance may reach, by a first look: the last step with few errors, and a little further."""
    hopeful = counts.errors <= allowed * counts.accepted + 0.3 * np.sqrt(allowed * counts.accepted)
    last = np.where(hopeful.any(axis=1), hopeful.shape[1] - 1 - hopeful[:, ::-1].argmax(axis=1), 0)
    return np.maximum(last, np.searchsorted(counts.coverage, 0.15))


def _second(cells: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the second stage: each draw has a weight for every step, (draws, steps + 1), whether right or wrong."""
    chances = (cells[None] * weights[:, None, :]).reshape(len(weights), -1)
    chances = chances / chances.sum(axis=1, keepdims=True)
    return np.stack([rng.multinomial(SECOND, one) for one in chances]).reshape(len(weights), *cells.shape)


def by_region(order: Order, wrong: np.ndarray, allowed: float, draws: int, rng: np.random.Generator) -> Outcome:
    """Label only rows that may be accepted at all, as the first stage sees it; both stages certify."""
    cells, first = cells_of(order, wrong), draw_counts(order, wrong, FIRST, draws, rng)
    limit = reach(first, allowed)
    inside = np.arange(cells.shape[1])[None] <= limit[:, None]
    second = counts_of(_second(cells, inside.astype(float), rng), cells, SECOND)
    stages = [error_rate_p_values(one.errors, one.accepted, allowed) for one in (first, second)]
    share = np.sqrt(FIRST / (FIRST + SECOND / _TYPICAL))
    with np.errstate(invalid="ignore"):
        z = share * ndtri(1 - stages[0]) + np.sqrt(1 - share**2) * ndtri(1 - stages[1])
    p_values = np.where(inside[:, :-1], 1 - ndtr(np.nan_to_num(z, nan=-np.inf)), 1.0)
    last = walks(p_values, shares_for(order.ladder, FIRST + int(SECOND / _TYPICAL), allowed, DELTA))
    return outcome(first, last, allowed)


def by_weighted_bets(order: Order, wrong: np.ndarray, allowed: float, draws: int, rng: np.random.Generator) -> Outcome:
    """Label rows near the threshold more often, and weigh them by how much more often, in a betting test."""
    cells = cells_of(order, wrong)
    seen = rng.multinomial(FIRST, cells.ravel() / cells.sum(), size=draws).reshape(draws, *cells.shape)
    first = counts_of(seen, cells, FIRST)
    limit = reach(first, allowed)
    steps = np.arange(cells.shape[1])[None]
    near = np.where(steps <= limit[:, None], np.sqrt(0.02 + 0.3 * steps / np.maximum(limit[:, None], 1)), 0.02)
    share = (cells.sum(axis=0) / cells.sum())[None]
    often = near / (near * share).sum(axis=1, keepdims=True)  # how much more often than at random
    more = _second(cells, often, rng)
    fortune = _log_fortunes(seen, np.ones_like(often), allowed, first, FIRST)
    fortune += _log_fortunes(more, 1 / often, allowed, first, SECOND)
    p_values = np.where(steps[:, :-1] <= limit[:, None], np.exp(-np.maximum(fortune, 0.0)), 1.0)
    last = walks(p_values, shares_for(order.ladder, FIRST + int(SECOND / _TYPICAL), allowed, DELTA))
    return outcome(first, last, allowed)


def _log_fortunes(seen: np.ndarray, weights: np.ndarray, allowed: float, known: Counts, n: int) -> np.ndarray:
    """Return the log fortune at each step of bets on weighted excess losses, (draws, steps)."""
    found = np.empty(known.accepted.shape)
    for step in range(found.shape[1]):
        inside = weights[:, : step + 1]
        size = n * max(known.coverage[step], 1e-3) * allowed * (1 - allowed) * inside.mean(axis=1, keepdims=True)
        stake = np.sqrt(2 * np.log(1 / DELTA) / size)
        stake = np.minimum(stake, 0.8 / ((1 - allowed) * inside.max(axis=1, keepdims=True)))
        right = seen[:, 0, : step + 1] * np.log1p(stake * allowed * inside)
        wrong = seen[:, 1, : step + 1] * np.log1p(-stake * (1 - allowed) * inside)
        found[:, step] = (right + wrong).sum(axis=1)
    return found
