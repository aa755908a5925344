"""Other measures: one kind of risk under the four proper scoring rules, stacked into one vector."""

from __future__ import annotations

from functools import partial
from typing import Any

from vecuq._draw import Sheet
from vecuq.measures import compositions
from vecuq.paper.ensembles import APPENDIX_MEMBERS, GroupScores
from vecuq.paper.images import APPENDIX_GROUPS, DIFFERS, OURS, best_or_second, draw_tasks, worse_than_worst
from vecuq.paper.study import Picture, Study, printed_table
from vecuq.paper.tasks import NAMES, Method, Outcome, component_methods, over_groups
from vecuq.ranker import Settings, fit_ranker

_RULES = ("Logscore", "Brier", "Spherical", "Zero-one")
_KINDS = {
    "total_1_2": ("total_rules", "Total risk (1, 2) under four scoring rules"),
    "bayes_1": ("bayes_rules", "Bayes risk (1) under four scoring rules"),
    "excess_1_3": ("excess_rules", "Excess risk (1, 3) under four scoring rules"),
}


def reproduce_measures() -> Study:
    """Compute the three tables of the appendix on other choices of measures."""
    outcomes = {
        name: over_groups(compositions[kind], _fit, members=APPENDIX_MEMBERS) for name, (kind, _) in _KINDS.items()
    }
    return Study(
        name="measures",
        title="Other measures: each kind of risk under four proper scoring rules",
        sheets=tuple(_sheet(name, outcome) for name, outcome in outcomes.items()),
        figures={
            name: {f"{NAMES[task.dataset]}: {task}": figures for task, figures in outcome.means().items()}
            for name, outcome in outcomes.items()
        },
        differs=DIFFERS + APPENDIX_GROUPS,
        printed=tuple(
            printed_table(f"measures_{name}", title, across=(OURS, *_RULES)) for name, (_, title) in _KINDS.items()
        ),
        pictures=tuple(
            Picture(name, f"{_KINDS[name][1]}: every task.", partial(draw_tasks, outcome, (OURS, *_RULES)))
            for name, outcome in outcomes.items()
        ),
        claims=tuple(_claim(name, outcome) for name, outcome in outcomes.items()),
    )


def _fit(scores: GroupScores) -> dict[str, Method]:
    rules = dict(zip(_RULES, component_methods(scores.columns).values(), strict=True))
    return {OURS: fit_ranker(scores.calibration, Settings.paper()).uncertainty, **rules}


def _sheet(name: str, outcome: Outcome) -> Sheet:
    methods = (OURS, *_RULES)
    rows: list[dict[str, Any]] = [
        {"In-Dist.": NAMES[task.dataset], "Evaluation": str(task)}
        | {method: outcome.spread(task, method) for method in methods}
        for task in outcome.values
    ]
    rows.append(
        {"In-Dist.": "Avg", "Evaluation": "[all rows]"} | {method: outcome.average(method) for method in methods}
    )
    return Sheet(f"measures_{name}", _KINDS[name][1], tuple(rows), across=methods)


def _claim(name: str, outcome: Outcome) -> str:
    means = outcome.means()
    return (
        f"{_KINDS[name][1]}: VecUQ-OT is worse than the worst rule on {worse_than_worst(means, OURS, _RULES)} and best "
        f"or second best on {best_or_second(means, OURS, _RULES)} of {len(means)} tasks."
    )
