"""The data of benchmarks.many_columns: risk measures, scores of baselines, and columns with copies and noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from benchmarks.label_weights import sets_of
from vecuq import ClassifierOutputs
from vecuq.baselines import find_baselines, list_baselines
from vecuq.evaluation import roc_auc
from vecuq.measures import measure
from vecuq.paper.ensembles import MEMBERS, group_scores, read_logits
from vecuq.paper.recorded import ensemble_file

RULES = ("log", "brier", "spherical", "zero_one")
BAYES = [f"bayes_{rule}_{truth}" for rule in RULES for truth in (1, 2, 3)]
EXCESS = [f"excess_{rule}_1_{prediction}" for rule in RULES for prediction in (1, 2, 3)]
TOTAL = [f"total_{rule}_1_{prediction}" for rule in RULES for prediction in (1, 2, 3)]
MORE = [f"excess_{rule}_{truth}_1" for rule in RULES for truth in (2, 3)]
MORE += [f"excess_{rule}_{pair}" for rule in ("log", "spherical") for pair in ("2_3", "3_2")]
RISKS = {12: BAYES, 24: [*BAYES, *EXCESS], 48: [*BAYES, *EXCESS, *TOTAL, *MORE]}
Score = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Problem:
    """Calibration rows, and for each task rows with a label."""

    name: str
    calibration: np.ndarray
    tasks: dict[str, tuple[np.ndarray, np.ndarray]]

    def select(self, columns: np.ndarray) -> Problem:
        """Return the same rows with some columns only."""
        tasks = {name: (rows[:, columns], labels) for name, (rows, labels) in self.tasks.items()}
        return Problem(self.name, self.calibration[:, columns], tasks)

    @property
    def columns_alone(self) -> np.ndarray:
        """ROC-AUC of every column by itself, (tasks, columns)."""
        m = self.calibration.shape[1]
        return np.array([[roc_auc(rows[:, k], labels) for k in range(m)] for rows, labels in self.tasks.values()])

    def figures(self, score: Score) -> np.ndarray:
        """ROC-AUC of a score, (tasks,): errors first."""
        return np.array([roc_auc(score(rows), labels) for rows, labels in self.tasks.values()])


@lru_cache(maxsize=8)
def of_risks(dataset: str, group: int, n_columns: int) -> Problem:
    """Return risk measures of one group of networks; the split is that of the studies."""
    arrays, known = read_logits(ensemble_file(dataset), MEMBERS), group_scores(dataset, group)
    found = {
        name: measure(ClassifierOutputs.of(logits=arrays[name][group]), RISKS[n_columns]).values
        for name in ("test", *known.ood)
    }
    order = np.random.default_rng(group).permutation(len(found["test"]))
    fit, rest = np.split(order, [len(known.calibration)])
    return _problem(dataset, found["test"][fit], found["test"][rest], known.is_error, {n: found[n] for n in known.ood})


def of_four(dataset: str, group: int) -> Problem:
    """Return the four columns of the paper for the same rows."""
    known = group_scores(dataset, group).select(("bayes_log_1", "excess_log_1_1", "total_log_1_1", "mahalanobis"))
    return _problem(dataset, known.calibration, known.test, known.is_error, known.ood)


def of_baselines(dataset: str, group: int) -> Problem:
    """Return the scores of 20 baselines: 13 of the paper's four columns, 7 of five others; fitted to half the rows."""
    known = group_scores(dataset, group)
    excess = tuple(f"excess_log_{pair}" for pair in ("1_1", "1_2", "2_1", "1_3", "3_1"))
    vectors = [known.select(("bayes_log_1", "excess_log_1_1", "total_log_1_1", "mahalanobis")), known.select(excess)]
    half = len(known.calibration) // 2
    chosen = [(0, name) for name in list_baselines()] + [(1, name) for name in list_baselines()]
    fitted = [(k, find_baselines([name])[0].make().fit(vectors[k].calibration[:half])) for k, name in chosen[:20]]

    def scores(pick: Callable[[object], np.ndarray]) -> np.ndarray:
        return np.column_stack([one.uncertainty(pick(vectors[k])) for k, one in fitted])

    ood = {name: scores(lambda vector, name=name: vector.ood[name]) for name in known.ood}
    calibration = scores(lambda vector: vector.calibration[half:])
    return _problem(dataset, calibration, scores(lambda vector: vector.test), known.is_error, ood)


def _problem(
    name: str, calibration: np.ndarray, test: np.ndarray, wrong: np.ndarray, ood: dict[str, np.ndarray]
) -> Problem:
    tasks = {"errors": (test, wrong)}
    for other, rows in ood.items():
        tasks[other] = np.concatenate([test, rows]), np.arange(len(test) + len(rows)) >= len(test)
    return Problem(name, calibration, tasks)


def widened(problem: Problem, copies: int, noise: int) -> Problem:
    """Return the same rows with near copies of the first column, and columns of exponential noise."""
    rng = np.random.default_rng(1)
    spread = 1e-3 * np.ptp(problem.calibration[:, 0])

    def wider(rows: np.ndarray) -> np.ndarray:
        near = rows[:, :1] + spread * rng.standard_normal((len(rows), copies))
        return np.concatenate([rows, near, rng.exponential(size=(len(rows), noise))], axis=1)

    tasks = {name: (wider(rows), labels) for name, (rows, labels) in problem.tasks.items()}
    return Problem(problem.name, wider(problem.calibration), tasks)


def families(folder: Path | None) -> Iterator[Problem]:
    """Yield a problem for each set of each file; one task, errors."""
    for file in sorted(folder.glob("*.npz")) if folder else ():
        for _, x, wrong in sets_of(file):
            whole = np.isfinite(x).all(axis=1)
            rows, labels = x[whole][:, np.ptp(x[whole], axis=0) > 0], wrong[whole]
            order = np.random.default_rng(0).permutation(len(rows))
            fit, rest = np.split(order, [min(len(rows) // 2, 2000)])
            yield Problem(file.stem, rows[fit], {"errors": (rows[rest], labels[rest])})
