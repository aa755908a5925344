"""Many classes: twenty letters, where the paper's Mahalanobis score collapses on its sets of 100 and 200 classes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from vecuq._draw import Sheet
from vecuq.paper.ensembles import LETTER_CALIBRATION_ROWS, LETTERS, GroupScores
from vecuq.paper.images import COMPONENTS, DEFAULTS, OURS, best_or_second, draw_tasks, worse_than_worst
from vecuq.paper.study import Picture, Study, printed_table
from vecuq.paper.tasks import NAMES, Method, Outcome, component_methods, over_groups
from vecuq.ranker import Settings, fit_ranker

if TYPE_CHECKING:
    from vecuq.paper.tasks import Task

METHODS = (OURS, *COMPONENTS)
_MAHALANOBIS = "mahalanobis"
_MANY_CLASSES = ("CIFAR100", "TinyImageNet")
_KINDS = {"miscls": "misclassification", "selective": "selective", "ood": "ood"}


def reproduce_letters() -> Study:
    """Compute all tasks on letters, and put the paper's lines on its sets of many classes beside them."""
    outcome = over_groups(COMPONENTS, _fit, datasets=LETTERS)
    means = outcome.means()
    return Study(
        name="letters",
        title="Many classes: four scores of ensembles on twenty letters, and their Monge-Kantorovich rank",
        sheets=(_sheet(outcome),),
        figures={str(task): figures for task, figures in means.items()},
        differs="Networks and data: one hidden layer of 64 units on the KEEL set letter (16 numbers per image), "
        "trained on A to T; letters U to Z, never seen, and digits of the KEEL set penbased are out of distribution. "
        "The paper has ResNet18 on CIFAR-100 and TinyImageNet, 100 and 200 classes. Five groups of four members, as "
        f"there; {LETTER_CALIBRATION_ROWS:,} of 2,500 validation rows fit. The Mahalanobis score looks at the logits.",
        printed=(_printed(),),
        pictures=(
            Picture(
                "tasks",
                "Every task, every score; bars are one deviation over five groups.",
                partial(draw_tasks, outcome, METHODS),
            ),
        ),
        claims=_claims(means),
    )


def _fit(scores: GroupScores) -> dict[str, Method]:
    return {
        OURS: fit_ranker(scores.calibration, Settings.paper()).uncertainty,
        **component_methods(scores.columns),
        DEFAULTS: fit_ranker(scores.calibration, Settings()).uncertainty,
    }


def _sheet(outcome: Outcome) -> Sheet:
    methods = (*METHODS, DEFAULTS)
    rows: list[dict[str, Any]] = [
        {"In-Dist.": NAMES[task.dataset], "Evaluation": str(task)}
        | {method: outcome.spread(task, method) for method in methods}
        for task in outcome.values
    ]
    rows.append({"In-Dist.": "Avg", "Evaluation": ""} | {method: outcome.average(method) for method in methods})
    title = "ROC-AUC (miscls, ood) and area under the accuracy-coverage curve (selective), twenty classes"
    return Sheet("letters", title, tuple(rows), across=METHODS)


def _printed() -> Sheet:
    """Return the lines of the paper's three tables that are on its sets of many classes."""
    rows = [
        {"In-Dist.": row["In-Dist."], "Evaluation": f"{row.get('Out-of-Dist.', row['In-Dist.'])} [{kind}]"}
        | {name: row[name] for name in ("Ours", *COMPONENTS)}
        for kind, table in _KINDS.items()
        for row in printed_table(table, "").rows
        if row["In-Dist."] in _MANY_CLASSES
    ]
    return Sheet(
        "paper_letters", "The same tasks on CIFAR100 and TinyImageNet", tuple(rows), across=("Ours", *COMPONENTS)
    )


def _claims(means: dict[Task, dict[str, float]]) -> tuple[str, ...]:
    printed = [float(row[_MAHALANOBIS]) for row in _printed().rows if "selective" not in row["Evaluation"]]
    ours = {str(task): figures[_MAHALANOBIS] for task, figures in means.items() if task.kind != "selective"}
    return (
        f"With many classes the Mahalanobis score collapses (paper: ROC-AUC {min(printed):.3f} to {max(printed):.3f}): "
        f"here it is that low on {sum(value <= max(printed) for value in ours.values())} of {len(ours)} tasks "
        f"({', '.join(f'{value:.3f} on {task}' for task, value in ours.items())}).",
        f"Never worse than the worst component: worse on {worse_than_worst(means, OURS, COMPONENTS)} of {len(means)} "
        f"tasks; best or second best (of five) on {best_or_second(means, OURS, COMPONENTS)}.",
    )
