"""The ensembles of the studies: twenty small networks for each data set, five groups of four or four groups of five.

Trained by ``studies/train_ensembles.py`` (images) and ``studies/train_letters.py``; their logits come with
``paper-data``. The split is the paper's: a smaller part of the in-distribution validation rows fits the map, the rest
evaluates, and no out-of-distribution row is ever used to fit.
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

# In-distribution sets of images, each with its out-of-distribution sets.
DATASETS = {
    "cifar10": ("svhn", "tinyimagenet", "fashion_mnist", "mnist"),
    "fashion_mnist": ("mnist", "cifar10", "svhn", "tinyimagenet"),
}
LETTERS = {"letter": ("held_out_letters", "pen_digits")}
CALIBRATION_ROWS, LETTER_CALIBRATION_ROWS = 2_000, 500
# Members of one group: in the paper's main tables, and in those of its appendix.
MEMBERS, APPENDIX_MEMBERS = 4, 5


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


def n_groups(dataset: str, members: int = MEMBERS) -> int:
    """Return how many groups of so many members the networks of a data set make."""
    return len(read_logits(ensemble_file(dataset), members)["test"])


@lru_cache(maxsize=32)
def group_scores(dataset: str, group: int, members: int = MEMBERS) -> GroupScores:
    """Compute all score columns of one group; densities look at the logits, as the authors do."""
    arrays = read_logits(ensemble_file(dataset), members)
    columns = tuple(dict.fromkeys(name for names in compositions.values() for name in names))
    train = ClassifierOutputs.of(logits=arrays["train"][group], labels=arrays["train_labels"])
    densities = fit_densities(columns, train)

    def scores(name: str) -> Array:
        return measure(ClassifierOutputs.of(logits=arrays[name][group]), columns, densities).values

    test = scores("test")
    wrong = predicted_classes(ClassifierOutputs.of(logits=arrays["test"][group])) != arrays["test_labels"]
    order = np.random.default_rng(group).permutation(len(test))
    fit, rest = np.split(order, [LETTER_CALIBRATION_ROWS if dataset in LETTERS else CALIBRATION_ROWS])
    ood = {name: scores(name) for name in {**DATASETS, **LETTERS}[dataset]}
    return GroupScores(columns, test[fit], test[rest], wrong[rest], ood)


@lru_cache(maxsize=4)
def read_logits(path: Path, members: int) -> dict[str, Any]:
    """Return the arrays of a file, logits as (groups, members, rows, classes) for any size of a group."""
    with np.load(path, allow_pickle=False) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    return {name: _regrouped(array, members) if array.ndim > 1 else array for name, array in found.items()}


def _regrouped(logits: NDArray[Any], members: int) -> NDArray[Any]:
    """Return the same networks in the same order, in groups of another size."""
    return logits.reshape(-1, members, *logits.shape[2:])
