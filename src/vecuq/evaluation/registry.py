"""Every metric by name: what it needs, which way is better, and what it means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from vecuq._check import Array, in_range, one_of
from vecuq.errors import SettingError
from vecuq.evaluation import detection, generation, selective
from vecuq.evaluation.auc_interval import Codes, auc_interval
from vecuq.evaluation.few import FewErrors, FewPositives
from vecuq.evaluation.inputs import Kernel, defect, labels_of, qualities_of

# Low and high from the uncertainty, the target, the group of each row and the level.
Interval = Callable[[Array, Array, Codes | None, float], tuple[float, float]]
Fewest = FewPositives | FewErrors
# What each task needs beside the uncertainty, higher where a row should be the more uncertain or the better one.
TASKS = {
    "ood": "which rows are out of distribution",
    "error": "which predictions are wrong, among in-distribution rows",
    "selective": "which predictions are correct, among in-distribution rows",
    "generation": "the quality of each answer",
}
# What it means for a task that all its targets are 0, or that all are 1.
ONE_KIND = {
    "ood": ("no row is out of distribution", "every row is out of distribution"),
    "error": ("no prediction is wrong", "every prediction is wrong"),
    "selective": ("every prediction is wrong", "no prediction is wrong"),
}


@dataclass(frozen=True)
class Metric:
    """One number that says how good an uncertainty is at a task.

    Parameters
    ----------
    name
        The metric; ``task`` and ``name`` together are unique.
    task
        ``"ood"``, ``"error"``, ``"selective"`` or ``"generation"``: see ``TASKS`` for what each needs.
    function
        ``function(uncertainty, target)`` gives the number, NaN where there is none.
    higher_is_better
        Which way is better.
    meaning
        One line.
    """

    name: str
    task: str
    function: Callable[[Any, Any], float]
    higher_is_better: bool
    meaning: str
    kernel: Kernel = field(repr=False)
    interval: Interval | None = field(default=None, repr=False)  # its own, where the bootstrap's is too narrow
    fewest: Fewest | None = field(default=None, repr=False)
    max_rejection: float = 1.0  # of the generation task only
    chance: float | None = None  # the value of an order by chance, where that is one number for all rows

    @property
    def key(self) -> str:
        """Task and name, such as ``"ood roc_auc"``."""
        return f"{self.task} {self.name}"

    def target_of(self, values: Any, n_rows: int) -> Array:
        """Return label or quality as the kernel needs it: 0 and 1, or a quality moved to [0, 1]."""
        if self.task == "generation":
            return generation.unit_scaled(qualities_of(values, n_rows))
        return labels_of(values, n_rows, "correct" if self.task == "selective" else "positive")

    def defect(self, uncertainty: Array, target: Array) -> str | None:
        """Return why the metric does not exist on these rows, in one line; None if it does."""
        if self.task == "generation":
            return generation.prr_defect(uncertainty, target, self.max_rejection)
        found = defect(uncertainty, target, ONE_KIND[self.task])
        return self.fewest.defect(int(target.sum())) if found is None and self.fewest else found

    def doubt(self, value: float, target: Array) -> str | None:
        """Return why a value that exists has no interval, in one line; None if it may have one."""
        return self.fewest.doubt(value, int(target.sum()), len(target)) if self.fewest else None


def _detection(task: str, what: str, all_of_them: str) -> list[Metric]:
    found = f"precision at the uncertainty of each of the {all_of_them}, averaged over them"
    flagged = f"share of other rows flagged when 95 % of the {all_of_them} are flagged"
    at_95 = partial(detection.fpr_at_tpr, tpr=0.95)
    higher = f"probability that {what} is more uncertain than another row"
    return [
        Metric("roc_auc", task, detection.roc_auc, True, higher, detection.roc_auc_of, auc_interval, chance=0.5),
        Metric("average_precision", task, detection.average_precision, True, found, detection.average_precision_of),
        Metric("fpr_at_95_tpr", task, at_95, False, flagged, detection.fpr_at(0.95), fewest=FewPositives()),
    ]


def _selective() -> list[Metric]:
    accuracy, risk = "accuracy of the rows kept", "mean error rate of the rows kept, over all shares kept"
    area, area_of = selective.accuracy_coverage_area, selective.accuracy_coverage_area_of
    over = f"{accuracy}, averaged over all shares kept from 1/n on, so at most 1 - 1/n; 1 - aurc is not short"
    best = f"{risk}, beyond the best order"
    return [
        Metric("accuracy_coverage_area", "selective", area, True, over, area_of),
        Metric("aurc", "selective", selective.aurc, False, risk, selective.aurc_of),
        Metric("excess_aurc", "selective", selective.excess_aurc, False, best, selective.excess_aurc_of),
        *map(_coverage, (1, 2, 5)),
    ]


def _coverage(percent: int) -> Metric:
    share = partial(selective.coverage_at_error, error=percent / 100)
    kept = f"largest share of rows kept, least uncertain first, with at most {percent} % errors"
    name, kernel = f"coverage_at_{percent}_percent_error", selective.coverage_at(percent / 100)
    return Metric(name, "selective", share, True, kept, kernel, fewest=FewErrors(percent / 100))


def rejection_ratio(max_rejection: float) -> Metric:
    """Return PRR at another share of answers rejected than the registry's one half, as a metric."""
    share = in_range("max_rejection", max_rejection, 0.0, 1.0, ends="(]")
    name = "prediction_rejection_ratio" + ("" if share == 0.5 else f"_at_{100 * share:g}_percent")
    gained = f"quality gained by rejecting up to {100 * share:g} % of the answers: 0 for chance, 1 for the best order"
    ratio = partial(generation.prediction_rejection_ratio, max_rejection=share)
    return Metric(name, "generation", ratio, True, gained, generation.prr_at(share), max_rejection=share, chance=0.0)


METRICS: tuple[Metric, ...] = (
    *_detection("ood", "an out-of-distribution row", "out-of-distribution rows"),
    *_detection("error", "a wrong prediction", "wrong predictions"),
    *_selective(),
    rejection_ratio(0.5),
)

# What others call them, in letters and digits; some of these are nearer in spelling to another metric.
_OTHER_NAMES = {
    r".*roc.*|auc": "roc_auc",
    r"aupr|auprc|ap|prauc": "average_precision",
    r"fpr(at)?95": "fpr_at_95_tpr",
    r"eaurc": "excess_aurc",
    r"prr": "prediction_rejection_ratio",
}


def find_metrics(names: Iterable[str | Metric] | None = None) -> tuple[Metric, ...]:
    """Return metrics by name or key, in the given order, all of them by default.

    A bare name such as ``"roc_auc"`` stands for that metric in every task that has it; ``"ood roc_auc"`` for one. A
    :class:`Metric` stands for itself.

    Examples
    --------
    >>> [metric.key for metric in find_metrics(["roc_auc"])]
    ['ood roc_auc', 'error roc_auc']
    """
    if names is None:
        return METRICS
    if isinstance(names, str):
        raise SettingError(f"metrics must be a list of names; got {names!r}. Write [{names!r}].")
    return tuple(dict.fromkeys(one for name in names for one in _named(name)))


def _named(name: str | Metric) -> list[Metric]:
    if isinstance(name, Metric):
        return [name]
    choices = list(dict.fromkeys([*(one.name for one in METRICS), *(one.key for one in METRICS)]))
    meant = None if name in choices else _meant(str(name))
    if meant:
        raise SettingError(f"There is no metric {name!r}. Did you mean {meant!r}?")
    one_of("metrics", name, choices)
    return [one for one in METRICS if name in (one.name, one.key)]


def _meant(name: str) -> str | None:
    """Return our name of a metric that others call differently, with the task if it was named, too."""
    bare = re.sub(r"[^a-z0-9]", "", name.lower())
    task = next((task for task in TASKS if task in bare), "")
    known = next((ours for names, ours in _OTHER_NAMES.items() if re.fullmatch(names, bare.replace(task, "", 1))), None)
    with_task = f"{task} {known}"
    return with_task if any(one.key == with_task for one in METRICS) else known
