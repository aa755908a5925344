"""The second limitation: other costs than squared distance, |z|^p summed over columns.

The kernel of any such cost factorises over columns. Here it is solved densely, in the log domain, on a few hundred
rows: enough to see whether another cost is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq._draw import Sheet, Spread
from vecuq.evaluation import roc_auc
from vecuq.paper.ensembles import DATASETS, GroupScores, group_scores, n_groups
from vecuq.paper.images import COMPONENTS
from vecuq.transport import Beta, Scaler, fit_scaler, outer_anchors, solve

POWERS = (1.0, 1.5, 2.0, 4.0)
EPSILON = 0.5
_ROWS, _TEST, _OOD, _TARGETS = 400, 1_500, 500, 256
ABSOLUTE, MATCHED = "0.5", "matched"


@dataclass(frozen=True, eq=False)
class CostMap:
    """The rank map of one cost: scaled rows to weighted means of the targets."""

    scaler: Scaler
    targets: Array
    log_v: Array
    power: float
    epsilon: float
    sweeps: int

    def images(self, values: Array) -> Array:
        """Return the rank images, shape (rows, columns)."""
        level = self.log_v - cost(self.scaler.transform(values), self.targets, self.power) / self.epsilon
        weights = np.exp(level - level.max(axis=1, keepdims=True))
        return np.asarray(weights @ self.targets / weights.sum(axis=1, keepdims=True))

    def uncertainty(self, values: Array) -> Array:
        """Return the length of the rank images."""
        return np.asarray(np.linalg.norm(self.images(values), axis=1))


def cost(rows: Array, targets: Array, power: float) -> Array:
    """Return the cost of every pair: the sum over columns of |difference|^power."""
    total = np.zeros((len(rows), len(targets)))
    for mine, theirs in zip(rows.T, targets.T, strict=True):
        total += _raised(np.abs(mine[:, None] - theirs), power)
    return total


def _raised(away: Array, power: float) -> Array:
    """Return a power by products and roots, which are much faster than ``**``."""
    if power == 1.5:
        return np.asarray(away * np.sqrt(away))
    return away if power == 1.0 else np.asarray(away**2 if power == 2.0 else (away**2) ** (power / 2.0))


def typical_epsilon(power: float) -> float:
    """Return epsilon in proportion to the mean cost of two uniform draws, 2 / ((p + 1) (p + 2)); 0.5 for squares."""
    return EPSILON * 12.0 / ((power + 1.0) * (power + 2.0))


def fit_cost_map(calibration: Array, power: float, epsilon: float, n_targets: int = _TARGETS) -> CostMap:
    """Fit the paper's method with another cost: scaling, anchors, uniform reference on the grid, transport."""
    scaler = fit_scaler(calibration.min(axis=0), calibration.max(axis=0), "featurewise")
    rows = scaler.transform(calibration)
    corners = outer_anchors(rows.min(axis=0), rows.max(axis=0), 5.0)
    rows = rows if corners is None else np.concatenate([rows, corners.points])
    grid = Beta().targets(rows.shape[1], n_targets)
    targets = grid.points
    log_kernel = -cost(rows, targets, power) / epsilon
    solved = solve(lambda log_v: _push(log_kernel, log_v), np.full(len(targets), 1.0 / len(targets)), tol=1e-8)
    return CostMap(scaler, targets, solved.log_v, power, epsilon, solved.sweeps)


def _push(log_kernel: Array, log_v: Array) -> Array:
    """Return log K'u with u = a / (K v) for equal weights a."""
    log_u = -np.log(len(log_kernel)) - _log_sum_exp(log_kernel + log_v, 1)
    return _log_sum_exp(log_kernel + log_u[:, None], 0)


def _log_sum_exp(values: Array, axis: int) -> Array:
    top = values.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(values - top).sum(axis=axis)) + top.squeeze(axis))


Found = dict[tuple[float, str], dict[str, list[float]]]


def other_costs() -> Found:
    """Return, by power and epsilon, what each group of each data set gives."""
    found: Found = {}
    for dataset in DATASETS:
        for group in range(n_groups(dataset)):
            scores = _fewer(group_scores(dataset, group).select(COMPONENTS))
            for power, kind in product(POWERS, (ABSOLUTE, MATCHED)):
                if power == 2.0 and kind == MATCHED:
                    continue
                epsilon = EPSILON if kind == ABSOLUTE else typical_epsilon(power)
                fitted = fit_cost_map(scores.calibration, power, epsilon)
                for name, figure in _figures(scores, fitted).items():
                    found.setdefault((power, kind), {}).setdefault(f"{dataset} {name}", []).append(figure)
    return found


def _fewer(scores: GroupScores) -> GroupScores:
    """Return the first rows of each kind; calibration and test rows are shuffled, OOD rows in their files' order."""
    ood = {name: rows[:_OOD] for name, rows in scores.ood.items()}
    return GroupScores(scores.columns, scores.calibration[:_ROWS], scores.test[:_TEST], scores.is_error[:_TEST], ood)


def _figures(scores: GroupScores, fitted: CostMap) -> dict[str, float]:
    own = fitted.uncertainty(scores.test)
    other = [fitted.uncertainty(rows) for rows in scores.ood.values()]
    areas = [roc_auc(np.concatenate([own, rows]), np.repeat([0, 1], [len(own), len(rows)])) for rows in other]
    far = fitted.images(1e6 * scores.calibration.max(axis=0)[None])[0]
    return {
        "OOD": float(np.mean(areas)),
        "errors": roc_auc(own, scores.is_error),
        "falling steps": falling_share(fitted, scores.test[:100]),
        "far": float((fitted.targets.max(axis=0) - far).max()),
        "sweeps": float(fitted.sweeps),
    }


def falling_share(fitted: CostMap, rows: Array) -> float:
    """Return how often raising one score by a tenth of its range lowers the uncertainty."""
    before = fitted.uncertainty(rows)
    step = 0.1 * np.diag(fitted.scaler.span)
    return float(np.mean([fitted.uncertainty(rows + one) < before - 1e-12 for one in step]))


def _mean(lines: dict[str, list[float]], name: str) -> Spread:
    return Spread.of([float(one) for one in np.mean([lines[f"{dataset} {name}"] for dataset in DATASETS], axis=0)])


def _gain(found: Found, key: tuple[float, str], name: str) -> Spread:
    """Return the gain over squares: mean over data sets, deviation over groups, each compared with itself."""
    square = found[(2.0, ABSOLUTE)]
    gains = [np.subtract(found[key][f"{dataset} {name}"], square[f"{dataset} {name}"]) for dataset in DATASETS]
    return Spread.of([float(one) for one in np.mean(gains, axis=0)])


def cost_name(power: float) -> str:
    """Return the cost as it is written in tables."""
    return {1.0: "|z|", 2.0: "z^2 (the paper's)"}.get(power, f"|z|^{power:g}")


def _epsilon_name(power: float, kind: str) -> str:
    return kind if kind == ABSOLUTE else f"{typical_epsilon(power):.3g}"


def cost_sheet(found: Found) -> Sheet:
    """Return the table: a line per cost and epsilon."""
    rows: list[dict[str, Any]] = [
        {
            "cost": cost_name(power),
            "epsilon": _epsilon_name(power, kind),
            "OOD": _mean(lines, "OOD"),
            "OOD, gain": None if power == 2.0 else _gain(found, (power, kind), "OOD"),
            "errors": _mean(lines, "errors"),
            "errors, gain": None if power == 2.0 else _gain(found, (power, kind), "errors"),
            "falling steps (%)": f"{100 * _mean(lines, 'falling steps').mean:.2f}",
            "far image to the outermost target": f"{_mean(lines, 'far').mean:.3f}",
            "sweeps": f"{_mean(lines, 'sweeps').mean:.0f}",
        }
        for (power, kind), lines in found.items()
    ]
    title = (
        f"Other costs, {_ROWS} calibration rows: ROC-AUC of OOD and of error detection and its gain over squares, how "
        "often raising a score lowers the rank, where images of far rows end, "
        "sweeps of the solver; epsilon 0.5, or scaled to the mean cost"
    )
    return Sheet("limitations_costs", title, tuple(rows), down={"OOD": True, "errors": True}, decimals=4)


def cost_claim(found: Found) -> str:
    """Return the best other cost beside squares, and its price."""
    others = [key for key in found if key[0] != 2.0]

    def best(task: str, other: str) -> str:
        key = max(others, key=lambda one: _gain(found, one, task).mean)
        gain, price = _gain(found, key, task), _gain(found, key, other)
        return (
            f"the best for {task} is {cost_name(key[0])} with epsilon {_epsilon_name(*key)} "
            f"({gain.mean:+.4f} ± {gain.std:.4f} "
            f"beside squares; for {other} {price.mean:+.4f} ± {price.std:.4f})"
        )

    return f"Limitation 2, other costs: {best('OOD', 'errors')}, {best('errors', 'OOD')}."
