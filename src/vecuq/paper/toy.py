"""The motivating example: two Gaussians, logistic regression, two tasks; one score is good at each.

The random numbers are drawn in the authors' order, so that their printed digits come out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._draw import Sheet, Spread
from vecuq.evaluation import roc_auc
from vecuq.paper.drawings import grouped_bars, scatters
from vecuq.paper.study import Picture, Study, printed_table
from vecuq.paper.tasks import Method
from vecuq.ranker import Settings, fit_ranker

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEANS = ((-0.8, 0.0), (0.8, 0.2))
_COVARIANCE = ((1.0, 0.6), (0.6, 1.2))
_OOD = "out-of-distribution"
_PAPER = {"misclassification": (0.766, 0.445, 0.710), "ood": (0.099, 1.000, 1.000)}


@dataclass(frozen=True)
class ToyScores:
    """Score vectors (1 - MSP, Mahalanobis) of the toy's three sets, and which test rows are errors.

    ``points`` are what the figure of the data shows: training points by class, and out-of-distribution points.
    """

    calibration: Array
    test: Array
    background: Array
    ood: Array
    is_error: NDArray[np.bool_]
    points: dict[str, Array]


def toy_scores(random_state: int = 42) -> ToyScores:
    """Draw the data, fit the classifier and compute both scores."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(random_state)
    train, calibration, test = (_two_classes(rng, n) for n in (500, 125, 1500))
    model = LogisticRegression().fit(*train)
    ood = rng.multivariate_normal((0.0, 6.0), _COVARIANCE, 3000)
    background = rng.choice(3000, 3000, replace=False)
    means, precision = _class_gaussians(*calibration)

    def both(points: Array) -> Array:
        return np.column_stack([1.0 - model.predict_proba(points).max(axis=1), _mahalanobis(points, means, precision)])

    return ToyScores(
        calibration=both(calibration[0]),
        test=both(test[0]),
        background=both(test[0][background]),
        ood=both(ood),
        is_error=model.predict(test[0]) != test[1],
        points={"class 0": train[0][train[1] == 0], "class 1": train[0][train[1] == 1], _OOD: ood},
    )


def reproduce_toy() -> Study:
    """Compute the table of the motivating example with the authors' grid, the paper's own, and our defaults."""
    scores = toy_scores()
    figures = _figures(scores)
    rows: list[dict[str, Any]] = []
    for task, printed in _PAPER.items():
        for place, (name, value) in enumerate(figures[task].items()):
            shown = f"{printed[place]:.3f}" if place < len(printed) else None
            rows.append({"task": task, "measure": _LONG.get(name, name), "ROC-AUC": value, "paper": shown})
    return Study(
        name="toy",
        title="Motivating example: ROC-AUC of two scores and of their Monge-Kantorovich rank",
        sheets=(Sheet("toy", "ROC-AUC on two tasks", tuple(rows), decimals=6),),
        figures=figures,
        differs="Nothing: the authors' random numbers, scores and reference points. "
        "The paper's own Cartesian grid and our defaults are added for comparison.",
        printed=(printed_table("toy", "ROC-AUC on two tasks"),),
        pictures=(
            Picture("bars", "Each score is good at one task; their rank is good at both.", partial(_draw, figures)),
            Picture(
                "data",
                "In-distribution points by class, and with the out-of-distribution points beside them.",
                partial(_draw_points, scores.points),
            ),
        ),
        claims=(
            f"Robust across both tasks: VecUQ-OT {figures['misclassification']['VecUQ-OT']:.3f} and "
            f"{figures['ood']['VecUQ-OT']:.3f}, where each score alone fails at one of them "
            f"({figures['ood']['u1']:.3f} and {figures['misclassification']['u2']:.3f}).",
        ),
    )


def _figures(data: ToyScores) -> dict[str, dict[str, float]]:
    """Return the ROC-AUC of each measure on both tasks."""
    authors, paper, ours = (
        fit_ranker(data.calibration, settings).uncertainty
        for settings in (Settings.paper(grid="authors"), Settings.paper(), Settings())
    )
    measures: dict[str, Method] = {"u1": lambda s: s[:, 0], "u2": lambda s: s[:, 1], "VecUQ-OT": authors}
    measures |= {"VecUQ-OT, paper's grid": paper, "VecUQ-OT, our defaults": ours}
    figures: dict[str, dict[str, float]] = {task: {} for task in _PAPER}
    for name, measure in measures.items():
        figures["misclassification"][name] = roc_auc(measure(data.test), data.is_error)
        both = np.concatenate([measure(data.background), measure(data.ood)])
        figures["ood"][name] = roc_auc(both, np.repeat([0, 1], [len(data.background), len(data.ood)]))
    return figures


def _draw(figures: dict[str, dict[str, float]]) -> Figure:
    shown = {"VecUQ-OT": "VecUQ-OT", "u1": "1 - MSP", "u2": "Mahalanobis"}
    titles = {"misclassification": "misclassification", "ood": "out-of-distribution"}
    panels = {
        titles[task]: {long: Spread(found[name], float("nan")) for name, long in shown.items()}
        for task, found in figures.items()
    }
    return grouped_bars(panels, "ROC-AUC")


def _draw_points(points: dict[str, Array]) -> Figure:
    own = {name: found for name, found in points.items() if name != _OOD}
    return scatters({"in-distribution": own, "with out-of-distribution points": points})


_LONG = {"u1": "u1: 1 - MSP", "u2": "u2: Mahalanobis"}


def _two_classes(rng: np.random.Generator, n: int) -> tuple[Array, NDArray[np.int_]]:
    points = np.concatenate([rng.multivariate_normal(mean, _COVARIANCE, n) for mean in _MEANS])
    return points, np.repeat([0, 1], n)


def _class_gaussians(points: Array, labels: NDArray[np.int_]) -> tuple[Array, Array]:
    means = np.array([points[labels == c].mean(axis=0) for c in (0, 1)])
    residuals = points - means[labels]
    covariance = residuals.T @ residuals / len(points) + 1e-6 * np.eye(2)
    return means, np.linalg.inv(covariance)


def _mahalanobis(points: Array, means: Array, precision: Array) -> Array:
    """Smallest squared Mahalanobis distance to a class mean."""
    away = points[:, None, :] - means
    return np.asarray(((away @ precision) * away).sum(axis=2).min(axis=1))
