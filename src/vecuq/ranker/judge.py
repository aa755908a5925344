"""How good a fit is: whether the plan converged, what the anchors weigh, whether the order is monotone."""

from __future__ import annotations

import warnings

import numpy as np

from vecuq._check import Array
from vecuq.errors import CalibrationWarning, ConvergenceError, ConvergenceWarning
from vecuq.ranker.ranker import Ranker
from vecuq.ranker.settings import Settings
from vecuq.transport import Corners, Potentials
from vecuq.transport.blocks import BLOCK

__all__ = ["judge_plan", "monotone_violations"]


def judge_plan(solved: Potentials, settings: Settings, n_rows: int, corners: Corners | None) -> None:
    """Refuse or doubt a plan that missed its tolerance; warn when the anchors outweigh the rows."""
    if not solved.converged:
        scaling = "" if settings.scaling == "featurewise" else "use scaling='featurewise', "
        anchors = "" if settings.anchors <= 10 else f"bring the anchors nearer (now {settings.anchors:g}), "
        message = (
            f"The transport plan did not converge: marginal error {solved.marginal_error:.1e} after {solved.sweeps:,} "
            f"sweeps, wanted {settings.tol:.0e}. Raise epsilon (now {settings.epsilon:g}), {scaling}{anchors}"
            f"raise max_iter, or loosen tol."
        )
        if settings.on_failure == "raise" or not np.isfinite(solved.marginal_error):
            raise ConvergenceError(message)
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
    if corners is not None and corners.mass > 0.2:
        warnings.warn(
            f"The outer anchors carry {corners.mass:.0%} of the mass, because only {n_rows:,} rows share it with them. "
            f"Give more rows, or set anchor_mass=0.2 or anchors=0.",
            CalibrationWarning,
            stacklevel=4,
        )


def monotone_violations(ranker: Ranker, scaled: Array | None, n_bumps: int = BLOCK // 2) -> float | None:
    """Return the share of random bumps of one column that lower the score, from rows and from anywhere around."""
    if ranker.scaler.signed:
        return None
    rng = np.random.default_rng(0)
    width = ranker.high - ranker.low
    start = ranker.low + rng.uniform(-0.25, 1.25, size=(n_bumps, len(width))) * width
    if scaled is not None:
        start[::2] = scaled[rng.integers(len(scaled), size=len(start[::2]))]
    column = rng.integers(start.shape[1], size=len(start))
    bumped = start.copy()
    bumped[np.arange(len(start)), column] += rng.exponential(0.2, size=len(start)) * width[column]
    both = np.concatenate([start, bumped])  # one block
    before, after = np.split(ranker.score_scaled(both, ranker.rank_map(both)), 2)
    return float(np.mean(after < before - 1e-9))
