"""Extreme compositions: one score alone, one score five times, one score beside five constants.

In each of them there is nothing to combine, so the base score's order must come out, exactly.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._draw import Sheet, Spread
from vecuq.evaluation import roc_auc
from vecuq.paper.drawings import lines
from vecuq.paper.ensembles import APPENDIX_MEMBERS, GroupScores, group_scores, n_groups
from vecuq.paper.images import APPENDIX_GROUPS, DIFFERS
from vecuq.paper.study import Picture, Study, printed_table
from vecuq.paper.tasks import NAMES
from vecuq.ranker import Settings, fit_ranker

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BASE = "excess_log_1_1"
PAIR = ("cifar10", "tinyimagenet")
_METHODS = {"VecUQ-OT": Settings.paper(), "VecUQ-OT (defaults)": Settings()}
_CONSTANT = "Constant"
_FILES = {"single component": "single", "repeated five times": "repeated", "with five constants": "constants"}


def compositions(base: Array) -> dict[str, Array]:
    """Return the three compositions of one score, each (rows, columns)."""
    constants = np.broadcast_to(np.arange(1.0, 6.0), (len(base), 5))
    return {
        "single component": base[:, None],
        "repeated five times": np.repeat(base[:, None], 5, axis=1),
        "with five constants": np.column_stack([base, constants]),
    }


def tied_auc(score: Array, is_ood: NDArray[np.bool_]) -> float:
    """Return the Mann-Whitney statistic with ties as one half: 0.5 for a constant, whose ROC-AUC vecuq leaves open."""
    from scipy.stats import rankdata

    count = int(is_ood.sum())
    above = rankdata(score)[is_ood].sum() - count * (count + 1) / 2
    return float(above / (count * (len(score) - count)))


def keeps_order(base: Array, uncertainty: Array) -> bool:
    """Whether two scores order all pairs alike, ties included."""
    _, left = np.unique(base, return_inverse=True)
    _, right = np.unique(uncertainty, return_inverse=True)
    return bool((left == right).all())


def reproduce_extremes() -> Study:
    """Compute the three tables of the appendix on the ensembles of one pair of data sets."""
    groups = [
        group_scores(PAIR[0], group, APPENDIX_MEMBERS).select((BASE,))
        for group in range(n_groups(PAIR[0], APPENDIX_MEMBERS))
    ]
    figures = {name: _figures(name, groups) for name in _FILES}
    return Study(
        name="extremes",
        title="Extreme compositions: OOD detection from one score, alone, repeated, and beside constants",
        sheets=tuple(_sheet(name, found) for name, found in figures.items()),
        figures=figures,
        differs=DIFFERS
        + APPENDIX_GROUPS
        + " The pair is CIFAR-10 against TinyImageNet instead of CIFAR-10 against CIFAR-100.",
        printed=tuple(
            printed_table(f"extremes_{file}", name.capitalize(), decimals=4) for name, file in _FILES.items()
        ),
        pictures=(
            Picture("order", "The rank as a function of the base score: never falling.", partial(_draw, groups[0])),
        ),
        claims=tuple(
            f"{name.capitalize()}: the order of all pairs of rows is kept in "
            f"{sum(found[f'order kept, {method}'])} of {len(groups)} groups by {method}."
            for name, found in figures.items()
            for method in _METHODS
        ),
    )


def _figures(name: str, groups: list[GroupScores]) -> dict[str, Any]:
    """Return, per group, the AUC of the base and of each method, and whether the method keeps the base's order."""
    figures: dict[str, list[Any]] = {"base": []}
    for scores in groups:
        rows = np.concatenate([scores.test[:, 0], scores.ood[PAIR[1]][:, 0]])
        is_ood = np.arange(len(rows)) >= len(scores.test)
        figures["base"].append(roc_auc(rows, is_ood))
        columns = compositions(rows)[name]
        for place in np.flatnonzero(np.ptp(columns, axis=0) == 0):
            figures.setdefault(f"{_CONSTANT} {place}", []).append(tied_auc(columns[:, place], is_ood))
        for method, settings in _METHODS.items():
            ranker = fit_ranker(compositions(scores.calibration[:, 0])[name], settings)
            found = ranker.uncertainty(columns)
            figures.setdefault(method, []).append(roc_auc(found, is_ood))
            figures.setdefault(f"order kept, {method}", []).append(keeps_order(rows, found))
    return figures


def _sheet(name: str, figures: dict[str, Any]) -> Sheet:
    constants = [(measure, found) for measure, found in figures.items() if measure.startswith(_CONSTANT)]
    repeats = 5 if name == "repeated five times" else 1
    measured = [(BASE, figures["base"])] * repeats + [(method, figures[method]) for method in _METHODS]
    rows = []
    for measure, found in [*measured[:repeats], *constants, *measured[repeats:]]:
        spread = Spread.of(found)
        rows.append(
            {
                "In-distribution": NAMES[PAIR[0]],
                "Out-of-distribution": NAMES[PAIR[1]],
                "Measure": measure,
                "Mean ROC AUC": spread.mean,
                "Std ROC AUC": spread.std,
            }
        )
    return Sheet(f"extremes_{_FILES[name]}", name.capitalize(), tuple(rows), decimals=4)


def _draw(scores: GroupScores) -> Figure:
    base = np.linspace(0.0, float(scores.calibration.max()), 400)
    curves = {
        name: fit_ranker(rows, Settings.paper()).uncertainty(compositions(base)[name])
        for name, rows in compositions(scores.calibration[:, 0]).items()
    }
    return lines(base, curves, x=BASE, y="VecUQ-OT")
