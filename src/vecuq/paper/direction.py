"""The third limitation: what the direction of the rank image shows that its length does not.

Among rows that are flagged, are they out-of-distribution, or errors on rows of one's own? The length says how
uncertain a row is; the direction, which scores make it so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._draw import Sheet, Spread
from vecuq.evaluation import roc_auc
from vecuq.paper.ensembles import DATASETS, GroupScores, group_scores, n_groups
from vecuq.paper.images import COMPONENTS
from vecuq.paper.tasks import NAMES
from vecuq.ranker import Ranker, Settings, fit_ranker

FLAGGED = 0.05  # share of the calibration rows that lies above the threshold
_MOST = 2_000  # of either kind
LENGTH, LABELLED = "length of the rank image", "labelled"
Found = dict[str, dict[str, list[float]]]


def direction() -> Found:
    """Return, by pair of data sets and by what is looked at, the ROC-AUC of OOD against own errors in each group."""
    found: Found = {}
    for dataset, others in DATASETS.items():
        for group in range(n_groups(dataset)):
            scores = group_scores(dataset, group).select(COMPONENTS)
            ranker = fit_ranker(scores.calibration, Settings.paper())
            for other in others:
                pair = found.setdefault(f"{NAMES[dataset]} / {NAMES[other]}", {})
                for name, figure in _figures(scores, ranker, other).items():
                    pair.setdefault(name, []).append(figure)
    return found


def flagged_rows(scores: GroupScores, ranker: Ranker, other: str) -> tuple[Array, NDArray[np.bool_]]:
    """Return the flagged rows that are OOD or errors of one's own, and which of them are OOD."""
    threshold = np.quantile(ranker.uncertainty(scores.calibration), 1.0 - FLAGGED)
    kinds = [
        rows[ranker.uncertainty(rows) > threshold][:_MOST] for rows in (scores.test[scores.is_error], scores.ood[other])
    ]
    return np.concatenate(kinds), np.repeat([False, True], list(map(len, kinds)))


def _figures(scores: GroupScores, ranker: Ranker, other: str) -> dict[str, float]:
    rows, is_ood = flagged_rows(scores, ranker, other)
    images = ranker.transform(rows)
    length = np.linalg.norm(images, axis=1)
    directions = images / length[:, None]
    found = {LENGTH: roc_auc(length, is_ood)}
    found |= {name: roc_auc(rows[:, k], is_ood) for k, name in enumerate(COMPONENTS)}
    found |= {f"direction, {name}": roc_auc(directions[:, k], is_ood) for k, name in enumerate(COMPONENTS)}
    learned = {"length": length[:, None], "direction": directions, "scores": ranker.scaler.transform(rows)}
    return found | {f"{LABELLED}, {name}": _learned(values, is_ood) for name, values in learned.items()}


def _learned(values: Array, is_ood: NDArray[np.bool_]) -> float:
    """Return the ROC-AUC of a logistic regression, each half of the rows judged by one fitted on the other."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    fold = np.random.default_rng(0).random(len(values)) < 0.5
    areas = []
    for half in (fold, ~fold):
        model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky")).fit(
            values[half], is_ood[half]
        )
        areas.append(roc_auc(model.decision_function(values[~half]), is_ood[~half]))
    return float(np.mean(areas))


def _mean(found: Found, name: str) -> Spread:
    """Return the mean over pairs, and how it varies over groups."""
    return Spread.of([float(one) for one in np.mean([pair[name] for pair in found.values()], axis=0)])


def direction_sheet(found: Found) -> Sheet:
    """Return the table: a line per thing looked at, a column per pair of data sets."""
    names = next(iter(found.values()))
    rows: list[dict[str, Any]] = [
        {"looked at": name}
        | {pair: float(np.mean(lines[name])) for pair, lines in found.items()}
        | {"mean": _mean(found, name)}
        for name in names
    ]
    title = (
        "OOD rows against own errors, among rows flagged at a rate of 5 %: ROC-AUC (below 0.5: errors have more); "
        "labelled: a logistic regression fitted with labels on the other half of these rows"
    )
    return Sheet("limitations_direction", title, tuple(rows), down=dict.fromkeys((*found, "mean"), True))


def direction_claim(found: Found) -> str:
    """Return what directions give beside the length and beside single scores."""
    plain = {name: _mean(found, name).mean for name in COMPONENTS}
    parts = {name: _mean(found, f"direction, {name}").mean for name in COMPONENTS}
    column, part = _clearest(plain), _clearest(parts)
    labelled = ", ".join(
        f"{_mean(found, f'{LABELLED}, {name}').mean:.3f} from {what}"
        for name, what in (("length", "the length"), ("direction", "the direction"), ("scores", "the four scores"))
    )
    return (
        "Limitation 3, direction: among flagged rows, OOD rows are separated from own errors with ROC-AUC "
        f"{_mean(found, LENGTH).mean:.3f} by the length, {_apart(parts[part]):.3f} by the best part of the direction "
        f"({part}{_less(parts[part])}), {_apart(plain[column]):.3f} by the best single score "
        f"({column}{_less(plain[column])}), mean over pairs; which is best is known only "
        f"afterwards. With labels: {labelled}."
    )


def _clearest(areas: dict[str, float]) -> str:
    return max(areas, key=lambda name: _apart(areas[name]))


def _apart(area: float) -> float:
    """Return how well a score separates two kinds, in whichever direction."""
    return max(area, 1.0 - area)


def _less(area: float) -> str:
    return "" if area >= 0.5 else ", of which OOD rows have less"
