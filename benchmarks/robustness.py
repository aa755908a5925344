"""Claim: from epsilon 2 to 0.01 and one to eight columns, a converged plan or a clear error, never a wrong plan.

The marginals are computed anew, entry by entry in the log domain, from what the ranker keeps.
"""

from __future__ import annotations

import warnings

import numpy as np
import ot

from benchmarks.measure import Claim
from vecuq import Ranker, Settings, VecuqError, fit_ranker
from vecuq.transport import Cloud, DenseKernel, Grid, Sources
from vecuq.transport.reference import outer_anchors

EPSILONS = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
COLUMNS = range(1, 9)
N_ROWS, N_TARGETS = 500, 256
RIGHT, WRONG_BY = 1e-6, 1e-3
PEER_COLUMNS = 4


def make_rows(m: int) -> np.ndarray:
    """Correlated scores."""
    rng = np.random.default_rng(m)
    return rng.gamma(1.0, size=(N_ROWS, 1)) + 0.5 * rng.gamma(1.0, size=(N_ROWS, m))


def problem_of(ranker: Ranker, rows: np.ndarray) -> tuple[Sources, Cloud]:
    """Return the transport problem that a ranker solved."""
    scaled = ranker.scaler.transform(rows)
    shape = ranker.rank_map.log_v.shape
    grid = Grid(ranker.rank_map.axes, np.full(shape, 1.0 / np.prod(shape)))
    corners = outer_anchors(scaled.min(axis=0), scaled.max(axis=0), ranker.settings.anchors)
    return Sources.of(scaled, corners), Cloud(grid.points, grid.weights.ravel())


def marginal_error(ranker: Ranker, rows: np.ndarray) -> float:
    """Return the mass that sits on the wrong targets; the row marginals are exact by construction."""
    sources, cloud = problem_of(ranker, rows)
    log_v = ranker.rank_map.log_v.ravel()
    received = np.exp(log_v + DenseKernel(sources, cloud, ranker.settings.epsilon).push(log_v))
    return float(np.abs(received - cloud.weights).sum())


def pot_is_wrong(sources: Sources, cloud: Cloud, epsilon: float) -> bool:
    """Whether POT returns a plan that is not one."""
    points = np.concatenate([sources.rows, sources.corners.points])
    a = np.full(len(points), 1.0 / len(points))
    plan = ot.sinkhorn(a, cloud.weights, ot.dist(points, cloud.points), epsilon)
    error = max(np.abs(plan.sum(axis=1) - a).sum(), np.abs(plan.sum(axis=0) - cloud.weights).sum())
    return not error <= WRONG_BY


def run(quick: bool = False) -> list[Claim]:
    """Fit every case, and count plans, errors and wrong plans."""
    errors, refused, pot_wrong, pot_cases = [], [], 0, 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for m in COLUMNS:
            rows = make_rows(m)
            for epsilon in EPSILONS:
                try:
                    ranker = fit_ranker(rows, Settings.paper(epsilon=epsilon, n_targets=N_TARGETS))
                except VecuqError as error:
                    refused.append(f"m={m}, epsilon={epsilon:g}: {error}")
                    continue
                errors.append(marginal_error(ranker, rows))
                if m <= PEER_COLUMNS:
                    pot_cases += 1
                    pot_wrong += pot_is_wrong(*problem_of(ranker, rows), epsilon)
    for line in refused:
        print(f"refused: {line}")
    wrong = sum(not error <= RIGHT for error in errors)
    return [
        Claim(
            f"wrong plans, epsilon {EPSILONS[0]:g} to {EPSILONS[-1]:g} and {COLUMNS[0]} to {COLUMNS[-1]} columns",
            f"{wrong} of {len(errors) + len(refused)}; {len(refused)} refused, marginal errors up to {max(errors):.0e}",
            f"POT sinkhorn, up to {PEER_COLUMNS} columns: {pot_wrong} of {pot_cases} without an exception",
            wrong,
            "",
            goal=0,
            at_least=False,
        )
    ]
