"""Section 3.1: the barycentric projection far beyond the calibration rows, and what anchors and overshoot add.

The paper expects rank images to collapse to a barycentre there. They do not: the kernel terms are not nearly equal far
out, their ratio is ``exp(2 s (t_i - t_j) / epsilon)`` times a constant, so the outermost targets win and the image
saturates on the boundary of the targets' hull.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array
from vecuq._draw import Sheet
from vecuq.baselines import minmax_sum
from vecuq.evaluation import roc_auc
from vecuq.paper.drawings import rays
from vecuq.paper.study import Picture, Study
from vecuq.paper.toy import toy_scores
from vecuq.ranker import Ranker, Settings, fit_ranker
from vecuq.transport import maps_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_ANCHORS, ANCHORS, OVERSHOOT = "no anchors", "anchors", "anchors, overshoot"
SUM = "min-max sum"
_SETTINGS = {
    NO_ANCHORS: Settings.paper(anchors=0.0),
    ANCHORS: Settings.paper(),
    OVERSHOOT: Settings.paper(overshoot=0.5),
}
# Which columns grow along a ray; the other stays at its calibration median.
RAYS = {"1 - MSP grows": (True, False), "Mahalanobis grows": (False, True), "both grow": (True, True)}
_MULTIPLES = (1.0, 2.0, 5.0, 10.0, 100.0, 1e6)
BANDS = {"1 to 10": (0.0, 1.0), "10 to 100": (1.0, 2.0), "100 to 1,000,000": (2.0, 6.0)}
_N_FAR = 20_000
_TIE = 1e-9


def reproduce_limits() -> Study:
    """Follow the score along rays, and measure how much of the order is left far out."""
    data = toy_scores()
    fitted = {name: fit_ranker(data.calibration, settings) for name, settings in _SETTINGS.items()}
    along = {ray: _along(data.calibration, grows, fitted) for ray, grows in RAYS.items()}
    order = {band: _order(data.calibration, ends, fitted) for band, ends in BANDS.items()}
    ties = {band: _ties(data.calibration, ends, fitted) for band, ends in BANDS.items()}
    return Study(
        name="limits",
        title="Limits of the barycentric projection: far beyond the calibration rows (section 3.1)",
        sheets=(_ray_sheet(along), _order_sheet(order, ties)),
        figures={"rays": along, "far order": order, "ties": ties},
        differs="The paper argues and prints no numbers. The rows are those of the motivating example: 250 calibration "
        "rows, two scores, the paper's grid. Overshoot is ours (0.5 times the distance beyond the calibration box).",
        pictures=(
            Picture(
                "rays",
                "The score along three rays. Dotted: where the paper expects it to end (the barycentre, without "
                "anchors); dashed: the farthest target, which no rank image passes.",
                partial(_draw, data.calibration, fitted),
            ),
        ),
        claims=(_collapse_claim(along), _order_claim(order), _pair_claim(data.calibration, fitted)),
    )


def _points(calibration: Array, grows: tuple[bool, bool], multiples: Array) -> Array:
    """Return rows whose growing columns are so many times the calibration maximum."""
    far = multiples[:, None] * calibration.max(axis=0)
    return np.where(grows, far, np.median(calibration, axis=0))


def barycentre(ranker: Ranker) -> Array:
    """Return the mean of the targets under the potentials: where the paper expects images of far rows."""
    targets = _targets(ranker)
    weights = np.exp(maps_in(ranker.rank_map)[0].log_v.ravel())
    return np.asarray(weights @ targets / weights.sum())


def _targets(ranker: Ranker) -> Array:
    axes = ranker.rank_map.axes  # type: ignore[union-attr]  # a midpoint grid is full
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _along(calibration: Array, grows: tuple[bool, bool], fitted: dict[str, Ranker]) -> list[dict[str, float]]:
    """Return, for each multiple of the maximum, the scores and how far the image is from boundary and barycentre."""
    points = _points(calibration, grows, np.array(_MULTIPLES))
    scores = {name: ranker.uncertainty(points) for name, ranker in fitted.items()}
    bare = fitted[NO_ANCHORS]
    images, edge = bare.transform(points), _targets(bare).max(axis=0)
    to_edge = np.where(grows, edge - images, 0.0).max(axis=1)
    to_centre = np.linalg.norm(images - barycentre(bare), axis=1)
    return [
        {"times the maximum": multiple}
        | {name: float(found[k]) for name, found in scores.items()}
        | {"to the boundary": float(to_edge[k]), "to the barycentre": float(to_centre[k])}
        for k, multiple in enumerate(_MULTIPLES)
    ]


def _far_rows(calibration: Array, ends: tuple[float, float]) -> Array:
    """Return rows with the first score as in calibration, and the second log-uniform in a band beyond its maximum."""
    rng = np.random.default_rng(0)
    near = rng.choice(calibration[:, 0], _N_FAR)
    return np.column_stack([near, calibration[:, 1].max() * 10.0 ** rng.uniform(*ends, _N_FAR)])


def _order(calibration: Array, ends: tuple[float, float], fitted: dict[str, Ranker]) -> dict[str, float]:
    """Return the ROC-AUC of "is the far score above its median", within the band."""
    rows = _far_rows(calibration, ends)
    farther = rows[:, 1] > np.median(rows[:, 1])
    found = {name: roc_auc(ranker.uncertainty(rows), farther) for name, ranker in fitted.items()}
    return found | {SUM: roc_auc(minmax_sum().fit(calibration).uncertainty(rows), farther)}


def _ties(calibration: Array, ends: tuple[float, float], fitted: dict[str, Ranker]) -> dict[str, float]:
    """Return the share of two rows alike in the first score, one twice as far out, that tie to 1e-9."""
    rows = _far_rows(calibration, ends)
    return {
        name: float(np.mean(np.abs(ranker.uncertainty(rows * [1.0, 2.0]) - ranker.uncertainty(rows)) <= _TIE))
        for name, ranker in fitted.items()
    }


def _ray_sheet(along: dict[str, list[dict[str, float]]]) -> Sheet:
    rows: list[dict[str, Any]] = []
    for ray, found in along.items():
        for line in found:
            row: dict[str, Any] = {"ray": ray, "times the maximum": f"{line['times the maximum']:,.0f}"}
            row |= {f"score, {name}": _digits(line[name]) for name in _SETTINGS}
            row |= {f"image {what}, {NO_ANCHORS}": line[what] for what in ("to the boundary", "to the barycentre")}
            rows.append(row)
    title = "The score along rays, and how far the rank image is from the boundary of the hull and from the barycentre"
    return Sheet("limits_rays", title, tuple(rows), decimals=4)


def _digits(score: float) -> str:
    return f"{score:.4f}" if score < 100 else f"{score:,.0f}"


def _order_sheet(order: dict[str, dict[str, float]], ties: dict[str, dict[str, float]]) -> Sheet:
    rows: list[dict[str, Any]] = [
        {"Mahalanobis, times its maximum": band}
        | {f"ROC-AUC, {name}": value for name, value in order[band].items()}
        | {f"ties (%), {name}": f"{100.0 * value:.1f}" for name, value in ties[band].items()}
        for band in order
    ]
    title = (
        'Far order: ROC-AUC of "is Mahalanobis above its median" among far rows, and how often a row twice as far out '
        "gets the same score to 1e-9"
    )
    return Sheet("limits_order", title, tuple(rows), across=tuple(f"ROC-AUC, {name}" for name in (*_SETTINGS, SUM)))


def _collapse_claim(along: dict[str, list[dict[str, float]]]) -> str:
    last = [found[-1] for found in along.values()]
    return (
        "Far images collapse to a barycentre, the paper says. They do not: at a million times the maximum, without "
        f"anchors, images are at most {max(line['to the boundary'] for line in last):.1e} from the boundary of the "
        f"targets' hull, and at least {min(line['to the barycentre'] for line in last):.3f} from the barycentre. Where "
        "both scores are far out the image is the outermost target, a vertex."
    )


def _order_claim(order: dict[str, dict[str, float]]) -> str:
    def listed(name: str) -> str:
        return " / ".join(f"{found[name]:.3f}" for found in order.values())

    bands = ", ".join(order)
    return (
        f"No extrapolation, the paper says: right, and anchors hardly help. Order among rows {bands} times the maximum "
        f"(ROC-AUC): {listed(NO_ANCHORS)} without anchors, {listed(ANCHORS)} with, {listed(OVERSHOOT)} with overshoot; "
        f"a plain min-max sum has {listed(SUM)} as well."
    )


def _pair_claim(calibration: Array, fitted: dict[str, Ranker]) -> str:
    """Return which of two rows is more uncertain: a little far in both scores, or very far in one."""
    both = _points(calibration, (True, True), np.array([1.5]))
    one = _points(calibration, (False, True), np.array([1e6]))
    found = {
        name: (float(fitted[name].uncertainty(both)[0]), float(fitted[name].uncertainty(one)[0])) for name in fitted
    }
    return (
        "A row 1.5 times the maximum in both scores, and one a million times the maximum in Mahalanobis alone: "
        f"{found[ANCHORS][0]:.3f} and {found[ANCHORS][1]:.3f} with anchors, {found[OVERSHOOT][0]:.3f} and "
        f"{found[OVERSHOOT][1]:,.0f} with overshoot."
    )


def _draw(calibration: Array, fitted: dict[str, Ranker]) -> Figure:
    multiples = np.geomspace(0.05, 1e3, 200)
    panels = {
        ray: {name: ranker.uncertainty(_points(calibration, grows, multiples)) for name, ranker in fitted.items()}
        for ray, grows in RAYS.items()
    }
    bare = fitted[NO_ANCHORS]
    levels = {
        "barycentre": float(np.linalg.norm(barycentre(bare))),
        "farthest target": float(np.linalg.norm(_targets(bare).max(axis=0))),
    }
    return rays(multiples, panels, levels)
