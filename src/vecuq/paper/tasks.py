"""The paper's three tasks on one group of networks, for any number of methods at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq._draw import Spread
from vecuq.evaluation import accuracy_coverage_area, roc_auc
from vecuq.paper.ensembles import DATASETS, MEMBERS, GroupScores, group_scores, n_groups

TaskKind = str  # "ood", "miscls" or "selective"
Method = Callable[[Array], Array]
# Data sets as they are written in tables.
NAMES = {
    "cifar10": "CIFAR10",
    "fashion_mnist": "Fashion-MNIST",
    "svhn": "SVHN",
    "tinyimagenet": "TinyImageNet",
    "mnist": "MNIST",
    "letter": "Letters A-T",
    "held_out_letters": "Letters U-Z",
    "pen_digits": "Pen digits",
}


@dataclass(frozen=True, order=True)
class Task:
    """One line of a table: what is in-distribution, what is looked for, and among which rows."""

    dataset: str
    kind: TaskKind
    rows: str

    def __str__(self) -> str:
        return f"{NAMES[self.rows]} [{self.kind}]"


@dataclass(frozen=True)
class Outcome:
    """One figure per task, method and group; higher is better in all of them."""

    values: dict[Task, dict[str, list[float]]]

    def spread(self, task: Task, method: str) -> Spread:
        """Return the mean and the deviation of one figure over the groups."""
        return Spread.of(self.values[task][method])

    def means(self, kind: TaskKind | None = None) -> dict[Task, dict[str, float]]:
        """Return the mean over groups of every figure, of one kind of task or of all."""
        return {
            task: {name: float(np.mean(found)) for name, found in methods.items()}
            for task, methods in self.values.items()
            if kind in (None, task.kind)
        }

    def average(self, method: str, kind: TaskKind | None = None) -> Spread:
        """Return the mean over tasks, and how it varies over groups."""
        chosen = [methods[method] for task, methods in self.values.items() if kind in (None, task.kind)]
        return Spread.of([float(figure) for figure in np.mean(chosen, axis=0)])


def component_methods(names: tuple[str, ...]) -> dict[str, Method]:
    """Return each column alone as a method of its own."""

    def column(place: int) -> Method:
        return lambda rows: rows[:, place]

    return {name: column(place) for place, name in enumerate(names)}


def over_groups(
    names: tuple[str, ...],
    fit: Callable[[GroupScores], Mapping[str, Method]],
    *,
    datasets: Iterable[str] = tuple(DATASETS),
    members: int = MEMBERS,
) -> Outcome:
    """Fit the methods on every group of every data set and run all tasks on them."""
    values: dict[Task, dict[str, list[float]]] = {}
    for dataset in datasets:
        for group in range(n_groups(dataset, members)):
            scores = group_scores(dataset, group, members).select(names)
            for method_name, method in fit(scores).items():
                for task, figure in run_tasks(dataset, scores, method).items():
                    values.setdefault(task, {}).setdefault(method_name, []).append(figure)
    return Outcome(values)


def run_tasks(dataset: str, scores: GroupScores, method: Method) -> dict[Task, float]:
    """Return the figure of each task: ROC-AUC for errors and OOD rows, area under accuracy over coverage."""
    own = method(scores.test)
    found = {
        Task(dataset, "miscls", dataset): roc_auc(own, scores.is_error),
        Task(dataset, "selective", dataset): accuracy_coverage_area(own, ~scores.is_error),
    }
    for name in scores.ood:
        found[Task(dataset, "ood", name)] = _separation(own, method(scores.ood[name]))
    return found


def ood_auc(method: Method, scores: GroupScores, other: str) -> float:
    """Return the ROC-AUC of one set of out-of-distribution rows against the test rows."""
    return _separation(method(scores.test), method(scores.ood[other]))


def _separation(own: Array, other: Array) -> float:
    return roc_auc(np.concatenate([own, other]), np.repeat([0, 1], [len(own), len(other)]))
