"""The ensembles of the image studies: five groups of four small residual networks for each of two data sets.

Trained by ``studies/train_ensembles.py``; their logits come with ``paper-data``. The split is the paper's: a smaller
part of the in-distribution validation rows fits the map, the rest evaluates, and no out-of-distribution row is ever
used to fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.measures import compositions, fit_densities, measure, predicted_classes
from vecuq.outputs import ClassifierOutputs
from vecuq.paper.recorded import ensemble_file

# In-distribution sets, each with its out-of-distribution sets.
DATASETS = {
    "cifar10": ("svhn", "tinyimagenet", "fashion_mnist", "mnist"),
    "fashion_mnist": ("mnist", "cifar10", "svhn", "tinyimagenet"),
}
CALIBRATION_ROWS = 2_000


@dataclass(frozen=True, eq=False)
class GroupScores:
    """Score vectors of one group of networks: all columns of the paper's compositions, higher = more uncertain."""

    columns: tuple[str, ...]
    calibration: Array
    test: Array
    is_error: NDArray[np.bool_]
    ood: dict[str, Array]

    def select(self, names: tuple[str, ...]) -> GroupScores:
        """Return the same rows with the named columns only."""
        places = [self.columns.index(name) for name in names]
        ood = {name: rows[:, places] for name, rows in self.ood.items()}
        return GroupScores(names, self.calibration[:, places], self.test[:, places], self.is_error, ood)


def n_groups(dataset: str) -> int:
    """Return how many groups of networks were trained on a data set."""
    with np.load(ensemble_file(dataset), allow_pickle=False) as arrays:
        return len(arrays["test"])


@lru_cache(maxsize=16)
def group_scores(dataset: str, group: int) -> GroupScores:
    """Compute all score columns of one group; densities look at the logits, as the authors do."""
    arrays = _load(ensemble_file(dataset))
    columns = tuple(dict.fromkeys(name for names in compositions.values() for name in names))
    train = ClassifierOutputs.of(logits=arrays["train"][group], labels=arrays["train_labels"])
    densities = fit_densities(columns, train)

    def scores(name: str) -> Array:
        return measure(ClassifierOutputs.of(logits=arrays[name][group]), columns, densities).values

    test = scores("test")
    wrong = predicted_classes(ClassifierOutputs.of(logits=arrays["test"][group])) != arrays["test_labels"]
    order = np.random.default_rng(group).permutation(len(test))
    fit, rest = order[:CALIBRATION_ROWS], order[CALIBRATION_ROWS:]
    return GroupScores(columns, test[fit], test[rest], wrong[rest], {name: scores(name) for name in DATASETS[dataset]})


@lru_cache(maxsize=2)
def _load(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
