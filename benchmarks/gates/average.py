"""The average promise: the mean share of wrong rows among those accepted from one batch, by the product's function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.gates.population import VECUQ, Population
from vecuq.conformal import accepted_on_average

BATCHES = (1, 50, 1000)
N_LABELS = 500


@dataclass(frozen=True)
class Batches:
    """Many batches of one size from one set: what was accepted from each, and what of it was wrong."""

    family: str
    name: str
    target: float
    size: int
    n_labels: int
    accepted: np.ndarray  # (draws,)
    wrong: np.ndarray  # (draws,)

    @property
    def shares(self) -> np.ndarray:
        """The quantity wrong / max(accepted, 1) of every batch, whose mean is promised."""
        return self.wrong / np.maximum(self.accepted, 1)

    @property
    def excess(self) -> float:
        """By how many standard errors the mean share lies above what is allowed."""
        error = self.shares.std(ddof=1) / np.sqrt(len(self.shares))
        over = float(self.shares.mean() - (1 - self.target))
        return over / error if error > 0 else float(np.sign(over)) * np.inf

    @property
    def pooled(self) -> float:
        """The share of wrong rows among all that were accepted, of all batches together; this is not promised."""
        return float(self.wrong.sum() / max(self.accepted.sum(), 1))


def study_batches(
    family: str,
    populations: list[Population],
    targets: tuple[float, ...],
    draws: int,
    *,
    sizes: tuple[int, ...] = BATCHES,
    labels: tuple[int, ...] = (N_LABELS,),
) -> list[Batches]:
    """Draw labels and a batch anew each time, from the same population."""
    return [
        _batches(family, population, target, size, n_labels, draws, np.random.default_rng([k, size, n_labels]))
        for k, population in enumerate(populations)
        for target in targets
        for size in sizes
        for n_labels in labels
    ]


def _batches(
    family: str, population: Population, target: float, size: int, n_labels: int, draws: int, rng: np.random.Generator
) -> Batches:
    scores, wrong = population.orders[VECUQ].scores, population.wrong
    accepted, failed = np.zeros(draws), np.zeros(draws)
    for draw in range(draws):
        known, new = rng.integers(0, len(wrong), n_labels), rng.integers(0, len(wrong), size)
        taken = accepted_on_average(scores[new], scores[known], wrong[known], 1 - target)
        accepted[draw], failed[draw] = taken.sum(), wrong[new][taken].sum()
    return Batches(family, population.name, target, size, n_labels, accepted, failed)


def alignment(found: list[Batches], family: str, n_labels: int) -> tuple[float, float]:
    """Return the mean coverage of a family's batches, and the share of batches with more errors than the target."""
    chosen = [one for one in found if (one.family, one.n_labels) == (family, n_labels)]
    over = [(one.shares > 1 - one.target + 1e-12).mean() for one in chosen]
    return float(np.mean([one.accepted.mean() / one.size for one in chosen])), float(np.mean(over))


def average_table(found: list[Batches]) -> list[list[str]]:
    """Return a line per family, target and batch size."""
    keys = dict.fromkeys((one.family, one.target, one.size) for one in found)
    return [_line([one for one in found if (one.family, one.target, one.size) == key], *key) for key in keys]


def _line(found: list[Batches], family: str, target: float, size: int) -> list[str]:
    means = [float(one.shares.mean()) for one in found]
    pooled = sum(one.wrong.sum() for one in found) / max(sum(one.accepted.sum() for one in found), 1)
    coverage = float(np.mean([one.accepted.mean() / size for one in found]))
    worst = max(one.excess for one in found)
    figures = (1 - target, float(np.mean(means)), max(means), worst, pooled, coverage)
    return [family, f"{target:g}", f"{size:,}", *(f"{figure:.3f}" for figure in figures)]
