"""The first limitation: calibrating with some out-of-distribution rows, instead of anchors or beside them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq._draw import Sheet, Spread
from vecuq.evaluation import roc_auc
from vecuq.paper.ensembles import DATASETS, GroupScores, group_scores, n_groups
from vecuq.paper.images import COMPONENTS
from vecuq.ranker import Settings, fit_ranker

SHARES = (0.0, 0.01, 0.05, 0.10)
ANCHORS = {"no anchors": 0.0, "anchors": 5.0}
SAME, OTHER, RANGE = "the four evaluated sets", "one set, others evaluated", "none, but the range of those four"
LINES = (*product((SAME, OTHER), SHARES), (RANGE, SHARES[-1]))
Found = dict[str, dict[str, list[float]]]


def ood_calibration() -> Found:
    """Return ROC-AUC per group, by source and share of OOD rows, and by task and anchors."""
    found: Found = {}
    for dataset, (source, share) in product(DATASETS, LINES):
        for group in range(n_groups(dataset)):
            scores = group_scores(dataset, group).select(COMPONENTS)
            for name, figure in _figures(scores, source, share, group).items():
                found.setdefault(_line(source, share), {}).setdefault(f"{dataset} {name}", []).append(figure)
    return found


def mixed(scores: GroupScores, source: str, share: float, seed: int) -> tuple[Array, dict[str, Array]]:
    """Return calibration rows of which a share is OOD (as many rows as before), and the OOD rows left to evaluate.

    For ``RANGE``, one row with the largest value of every column stands for all OOD rows.
    """
    rng = np.random.default_rng(seed)
    given = list(scores.ood)[:1] if source == OTHER else list(scores.ood)
    count = round(share * len(scores.calibration) / len(given))
    mixed_in, left = [], {}
    for name, rows in scores.ood.items():
        taken, rest = np.split(rng.permutation(len(rows)), [count if name in given else 0])
        mixed_in.append(rows[taken])
        if source != OTHER or name not in given:
            left[name] = rows[rest]
    own = scores.calibration[: len(scores.calibration) - count * len(given)]
    rows = np.concatenate([own, *mixed_in])
    return (np.vstack([own, rows.max(axis=0)]) if source == RANGE else rows), left


def _figures(scores: GroupScores, source: str, share: float, seed: int) -> dict[str, float]:
    calibration, ood = mixed(scores, source, share, seed)
    figures = {}
    for name, anchors in ANCHORS.items():
        ranker = fit_ranker(calibration, Settings.paper(anchors=anchors))
        own = ranker.uncertainty(scores.test)
        other = [ranker.uncertainty(rows) for rows in ood.values()]
        areas = [roc_auc(np.concatenate([own, rows]), np.repeat([0, 1], [len(own), len(rows)])) for rows in other]
        figures[f"OOD, {name}"] = float(np.mean(areas))
        figures[f"errors, {name}"] = roc_auc(own, scores.is_error)
    return figures


def _line(source: str, share: float) -> str:
    return f"{source}: {share:.0%}"


def _mean(lines: dict[str, list[float]], name: str) -> Spread:
    """Return the mean over data sets, and how it varies over groups."""
    return Spread.of([float(one) for one in np.mean([lines[f"{dataset} {name}"] for dataset in DATASETS], axis=0)])


def ood_sheet(found: Found) -> Sheet:
    """Return the table: a line per source and share of OOD rows."""
    rows: list[dict[str, Any]] = []
    for source, share in LINES:
        lines = found[_line(source, share)]
        heads = {"OOD rows from": source, "share of calibration": f"{share:.0%}"}
        rows.append(heads | {f"{task}, {name}": _mean(lines, f"{task}, {name}") for task, name in _COLUMNS})
    title = "Calibrating with OOD rows: ROC-AUC of OOD and of error detection, mean over both data sets"
    return Sheet("limitations_ood_rows", title, tuple(rows), decimals=4)


_COLUMNS = tuple(product(("OOD", "errors"), ANCHORS))


def ood_claim(found: Found) -> str:
    """Return what OOD rows gain, and what anchors do."""

    def gain(source: str, name: str) -> str:
        return _change(found[_line(source, 0.0)], name, found[_line(source, SHARES[-1])], name)

    none = found[_line(SAME, 0.0)]
    return (
        f"Limitation 1, OOD rows in calibration (ideal, the paper says): {SHARES[-1]:.0%} of them, without anchors, "
        f"change the ROC-AUC of OOD detection by {gain(SAME, 'OOD, no anchors')} if they come from the sets that are "
        f"looked for and by {gain(OTHER, 'OOD, no anchors')} if from another set; that of error detection by "
        f"{gain(SAME, 'errors, no anchors')} and {gain(OTHER, 'errors, no anchors')}. It is their range, to "
        "which scores are scaled: that alone changes OOD detection by "
        f"{_change(none, 'OOD, no anchors', found[_line(RANGE, SHARES[-1])], 'OOD, no anchors')}. Anchors without OOD "
        f"rows change it by {_change(none, 'OOD, no anchors', none, 'OOD, anchors')}."
    )


def _change(before: dict[str, list[float]], name: str, after: dict[str, list[float]], other: str) -> str:
    """Return the change, mean over data sets and deviation over groups, each compared with itself."""
    changes = [np.subtract(after[f"{dataset} {other}"], before[f"{dataset} {name}"]) for dataset in DATASETS]
    found = Spread.of([float(one) for one in np.mean(changes, axis=0)])
    return f"{found.mean:+.4f} ± {found.std:.4f}"
