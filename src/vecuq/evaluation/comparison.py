"""MethodComparison: one metric for several methods on the same rows, with paired intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq._check import Array, wanted_columns
from vecuq.errors import SettingError
from vecuq.evaluation.bootstrap import Bootstrap, Estimate, interval, resampled
from vecuq.evaluation.inputs import methods_of, one_resample, scores_of
from vecuq.evaluation.pareto import Record
from vecuq.evaluation.registry import Metric, find_metrics


@dataclass(frozen=True, eq=False)
class MethodComparison:
    """One metric of several methods on the same rows and the same resamples.

    Parameters
    ----------
    metric
        What was measured.
    methods
        Names of the methods.
    values
        The metric on all rows, shape (methods,); NaN where it does not exist.
    draws
        The metric on each resample, shape (methods, resamples); the resamples are the same for all methods.
    n
        Rows.
    level
        Share of resamples inside an interval.
    reasons
        For each method, why it has no value; None where it has one.
    """

    metric: Metric
    methods: tuple[str, ...]
    values: Array
    draws: Array
    n: int
    level: float
    reasons: tuple[str | None, ...]

    def estimate(self, method: str) -> Estimate:
        """Return the metric of one method with its interval, or the reason why there is none."""
        k = self._place(method)
        if self.reasons[k] is not None:
            return Estimate(np.nan, np.nan, np.nan, self.n, self.reasons[k])
        return interval(float(self.values[k]), self.draws[k], self.n, self.level)

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The estimate of every method."""
        return {method: self.estimate(method) for method in self.methods}

    def difference(self, method: str, other: str) -> Estimate:
        """Return the metric of ``method`` minus that of ``other``, with the interval of the paired difference."""
        a, b = self._place(method), self._place(other)
        reason = self.reasons[a] or self.reasons[b]
        if reason is not None:
            return Estimate(np.nan, np.nan, np.nan, self.n, reason)
        return interval(float(self.values[a] - self.values[b]), self.draws[a] - self.draws[b], self.n, self.level)

    @property
    def ranked(self) -> tuple[str, ...]:
        """The methods that have a value, best first; equal ones in the order they came."""
        sign = -1.0 if self.metric.higher_is_better else 1.0
        order = np.argsort(sign * self.values, kind="stable")
        return tuple(self.methods[k] for k in order if not np.isnan(self.values[k]))

    def record(self, method: str, others: Sequence[str] | None = None) -> Record:
        """Count the other methods that ``method`` beats, and loses to, by a difference whose interval excludes 0."""
        against = [name for name in (self.methods if others is None else others) if name != method]
        gaps = [self.difference(method, other) for other in against]
        better = [(gap.value > 0) == self.metric.higher_is_better for gap in gaps if gap.excludes_zero]
        wins, losses = sum(better), len(better) - sum(better)
        return Record(wins, sum(not np.isnan(gap.value) for gap in gaps) - wins - losses, losses)

    def _place(self, method: str) -> int:
        wanted_columns([method], self.methods, purpose="which was named", where="The comparison")
        return self.methods.index(method)


def estimate(uncertainty: Any, target: Any, metric: str | Metric, *, bootstrap: Bootstrap | None = None) -> Estimate:
    """One metric of one uncertainty with its bootstrap interval, or the reason why it does not exist.

    Parameters
    ----------
    uncertainty
        One number per row, higher = more uncertain; no NaN.
    target
        What the task of the metric needs: which rows are positive, which are correct, or the quality.
    metric
        A :class:`Metric`, or its name or key; ``"roc_auc"`` alone is that of the first task, ``"ood roc_auc"``.
    bootstrap
        Resamples, level and seed; 500 resamples and 95 % by default.

    Examples
    --------
    >>> found = estimate([0.1, 0.4, 0.35, 0.8, 0.7, 0.2], [0, 0, 1, 1, 1, 0], "roc_auc")
    >>> round(found.value, 3), found.n
    (0.889, 6)
    >>> estimate([0.1, 0.4], [1, 1], "roc_auc").reason
    'every row is out of distribution (2 rows)'
    """
    return compare({"uncertainty": uncertainty}, target, metric, bootstrap=bootstrap).estimate("uncertainty")


def compare(
    uncertainties: Mapping[str, Any], target: Any, metric: str | Metric, *, bootstrap: Bootstrap | None = None
) -> MethodComparison:
    """One metric of several uncertainties on the same rows, with intervals of each and of each difference.

    Parameters
    ----------
    uncertainties
        For each method one number per row, higher = more uncertain; no NaN.
    target
        What the task of the metric needs: which rows are positive, which are correct, or the quality.
    metric
        A :class:`Metric`, or the name of one.
    bootstrap
        Resamples, level and seed; 500 resamples and 95 % by default.

    Examples
    --------
    >>> scores = {"good": [0.1, 0.2, 0.3, 0.9, 0.8, 0.7], "bad": [0.9, 0.2, 0.3, 0.1, 0.8, 0.7]}
    >>> compared = compare(scores, [0, 0, 0, 1, 1, 1], "roc_auc")
    >>> compared.ranked
    ('good', 'bad')
    >>> round(compared.difference("good", "bad").value, 3)
    0.556
    """
    return compare_all(uncertainties, target, find_metrics([metric])[:1], bootstrap=bootstrap)[0]


def compare_all(
    uncertainties: Mapping[str, Any], target: Any, metrics: Sequence[Metric], *, bootstrap: Bootstrap | None = None
) -> tuple[MethodComparison, ...]:
    """Compute :func:`compare` for several metrics of one task at once, on the same resamples."""
    drawing = bootstrap or Bootstrap()
    by_name = methods_of(uncertainties)
    methods = tuple(by_name)
    scores = np.stack([scores_of(one, f"uncertainty of {name!r}") for name, one in by_name.items()])
    truth = _same_target(target, metrics, scores.shape[1])
    kernels = [metric.kernel for metric in metrics]
    reasons = [[metric.defect(one, truth) for one in scores] for metric in metrics]
    values, draws = _values(scores, truth, metrics), np.empty((len(metrics), len(methods), 0))
    if any(reason is None for of_metric in reasons for reason in of_metric):
        draws = resampled(scores, truth, kernels, drawing)
    return tuple(
        MethodComparison(metric, methods, values[k], draws[k], len(truth), drawing.level, tuple(reasons[k]))
        for k, metric in enumerate(metrics)
    )


def _values(scores: Array, truth: Array, metrics: Sequence[Metric]) -> Array:
    """Return each metric of each method on the rows as they are, NaN where it does not exist."""
    values = np.full((len(metrics), len(scores)), np.nan)
    for j, one in enumerate(scores):
        tally = one_resample(one, truth)
        for k, metric in enumerate(metrics):
            if metric.defect(one, truth) is None:
                values[k, j] = metric.kernel(tally)[0]
    return values


def _same_target(target: Any, metrics: Sequence[Metric], n_rows: int) -> Array:
    tasks = sorted({metric.task for metric in metrics})
    if len(tasks) != 1:
        raise SettingError(f"Metrics that are compared at once must be of one task; got {tasks}.")
    return metrics[0].target_of(target, n_rows)
