"""Evaluation: every metric of every method on rows with labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, one_of
from vecuq._draw import fragment
from vecuq.conformal import group_codes
from vecuq.errors import SettingError, TableError
from vecuq.evaluation.bootstrap import Bootstrap, Estimate
from vecuq.evaluation.calibration import Calibration, calibration
from vecuq.evaluation.comparison import MethodComparison, compare_all
from vecuq.evaluation.inputs import labels_of, methods_of, numbers_of, of_length
from vecuq.evaluation.registry import TASKS, Metric, find_metrics

# For each task what it aims at, and on which rows that is known.
Targets = dict[str, tuple[Array, NDArray[np.bool_]]]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Every metric of every method, on the same rows; made by :func:`evaluate`.

    Parameters
    ----------
    comparisons
        One per metric, in the order of the registry or as named.
    methods
        Names of the methods.
    n_rows
        Rows that came.
    n_left_out
        Rows left out for all methods, because at least one gave no uncertainty (NaN).
    without_score
        How many rows each method gave no uncertainty; methods that gave all are not named.
    flipped
        Methods that came as a confidence, and were evaluated as its negative.
    doubted
        Methods about whose direction nothing was said, and which would be among the best the other way round. While
        there are any, no table marks the best.
    calibration
        How well a probability of being wrong agrees with the labels; None if there was none.
    n_groups
        How many groups of rows there were; None if rows were taken as independent.
    """

    comparisons: tuple[MethodComparison, ...]
    methods: tuple[str, ...]
    n_rows: int
    n_left_out: int
    without_score: dict[str, int]
    flipped: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()
    calibration: Calibration | None = None
    n_groups: int | None = None

    def comparison(self, key: str) -> MethodComparison:
        """Return the comparison of one metric by its key, such as ``"ood roc_auc"``."""
        keys = [one.metric.key for one in self.comparisons]
        return self.comparisons[keys.index(one_of("key", key, keys))]

    def estimate(self, method: str, key: str) -> Estimate:
        """Return one metric of one method."""
        return self.comparison(key).estimate(method)

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain row per method and metric: method, task, metric, value, low, high, n, reason."""
        return [
            {"method": method, "task": one.metric.task, "metric": one.metric.name, **vars(found)}
            for method in self.methods
            for one in self.comparisons
            for found in [one.estimate(method)]
        ]

    def wide_rows(self, task: str | None = None) -> list[dict[str, Any]]:
        """Return one plain row per method with its values by metric, of one task or (keys as headings) of all."""
        chosen = [one for one in self.comparisons if task in (None, one.metric.task)]
        heading = {one: one.metric.key if task is None else one.metric.name for one in chosen}
        return [
            {"method": method, **{heading[one]: float(one.values[k]) for one in chosen}}
            for k, method in enumerate(self.methods)
        ]

    def table(self, keys: Iterable[str] | None = None) -> dict[str, dict[str, float]]:
        """Return the values by method and key, signed so that higher is better: what ``pareto_share`` takes.

        By default one metric per task: the first that was computed.
        """
        first = {one.metric.task: one for one in reversed(self.comparisons)}
        chosen = (
            [one for one in self.comparisons if one in first.values()] if keys is None else map(self.comparison, keys)
        )
        columns = {one.metric.key: one.values * (1.0 if one.metric.higher_is_better else -1.0) for one in chosen}
        return {
            method: {key: float(values[k]) for key, values in columns.items()} for k, method in enumerate(self.methods)
        }

    def _repr_html_(self) -> str:
        from vecuq.evaluation.displays import evaluation_section

        return fragment("", [evaluation_section(self)])


def evaluate(
    uncertainties: Mapping[str, Any],
    *,
    error: Any = None,
    ood: Any = None,
    quality: Any = None,
    metrics: Iterable[str | Metric] | None = None,
    bootstrap: Bootstrap | None = None,
    groups: Any = None,
    p_wrong: Any = None,
) -> Evaluation:
    """Compute every metric that the labels allow, for every method, on the same rows and resamples.

    Errors, and with them selective prediction, are looked at among in-distribution rows only: on out-of-distribution
    rows every prediction is wrong. Rows without a label are left out of the tasks that need it; rows to which any
    method gives no uncertainty are left out for all, so that methods are compared on equal rows.

    Parameters
    ----------
    uncertainties
        For each method one number per row, higher = more uncertain; NaN for none.
    error
        Which predictions are wrong, 0 / 1, NaN where unknown; None for no such tasks.
    ood
        Which rows are out of distribution, 0 / 1, NaN where unknown; None if all are in-distribution.
    quality
        The quality of each answer, higher = better, NaN where unknown.
    metrics
        Names or keys of metrics, such as ``"roc_auc"`` or ``"ood roc_auc"``, or :class:`Metric` objects; by default
        all of the registry. Those that the labels do not allow are left out.
    bootstrap
        Resamples, level and random state; 500 resamples and 95 % by default.
    groups
        Which rows come together (a session, a document), one name per row: intervals and comparisons then draw whole
        groups. None if the rows are independent.
    p_wrong
        The probability that each prediction is wrong, in [0, 1], NaN where unknown; it is compared with ``error``.

    Examples
    --------
    >>> scores = {"entropy": [0.1, 0.4, 0.3, 0.9], "knn": [0.2, 0.1, 0.8, 0.9]}
    >>> done = evaluate(scores, ood=[0, 0, 1, 1], metrics=["roc_auc"])
    >>> done.wide_rows()
    [{'method': 'entropy', 'ood roc_auc': 0.75}, {'method': 'knn', 'ood roc_auc': 1.0}]
    """
    scores = methods_of(uncertainties)
    n_rows = len(next(iter(scores.values())))
    without = {name: int(np.isnan(one).sum()) for name, one in scores.items()}
    scored = ~np.any([np.isnan(one) for one in scores.values()], axis=0)
    targets = targets_of(n_rows, error=error, ood=ood, quality=quality)
    codes = None if groups is None else group_codes(groups, n_rows)
    chosen = _possible(metrics, list(targets))
    compared: dict[str, MethodComparison] = {}
    for task, (target, known) in targets.items():
        rows = scored & known
        of_task = [metric for metric in chosen if metric.task == task]
        part = {name: one[rows] for name, one in scores.items()}
        together = None if codes is None else codes[rows]
        done = compare_all(part, target[rows], of_task, bootstrap=bootstrap, groups=together) if of_task else ()
        compared |= {one.metric.key: one for one in done}
    return Evaluation(
        comparisons=tuple(compared[metric.key] for metric in chosen),
        methods=tuple(scores),
        n_rows=n_rows,
        n_left_out=int((~scored).sum()),
        without_score={name: count for name, count in without.items() if count},
        calibration=_calibration(p_wrong, targets, codes, bootstrap),
        n_groups=None if codes is None else len(np.unique(codes)),
    )


def _calibration(
    p_wrong: Any, targets: Targets, codes: NDArray[np.intp] | None, bootstrap: Bootstrap | None
) -> Calibration | None:
    """Return how well a probability agrees with the errors, on the rows that have both; None without them."""
    if p_wrong is None or "error" not in targets:
        return None
    wrong, known = targets["error"]
    probability = of_length(numbers_of(p_wrong, "p_wrong"), len(wrong), "p_wrong")
    rows = known & ~np.isnan(probability)
    together = None if codes is None else codes[rows]
    drawing = bootstrap or Bootstrap()
    return calibration(
        probability[rows], wrong[rows], level=drawing.level, groups=together, random_state=drawing.random_state
    )


def _possible(metrics: Iterable[str | Metric] | None, tasks: list[str]) -> list[Metric]:
    """Return the chosen metrics that the labels allow; that none is left is an error."""
    chosen = find_metrics(metrics)
    possible = [metric for metric in chosen if metric.task in tasks]
    if not chosen:
        raise SettingError("No metric was chosen. Name at least one, or leave metrics=None for all.")
    if not possible:
        needs = {metric.key: TASKS[metric.task] for metric in chosen}
        raise SettingError(f"The metrics that were chosen need labels that are not there: {needs}. Give them.")
    return possible


def targets_of(n_rows: int, *, error: Any, ood: Any, quality: Any) -> Targets:
    """Return for each task that has labels what it aims at, and on which rows that is known."""
    targets: Targets = {}
    own = np.ones(n_rows, dtype=bool)
    if ood is not None:
        is_ood, known = _known(ood, n_rows, "ood")
        targets["ood"], own = (is_ood, known), known & (is_ood == 0)
    if error is not None:
        wrong, known = _known(error, n_rows, "error")
        targets |= {"error": (wrong, known & own), "selective": (1.0 - wrong, known & own)}
    if quality is not None:
        gained = of_length(numbers_of(quality, "quality"), n_rows, "quality")
        targets["generation"] = gained, ~np.isnan(gained)
    if not targets:
        needs = "; ".join(f"{task}: {need}" for task, need in TASKS.items())
        raise TableError(f"There are no labels to evaluate with. Give error, ood or quality ({needs}).")
    return targets


def _known(values: Any, n_rows: int, name: str) -> tuple[Array, NDArray[np.bool_]]:
    labels = of_length(numbers_of(values, name), n_rows, name)
    known = ~np.isnan(labels)
    labels_of(labels[known], int(known.sum()), name)
    return labels, known
