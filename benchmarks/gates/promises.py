"""The confident promise: how often it breaks, and what is accepted, by family, target and number of labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from benchmarks.gates.draws import DELTA, agrees_with_the_product, certified, draw_counts, naive, oracle, outcome
from benchmarks.gates.population import MAX_PROBABILITY, VECUQ, Population

TARGETS, LABELS = (0.8, 0.9, 0.95), (200, 500, 2000)
NAIVE, ORACLE = "naive", "oracle"
# Below this coverage of the oracle a ratio means nothing.
ENOUGH = 0.1


@dataclass(frozen=True)
class Cell:
    """One rule on one set, at one target and number of labels, over all draws."""

    family: str
    name: str
    rule: str
    target: float
    n_labels: int
    coverage: float  # mean over draws
    broken: float  # share of draws


def study(family: str, populations: list[Population], draws: int, *, labels: tuple[int, ...] = LABELS) -> list[Cell]:
    """Return the cells of a family: the gate on every order, the naive threshold, the oracle."""
    return [
        cell
        for k, population in enumerate(populations)
        for n_labels in labels
        for cell in _cells(family, population, n_labels, draws, np.random.default_rng([k, n_labels]))
    ]


def _cells(family: str, population: Population, n_labels: int, draws: int, rng: np.random.Generator) -> list[Cell]:
    cells = []
    for name, order in population.orders.items():
        counts = draw_counts(order, population.wrong, n_labels, draws, rng)
        for target in TARGETS:
            allowed = 1 - target
            ends = {name: certified(counts, order.ladder, allowed)}
            if name == VECUQ:
                ends[NAIVE] = naive(counts, allowed)
            for rule, last in ends.items():
                found = outcome(counts, last, allowed)
                sizes = float(found.coverage.mean()), float(found.broken.mean())
                cells.append(Cell(family, population.name, rule, target, n_labels, *sizes))
    own = population.orders[VECUQ].scores
    for target in TARGETS:
        best = oracle(own, population.wrong, 1 - target)
        cells.append(Cell(family, population.name, ORACLE, target, n_labels, best, 0.0))
    return cells


@dataclass(frozen=True)
class Limits:
    """How often a promise may seem broken by chance: three standard errors, and as many as all cells need at once."""

    three: float
    all_cells: float

    @staticmethod
    def of(n_cells: int, draws: int, delta: float = DELTA) -> Limits:
        """Return the limits; the second has the error probability of three standard errors over all cells together."""
        error = float(np.sqrt(delta * (1 - delta) / draws))
        return Limits(delta + 3 * error, delta + float(norm.isf(norm.sf(3) / max(n_cells, 1))) * error)


def mean_of(cells: list[Cell], family: str, rule: str, target: float, n_labels: int) -> float:
    """Return the mean coverage over the sets of a family."""
    return float(np.mean([cell.coverage for cell in _chosen(cells, family, rule, target, n_labels)]))


def broken_of(cells: list[Cell], family: str, rule: str, target: float, n_labels: int) -> tuple[float, float]:
    """Return the mean and the largest share of broken draws over the sets of a family."""
    shares = [cell.broken for cell in _chosen(cells, family, rule, target, n_labels)]
    return float(np.mean(shares)), float(np.max(shares))


def _chosen(cells: list[Cell], family: str, rule: str, target: float, n_labels: int) -> list[Cell]:
    wanted = (family, rule, target, n_labels)
    return [cell for cell in cells if (cell.family, cell.rule, cell.target, cell.n_labels) == wanted]


def single_columns(cells: list[Cell], family: str, columns: tuple[str, ...], target: float, n_labels: int):
    """Return the best and the worst column of a family, and the coverage if each set's best were known."""
    means = {column: mean_of(cells, family, column, target, n_labels) for column in columns}
    by_set = [[cell.coverage for cell in _chosen(cells, family, column, target, n_labels)] for column in columns]
    best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    return (best, means[best]), (worst, means[worst]), float(np.max(by_set, axis=0).mean())


def table(cells: list[Cell]) -> list[list[str]]:
    """Return a line per family, target and number of labels."""
    keys = sorted({(cell.family, cell.target, cell.n_labels) for cell in cells}, key=_family_first)
    return [_line(cells, *key) for key in keys]


def _family_first(key: tuple[str, float, int]) -> tuple[int, float, int]:
    return list(MAX_PROBABILITY).index(key[0]), key[1], key[2]


def _line(cells: list[Cell], family: str, target: float, n_labels: int) -> list[str]:
    at = (target, n_labels)
    mean, worst = broken_of(cells, family, VECUQ, *at)
    gate, best = mean_of(cells, family, VECUQ, *at), mean_of(cells, family, ORACLE, *at)
    figures = [mean, worst, gate, best]
    ratio = f"{gate / best:.2f}" if best >= ENOUGH else "-"
    single = mean_of(cells, family, MAX_PROBABILITY[family], *at)
    simple = (mean_of(cells, family, NAIVE, *at), broken_of(cells, family, NAIVE, *at)[0])
    return [
        family,
        f"{target:g}",
        f"{n_labels:,}",
        *(f"{figure:.3f}" for figure in figures),
        ratio,
        f"{single:.3f}",
        *(f"{x:.3f}" for x in simple),
    ]


def same_as_the_product(populations: list[Population], draws: int = 3) -> tuple[int, int]:
    """Return how many single draws were decided by the product's own function too, and in how many it differed."""
    rng, found = np.random.default_rng(1), []
    for population in populations:
        for n_labels in LABELS:
            for target in TARGETS:
                found += [agrees_with_the_product(population, n_labels, 1 - target, rng) for _ in range(draws)]
        found.append(agrees_with_the_product(population, 500, 0.1, rng, gate=True))
    return len(found), len(found) - sum(found)
