"""From a summary to numbers: every metric with what the cells leave open, and the interval of other rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vecuq._check import Array
from vecuq.conformal import Cells
from vecuq.errors import SettingError, TableError
from vecuq.evaluation.auc_interval import auc_interval_of_counts
from vecuq.evaluation.bootstrap import Bootstrap, interval
from vecuq.evaluation.bounded import Ideal, Sorted, bounds_of
from vecuq.evaluation.calibration import Calibration
from vecuq.evaluation.counted_calibration import counted_calibration
from vecuq.evaluation.fixed_point import ROUNDED, floating
from vecuq.evaluation.generation import rejected_rows
from vecuq.evaluation.many_rows import ManyRows
from vecuq.evaluation.registry import METRICS, ONE_KIND, TASKS, Metric, find_metrics, rejection_ratio
from vecuq.evaluation.summary import Bounded, SummaryEvaluation

if TYPE_CHECKING:
    from vecuq.evaluation.partial import PartialEvaluation

# Resamples are drawn from so many cells: finer ones do not change the spread.
_COARSE = 2_048
_NO_INTERVAL = "no interval: a summary counts the sum of the quality, not how it varies"


def summed_up(
    partial: PartialEvaluation, metrics: Iterable[str | Metric] | None, bootstrap: Bootstrap
) -> SummaryEvaluation:
    """Return every metric of every method of a summary."""
    if not partial.methods:
        raise TableError("This summary has no rows yet; call update(uncertainty, error=...) first.")
    chosen = _possible(metrics, partial.tasks)
    found: dict[tuple[str, str], Bounded] = {}
    for task in dict.fromkeys(metric.task for metric in chosen):
        of_task = [metric for metric in chosen if metric.task == task]
        for method in partial.methods:
            made = _of_quality(partial, method, of_task) if task == "generation" else None
            made = made or _of_labels(partial.cells_of(method, task), of_task, bootstrap)
            found |= {(method, metric.key): one for metric, one in zip(of_task, made, strict=True)}
    known = _calibrated(partial, bootstrap) if partial.has_p_wrong else None
    return SummaryEvaluation(
        methods=partial.methods,
        metrics=tuple(chosen),
        found=found,
        n_rows=partial.n_rows,
        n_left_out=partial.n_left_out,
        without_score={name: count for name, count in partial.without_score.items() if count},
        calibration=None if known is None else known[0],
        calibration_error=0.0 if known is None else known[1],
        level=bootstrap.level if bootstrap.resamples else None,
    )


def _possible(metrics: Iterable[str | Metric] | None, tasks: Sequence[str]) -> list[Metric]:
    """Return the chosen metrics that the labels allow; one that counts cannot give is refused."""
    chosen = find_metrics(metrics)
    known = {metric.key for metric in METRICS} | {rejection_ratio(one.max_rejection).key for one in chosen}
    other = [metric.key for metric in chosen if metric.key not in known]
    if other:
        raise SettingError(
            f"{other[0]!r} cannot be computed from counts: nothing says how far the order inside a cell moves it. A "
            f"summary gives {', '.join(dict.fromkeys(metric.name for metric in METRICS))}."
        )
    possible = [metric for metric in chosen if metric.task in tasks]
    if not possible:
        needs = {metric.key: TASKS[metric.task] for metric in chosen}
        raise SettingError(f"The metrics that were chosen need labels that are not there: {needs}. Give them.")
    return possible


def _of_labels(cells: Cells, metrics: Sequence[Metric], bootstrap: Bootstrap) -> list[Bounded]:
    """Return metrics of rows that are of one kind or the other."""
    task, zeros, ones = metrics[0].task, cells.counts[:, 0].astype(float), cells.counts[:, 1].astype(float)
    target = zeros if task == "selective" else ones
    rows, n, n_high = zeros + ones, int(zeros.sum() + ones.sum()), int(target.sum())
    lacking = _defect(cells, n, n_high, task)
    ideal = Ideal.of_labels(float(n - n_high), float(n_high))
    coarse = cells.at_most(_COARSE)
    draws = None if lacking or not bootstrap.resamples else _draws(coarse, metrics, bootstrap)
    made = []
    for place, metric in enumerate(metrics):
        reason = lacking or (metric.fewest.defect(n_high) if metric.fewest else None)
        if reason:
            made.append(Bounded(np.nan, np.nan, np.nan, n=n, reason=reason))
            continue
        value, lowest, highest = bounds_of(metric, Sorted(rows, target), ideal, exact=cells.exact)
        doubt = metric.fewest.doubt(value, n_high, n) if metric.fewest and draws is not None else None
        low, high = np.nan, np.nan
        if draws is not None and not doubt:
            if metric.interval is not None:
                low, high = auc_interval_of_counts(ones, zeros, bootstrap.level)
            else:
                found = interval(value, draws[place] - draws[place, 0] + value, n, bootstrap.level)
                low, high, doubt = found.low, found.high, found.reason
        made.append(Bounded(value, lowest, highest, low, high, n, doubt))
    return made


def _defect(cells: Cells, n: int, n_high: int, task: str) -> str | None:
    """Return why no order can be judged on these rows, in one line; None if it can."""
    if n < 2:
        return "there is only one row" if n else "there are no rows"
    if n_high in (0, n):
        return f"{ONE_KIND[task][int(n_high > 0)]} ({n:,} rows)"
    return f"the uncertainty is the same on all rows ({n:,} rows)" if len(cells) == 1 else None


def _draws(cells: Cells, metrics: Sequence[Metric], bootstrap: Bootstrap) -> Array:
    """Return each metric on the rows as they are, and on resamples of them, (metrics, 1 + resamples).

    Rows that are drawn with replacement fall into the cells as a multinomial law says.
    """
    n, generator = int(cells.counts.sum()), np.random.default_rng(bootstrap.random_state or 0)
    drawn = generator.multinomial(n, cells.counts.ravel() / n, size=bootstrap.resamples)
    counts = np.concatenate([cells.counts.reshape(1, -1), drawn]).reshape(-1, *cells.counts.shape).astype(float)
    zeros, ones = counts[:, :, 0].T, counts[:, :, 1].T
    target = zeros if metrics[0].task == "selective" else ones
    high, low = target.sum(axis=0), (zeros + ones - target).sum(axis=0)
    ideal = ManyRows(np.stack([high, low]), np.stack([high, 0.0 * low]))
    tally = ManyRows(zeros + ones, target, ideal)
    return np.stack([metric.kernel(tally) for metric in metrics])


def _of_quality(partial: PartialEvaluation, method: str, metrics: Sequence[Metric]) -> list[Bounded]:
    """Return metrics of rows with a quality."""
    cells, quality = partial.cells_of(method, "generation"), partial.cells_of("", "quality")
    rows, gained = cells.counts[:, 0].astype(float), floating(cells.counts[:, 1:])
    n, ideal = int(rows.sum()), _ideal(quality)
    made = []
    for metric in metrics:
        reason = _quality_defect(cells, quality, n, metric.max_rejection)
        if reason:
            made.append(Bounded(np.nan, np.nan, np.nan, n=n, reason=reason))
            continue
        target = np.minimum(gained, rows)
        found = bounds_of(metric, Sorted(rows, target), ideal, exact=cells.exact)
        made.append(Bounded(*found, n=n, reason=_NO_INTERVAL))
    return made


def _ideal(quality: Cells) -> Ideal:
    """Return the rows of highest quality first; inside a cell of quality, at most all of them at its upper end."""
    rows, gained = quality.counts[::-1, 0].astype(float), floating(quality.counts[::-1, 1:])
    upper = np.minimum(quality.edges()[1][::-1], 1.0)
    return Ideal(Sorted(rows, gained).tally(), Sorted(rows, rows * upper).tally(), ROUNDED)


def _quality_defect(cells: Cells, quality: Cells, n: int, max_rejection: float) -> str | None:
    points = rejected_rows(n, max_rejection)
    if n > 1 and points < 2:
        return f"max_rejection={max_rejection:g} of {n:,} rows leaves {points} points on the curve; 2 needed"
    if n > 1 and len(quality) == 1:
        return f"all answers have the same quality ({n:,} rows)"
    return _defect(cells, n, -1, "generation")


def _calibrated(partial: PartialEvaluation, bootstrap: Bootstrap) -> tuple[Calibration, float] | None:
    cells = partial.cells_of("", "p_wrong")
    counts = cells.counts
    if not len(counts):
        return None
    squares = float(floating(counts[:, 4:].sum(axis=0)))
    right, wrong = counts[:, 0].astype(float), counts[:, 1].astype(float)
    seed = bootstrap.random_state or 0
    given = floating(counts[:, 2:4])
    found, error = counted_calibration(right, wrong, given, squares, level=bootstrap.level, seed=seed)
    return found, 0.0 if cells.exact else error
