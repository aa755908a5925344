"""Evaluations as tables to be looked at: one per task, or one line per method with what decides between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from vecuq._draw import Ranged, Sheet
from vecuq.evaluation.calibration import Calibration
from vecuq.evaluation.pareto import average_rank, pareto_share, regret
from vecuq.evaluation.results import Evaluation
from vecuq.evaluation.separation import shared_level

TITLES = {
    "ood": "Finding out-of-distribution rows",
    "error": "Finding wrong predictions",
    "selective": "Selective prediction",
    "generation": "Selective generation",
}


def task_sheets(evaluation: Evaluation) -> tuple[Sheet, ...]:
    """Return one table per task: a line per method, a column per metric, with intervals.

    The best are marked, unless the direction of a method is doubted. A probability of being wrong comes last, with the
    share of wrong rows by bin.
    """
    tasks = dict.fromkeys(one.metric.task for one in evaluation.comparisons)
    sheets = tuple(_task_sheet(evaluation, task) for task in tasks)
    found = evaluation.calibration
    return sheets if found is None or not found.n else (*sheets, calibration_sheet(found))


def calibration_sheet(found: Calibration) -> Sheet:
    """Return the reliability curve as a table: what was said of the rows of each bin, and how many were wrong."""
    columns = (found.curve.probability, found.curve.wrong, found.curve.low, found.curve.high, found.curve.n)
    rows = tuple(
        {"p_wrong": float(said), "wrong": Ranged(float(was), float(low), float(high)), "rows": int(n)}
        for said, was, low, high, n in zip(*columns, strict=True)
    )
    return Sheet("calibration", f"Probability of being wrong ({found.n:,} rows)", rows)


def _task_sheet(evaluation: Evaluation, task: str) -> Sheet:
    chosen = [one for one in evaluation.comparisons if one.metric.task == task]
    rows = tuple(
        {"score": method} | {one.metric.name: _cell(evaluation, method, one.metric.key) for one in chosen}
        for method in evaluation.methods
    )
    down = {one.metric.name: one.metric.higher_is_better for one in chosen if not evaluation.doubted}
    return Sheet(task, f"{TITLES[task]} ({chosen[0].n:,} rows)", rows, down=down)


def _cell(evaluation: Evaluation, method: str, key: str) -> Ranged | None:
    found = evaluation.estimate(method, key)
    return None if math.isnan(found.value) else Ranged(found.value, found.low, found.high)


def comparison_sheet(evaluation: Evaluation, keys: Sequence[str], components: Sequence[str]) -> Sheet:
    """Return one line per method: the named metrics with intervals, and what decides between methods.

    A win or a loss is a difference to another method, on one of the metrics, that is larger than chance explains; all
    pairs of methods and all the metrics are judged at once. The regret is how far a method stays behind the best of the
    ``components``, on the metric where that is most.
    """
    chosen = [evaluation.comparison(key) for key in keys]
    table = evaluation.table(keys)
    ranks, shares, behind = average_rank(table), pareto_share(table), regret(table, components)
    rows: list[dict[str, Any]] = []
    for method in evaluation.methods:
        records = [
            one.record(method, level=shared_level(one.level, len(chosen))) for one in chosen if one.draws.shape[-1]
        ]
        rows.append(
            {"method": method}
            | {key: _cell(evaluation, method, key) for key in keys}
            | {
                "wins": sum(record.wins for record in records) if records else None,
                "losses": sum(record.losses for record in records) if records else None,
                "regret": float(behind[method].max()) if len(behind[method]) else None,
                "average rank": ranks[method],
                "Pareto share": shares[method],
            }
        )
    down = {one.metric.key: one.metric.higher_is_better for one in chosen}
    down |= {"wins": True, "losses": False, "regret": False, "average rank": False, "Pareto share": True}
    return Sheet("comparison", "Every way to combine the scores, and each score alone", tuple(rows), down=down)
