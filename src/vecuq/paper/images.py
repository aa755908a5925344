"""Out-of-distribution detection, misclassification detection, selective prediction and the Pareto front, on images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._draw import Sheet
from vecuq.baselines import baselines
from vecuq.evaluation import average_rank, pareto_share
from vecuq.paper.drawings import dots
from vecuq.paper.ensembles import CALIBRATION_ROWS, GroupScores
from vecuq.paper.pareto import by_method, draw_pareto, pareto_claim, pareto_sheet
from vecuq.paper.study import Picture, Study, printed_table
from vecuq.paper.tasks import NAMES, Method, Outcome, Task, component_methods, over_groups
from vecuq.ranker import Settings, fit_ranker

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS, DEFAULTS = "VecUQ-OT", "VecUQ-OT (defaults)"
COMPONENTS = ("excess_log_1_1", "total_log_1_1", "bayes_log_1", "mahalanobis")
_COLUMNS = {"ood": ("In-Dist.", "Out-of-Dist."), "miscls": ("In-Dist.",), "selective": ("In-Dist.",)}
_TITLES = {
    "ood": "ROC-AUC of out-of-distribution detection",
    "miscls": "ROC-AUC of misclassification detection",
    "selective": "Area under the accuracy-coverage curve",
}
_PRINTED = {"ood": "ood", "miscls": "misclassification", "selective": "selective"}
DIFFERS = (
    "Networks and data: small residual networks trained for minutes (CIFAR-10, Fashion-MNIST; out-of-distribution rows "
    "from SVHN, TinyImageNet, MNIST and the other of the two) instead of ResNet18 on CIFAR-10, CIFAR-100 and "
    "TinyImageNet. As in "
    f"the paper a smaller part of the validation rows ({CALIBRATION_ROWS:,} of 10,000) fits; the Mahalanobis score "
    "looks at the logits."
)
# The paper's main tables have five groups of four members, those of its appendix four groups of five.
APPENDIX_GROUPS = " Four groups of five members, as there: the twenty networks of the main tables, regrouped."


def reproduce_images() -> Study:
    """Compute the three task tables and the Pareto shares, with every baseline beside them."""
    outcome = over_groups(COMPONENTS, _fit_all)
    paper_methods = (OURS, *COMPONENTS)
    means = outcome.means()
    pareto = pareto_sheet(means, paper_methods)
    sheets = (
        *(task_sheet(outcome, kind, paper_methods) for kind in _TITLES),
        pareto,
        _baselines_sheet(outcome),
    )
    return Study(
        name="images",
        title="Images: four scores of ensembles, and their Monge-Kantorovich rank, on three tasks",
        sheets=sheets,
        figures={f"{NAMES[task.dataset]}: {task}": figures for task, figures in means.items()},
        differs=DIFFERS + " Five groups of four members, as there.",
        printed=(
            *(printed_table(_PRINTED[kind], title, across=("Ours", *COMPONENTS)) for kind, title in _TITLES.items()),
            printed_table("pareto", "Share of task pairs on whose Pareto front a method lies"),
        ),
        pictures=(
            Picture(
                "tasks",
                "Every task, every score; bars are one deviation over five groups.",
                partial(draw_tasks, outcome, paper_methods),
            ),
            Picture(
                "pareto",
                "How often each score lies on the Pareto front of two tasks.",
                partial(draw_pareto, pareto),
            ),
        ),
        claims=_claims(means, paper_methods, pareto),
    )


def _fit_all(scores: GroupScores) -> dict[str, Method]:
    methods: dict[str, Method] = {
        OURS: fit_ranker(scores.calibration, Settings.paper()).uncertainty,
        **component_methods(scores.columns),
        DEFAULTS: fit_ranker(scores.calibration, Settings()).uncertainty,
    }
    for baseline in baselines().values():
        methods[f"{baseline.name}()"] = baseline.make().fit(scores.calibration).uncertainty
    return methods


def task_sheet(outcome: Outcome, kind: str, methods: Sequence[str]) -> Sheet:
    """Return one table as the paper prints it: a line per task of that kind, and the average."""
    rows = []
    for task in outcome.means(kind):
        heads: dict[str, Any] = {"In-Dist.": NAMES[task.dataset]}
        if kind == "ood":
            heads["Out-of-Dist."] = NAMES[task.rows]
        rows.append(heads | {name: outcome.spread(task, name) for name in methods})
    last: dict[str, Any] = dict.fromkeys(_COLUMNS[kind], "") | {"In-Dist.": "Avg"}
    rows.append(last | {name: outcome.average(name, kind) for name in methods})
    return Sheet(f"images_{kind}", _TITLES[kind], tuple(rows), across=tuple(methods))


def _baselines_sheet(outcome: Outcome) -> Sheet:
    """Return all ways to combine the four scores, beside the scores alone."""
    means = outcome.means()
    methods = list(next(iter(means.values())))
    table = by_method(means, methods)
    shares, ranks = pareto_share(table), average_rank(table)
    rows = tuple(
        {
            "Method": name,
            "OOD": outcome.average(name, "ood"),
            "misclassification": outcome.average(name, "miscls"),
            "selective": outcome.average(name, "selective"),
            "average rank": ranks[name],
            "At Pareto Front (%)": 100.0 * shares[name],
        }
        for name in methods
    )
    down = {
        "OOD": True,
        "misclassification": True,
        "selective": True,
        "average rank": False,
        "At Pareto Front (%)": True,
    }
    return Sheet(
        "images_baselines",
        "Every way to combine the four scores: averages over tasks, rank among all rows of this table",
        rows,
        down=down,
    )


def worse_than_worst(means: dict[Any, dict[str, float]], method: str, components: Sequence[str]) -> int:
    """Return on how many tasks a method is worse than the worst of its components."""
    return sum(figures[method] < min(figures[name] for name in components) for figures in means.values())


def best_or_second(means: dict[Any, dict[str, float]], method: str, components: Sequence[str]) -> int:
    """Return on how many tasks a method is best or second best as tables mark it: at three decimals, ties together."""
    return sum(
        len({round(figures[name], 3) for name in components if round(figures[name], 3) > round(figures[method], 3)}) < 2
        for figures in means.values()
    )


def _claims(means: dict[Task, dict[str, float]], methods: Sequence[str], pareto: Sheet) -> tuple[str, ...]:
    count, components = len(means), methods[1:]
    plain = sum(abs(figures["minmax_sum()"] - figures[OURS]) < 0.005 for figures in means.values())
    better = sum(figures["minmax_sum()"] > figures[OURS] for figures in means.values())
    average = {name: float(np.mean([figures[name] for figures in means.values()])) for name in methods}
    order = sorted(average, key=average.__getitem__, reverse=True)
    return (
        f"Never worse than the worst component: worse on {worse_than_worst(means, OURS, components)} of {count} tasks.",
        f"Best or second best (of five): on {best_or_second(means, OURS, components)} of {count} tasks.",
        f"Best on average over tasks: {OURS} is number {order.index(OURS) + 1} of {len(order)} "
        f"({average[OURS]:.3f}; the first is {order[0]} with {average[order[0]]:.3f}).",
        pareto_claim(pareto),
        _baselines_claim(means),
        f"The plain sum of min-max scores is within 0.005 of it on {plain} of {count} tasks, and better on {better}.",
    )


def _baselines_claim(means: dict[Task, dict[str, float]]) -> str:
    """Return which of all methods, baselines included, are better on average over the tasks."""
    average = {
        name: float(np.mean([figures[name] for figures in means.values()])) for name in next(iter(means.values()))
    }
    better = [f"{name} ({average[name]:.4f})" for name in average if average[name] > average[OURS]]
    return f"Better on average among all combiners than {OURS} ({average[OURS]:.4f}): {', '.join(better) or 'none'}."


def draw_tasks(outcome: Outcome, methods: Sequence[str]) -> Figure:
    """Draw every task as a line, with a marker per method."""
    lines = {
        f"{NAMES[task.dataset]}: {task}": {name: outcome.spread(task, name) for name in methods}
        for task in outcome.values
    }
    return dots(lines, "ROC-AUC, or area under accuracy over coverage")
