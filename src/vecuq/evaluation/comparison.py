"""MethodComparison: one metric for several methods on the same rows, with paired intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, wanted_columns
from vecuq.conformal import group_codes
from vecuq.errors import SettingError
from vecuq.evaluation.auc_interval import Codes, n_different
from vecuq.evaluation.bootstrap import MIN_GROUPS, Bootstrap, Estimate, interval, resampled
from vecuq.evaluation.inputs import methods_of, one_resample, scores_of
from vecuq.evaluation.pareto import Record
from vecuq.evaluation.registry import Metric, find_metrics
from vecuq.evaluation.separation import separated_pairs


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
    doubts
        For each method, why it has a value but no interval; None where it may have one.
    ends
        Low and high of each method, shape (methods, 2), where the metric has an interval of its own; None where the
        interval is that of the draws.
    counted
        Rows of the rarer kind, or groups that hold such rows; 0 if all rows count.
    """

    metric: Metric
    methods: tuple[str, ...]
    values: Array
    draws: Array
    n: int
    level: float
    reasons: tuple[str | None, ...]
    doubts: tuple[str | None, ...] = ()
    ends: Array | None = None
    counted: int = 0

    def estimate(self, method: str) -> Estimate:
        """Return the metric of one method with its interval, or the reason why there is none."""
        k = self._place(method)
        if self.reasons[k] is not None:
            return Estimate(np.nan, np.nan, np.nan, self.n, self.reasons[k])
        value, doubt = float(self.values[k]), self.doubts[k] if self.doubts else None
        if not self.draws.shape[-1]:
            return Estimate(value, np.nan, np.nan, self.n)
        if doubt is not None:
            return Estimate(value, np.nan, np.nan, self.n, doubt)
        if self.ends is not None:
            return Estimate(value, float(self.ends[k, 0]), float(self.ends[k, 1]), self.n)
        return interval(value, self.draws[k], self.n, self.level)

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The estimate of every method."""
        return {method: self.estimate(method) for method in self.methods}

    def difference(self, method: str, other: str) -> Estimate:
        """Return the metric of ``method`` minus that of ``other``, with the interval of the paired difference.

        The interval is that of one difference, named beforehand; :meth:`separated` judges all pairs at once.
        """
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

    def separated(self, method: str, *, level: float | None = None) -> tuple[str, ...]:
        """Return the methods that differ from ``method`` by more than chance explains, all pairs judged at once.

        Among equal methods, a table holds such a pair with probability 1 - ``level``, however many methods there are;
        see ``vecuq.evaluation.separation``. By default at the level of the intervals.
        """
        own = self._place(method)
        apart = self._pairs(self.level if level is None else level)
        return tuple(name for k, name in enumerate(self.methods) if apart[own, k])

    def record(self, method: str, others: Sequence[str] | None = None, *, level: float | None = None) -> Record:
        """Count the other methods that ``method`` beats, and loses to, by more than chance explains.

        As :meth:`separated` says: of all pairs of the comparison judged at once, also with ``others``.
        """
        against = [self._place(name) for name in (self.methods if others is None else others) if name != method]
        own, apart = self._place(method), self._pairs(self.level if level is None else level)
        gaps = (self.values[own] - self.values[against]) * (1.0 if self.metric.higher_is_better else -1.0)
        found = apart[own, against]
        wins, losses = int((found & (gaps > 0)).sum()), int((found & (gaps < 0)).sum())
        return Record(wins, int((~np.isnan(gaps)).sum()) - wins - losses, losses)

    def _pairs(self, level: float) -> NDArray[np.bool_]:
        """Return which pairs are separated; kept, since each method asks for them."""
        known: dict[float, NDArray[np.bool_]] = self.__dict__.setdefault("_known_pairs", {})
        if level not in known:
            known[level] = separated_pairs(self.values, self.draws, level, counted=self.counted or self.n)
        return known[level]

    def _place(self, method: str) -> int:
        wanted_columns([method], self.methods, purpose="which was named", where="The comparison")
        return self.methods.index(method)


def estimate(
    uncertainty: Any, target: Any, metric: str | Metric, *, bootstrap: Bootstrap | None = None, groups: Any = None
) -> Estimate:
    """One metric of one uncertainty with its interval, or the reason why it does not exist.

    The interval of a ROC-AUC is :func:`roc_auc_interval`; all others are percentile intervals of the bootstrap.

    Parameters
    ----------
    uncertainty
        One number per row, higher = more uncertain; no NaN.
    target
        What the task of the metric needs: which rows are positive, which are correct, or the quality.
    metric
        A :class:`Metric`, or its name or key; ``"roc_auc"`` alone is that of the first task, ``"ood roc_auc"``.
    bootstrap
        Resamples, level and random state; 500 resamples and 95 % by default.
    groups
        Which rows come together (a session, a document), one name per row: whole groups are drawn. None if the rows
        are independent.

    Examples
    --------
    >>> found = estimate([0.1, 0.4, 0.35, 0.8, 0.7, 0.2], [0, 0, 1, 1, 1, 0], "roc_auc")
    >>> round(found.value, 3), found.n
    (0.889, 6)
    >>> estimate([0.1, 0.4], [1, 1], "roc_auc").reason
    'every row is out of distribution (2 rows)'
    """
    found = compare({"uncertainty": uncertainty}, target, metric, bootstrap=bootstrap, groups=groups)
    return found.estimate("uncertainty")


def compare(
    uncertainties: Mapping[str, Any],
    target: Any,
    metric: str | Metric,
    *,
    bootstrap: Bootstrap | None = None,
    groups: Any = None,
) -> MethodComparison:
    """One metric of several uncertainties on the same rows, with intervals of each and of each difference.

    ``uncertainties`` are by method; the other parameters are those of :func:`estimate`.

    Examples
    --------
    >>> scores = {"good": [0.1, 0.2, 0.3, 0.9, 0.8, 0.7], "bad": [0.9, 0.2, 0.3, 0.1, 0.8, 0.7]}
    >>> compared = compare(scores, [0, 0, 0, 1, 1, 1], "roc_auc")
    >>> compared.ranked
    ('good', 'bad')
    >>> round(compared.difference("good", "bad").value, 3)
    0.556
    """
    return compare_all(uncertainties, target, find_metrics([metric])[:1], bootstrap=bootstrap, groups=groups)[0]


def compare_all(
    uncertainties: Mapping[str, Any],
    target: Any,
    metrics: Sequence[Metric],
    *,
    bootstrap: Bootstrap | None = None,
    groups: Any = None,
) -> tuple[MethodComparison, ...]:
    """Compute :func:`compare` for several metrics of one task at once, on the same resamples."""
    drawing = bootstrap or Bootstrap()
    by_name = methods_of(uncertainties)
    methods = tuple(by_name)
    scores = np.stack([scores_of(one, f"uncertainty of {name!r}") for name, one in by_name.items()])
    truth = _same_target(target, metrics, scores.shape[1])
    codes = None if groups is None else group_codes(groups, len(truth))
    reasons = [[metric.defect(one, truth) for one in scores] for metric in metrics]
    values, draws = _values(scores, truth, metrics), np.empty((len(metrics), len(methods), 0))
    if any(reason is None for of_metric in reasons for reason in of_metric):
        draws = resampled(scores, truth, [metric.kernel for metric in metrics], drawing, codes)
    return tuple(
        MethodComparison(
            metric,
            methods,
            values[k],
            _trusted(draws[k], codes),
            len(truth),
            drawing.level,
            tuple(reasons[k]),
            tuple(_doubt(metric, value, truth, codes) for value in values[k]),
            _own_ends(metric, scores, truth, codes, drawing, reasons[k]),
            _counted(metric, truth, codes),
        )
        for k, metric in enumerate(metrics)
    )


def _trusted(draws: Array, codes: Codes | None) -> Array:
    """Return the draws, or NaN in their place where too few groups were drawn from."""
    few = codes is not None and _n_groups(codes) < MIN_GROUPS
    return np.full_like(draws, np.nan) if few else draws


def _doubt(metric: Metric, value: float, truth: Array, codes: Codes | None) -> str | None:
    """Return why a value has no interval; the interval that a metric has of its own bears few groups."""
    if metric.interval is None and codes is not None and _n_groups(codes) < MIN_GROUPS:
        return f"no interval: {_n_groups(codes)} groups are too few, {MIN_GROUPS} are needed"
    return metric.doubt(value, truth)


def _counted(metric: Metric, truth: Array, codes: Codes | None) -> int:
    """Return how many rows of the rarer kind there are, or groups with such rows; of a quality, all."""
    units = np.arange(len(truth)) if codes is None else codes
    if metric.task == "generation":
        return n_different(units)
    return min(n_different(units[truth == kind]) for kind in (0.0, 1.0))


def _n_groups(codes: Codes) -> int:
    return int(codes.max(initial=-1)) + 1


def _own_ends(
    metric: Metric,
    scores: Array,
    truth: Array,
    codes: Codes | None,
    drawing: Bootstrap,
    reasons: Sequence[str | None],
) -> Array | None:
    """Return the interval of each method that the metric makes without the draws; None if it makes none."""
    make = metric.interval
    if make is None or not drawing.resamples:
        return None
    nothing = (np.nan, np.nan)
    ends = [
        nothing if reason else make(one, truth, codes, drawing.level)
        for one, reason in zip(scores, reasons, strict=True)
    ]
    return np.array(ends, dtype=float).reshape(-1, 2)


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
