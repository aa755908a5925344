"""How good a fit is: whether the plan converged, what the anchors weigh, whether the order is monotone."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array, warn_user
from vecuq._run import BLOCK
from vecuq.errors import CalibrationWarning, ConvergenceError, ConvergenceWarning
from vecuq.ranker.ranker import Ranker
from vecuq.ranker.settings import Settings
from vecuq.transport import Corners, Potentials


def judge_plan(solved: Potentials, settings: Settings, n_rows: int, corners: Corners | None) -> None:
    """Refuse or doubt a plan that missed its tolerance; warn when the anchors outweigh the rows."""
    if not solved.converged:
        scaling = "" if settings.scaling == "featurewise" else "use scaling='featurewise', "
        anchors = "" if settings.anchors <= 10 else f"bring `anchors` nearer (now {settings.anchors:g}), "
        message = (
            f"The transport plan did not converge: marginal error {solved.marginal_error:.1e} after {solved.sweeps:,} "
            f"sweeps, wanted {settings.tol:.0e}. Raise `epsilon` (now {settings.epsilon:g}), {scaling}{anchors}"
            f"raise `max_iter`, or raise `tol`."
        )
        if settings.on_failure == "error" or not np.isfinite(solved.marginal_error):
            raise ConvergenceError(message)
        warn_user(message, ConvergenceWarning)
    if corners is not None and corners.mass > 0.2:
        warn_user(
            f"The outer anchors carry {corners.mass:.0%} of the mass, because only {n_rows:,} rows share it with them. "
            f"Give more rows, or set anchor_mass=0.2 or anchors=0.",
            CalibrationWarning,
        )


def monotone_violations(ranker: Ranker, scaled: Array | None, n_rows: int = BLOCK) -> float | None:
    """Return the share of trial steps that lower the score by raising one column.

    Each way up takes one column from far below the calibration box through it to far beyond, by steps of several sizes;
    the other columns stay where they are, at a row of the map, at random around the box, or some of them far out
    themselves. A share of 0 is evidence, no proof: see docs/adr/0031.
    """
    if ranker.scaler.signed:
        return None
    ways = _ways_up(ranker, scaled, n_rows // _N_STEPS)
    rows = ways.reshape(-1, ways.shape[2])
    scores = ranker.score_scaled(rows, ranker.rank_map(rows)).reshape(ways.shape[:2])
    return float(np.mean(falls(scores) > _ROUNDING))


def falls(scores: Array) -> Array:
    """Return by how much each score, (ways, steps), falls short of the one before it, relative to its size.

    Examples
    --------
    >>> falls(np.array([[1.0, 3.0, 1.0]]))
    array([[-1. ,  0.5]])
    """
    before, after = scores[:, :-1], scores[:, 1:]
    return np.asarray((before - after) / (1.0 + np.abs(before)))


# Scores are lengths near 1; a step that lowers one by less is rounding.
_ROUNDING = 1e-9
# Where a way begins below the box and ends above it, in widths of the box. The map bends between 1 and 100.
_FAR = 1e300
_BELOW, _ABOVE = np.array([-_FAR, -100.0, -10.0, -3.0, -1.0]), np.array([1.0, 10.0, _FAR])
_N_STEPS = len(_BELOW) + 2 + len(_ABOVE)


def _ways_up(ranker: Ranker, scaled: Array | None, n_ways: int) -> Array:
    """Return rows that rise in one column each way, (ways, steps, columns), in scaled scores."""
    rng = np.random.default_rng(0)
    width = ranker.high - ranker.low
    start = ranker.low + rng.uniform(-0.25, 1.25, size=(n_ways, len(width))) * width
    if scaled is not None:
        start[::2] = scaled[rng.integers(len(scaled), size=len(start[::2]))]
    thrown = (rng.random(start.shape) < 0.5) & (np.arange(n_ways) % 4 == 3)[:, None]
    start = np.where(thrown, rng.choice(np.append(_BELOW, _ABOVE), size=start.shape) * width, start)
    column = rng.integers(len(width), size=n_ways)
    first, bump = start[np.arange(n_ways), column], rng.exponential(0.2, size=n_ways) * width[column]
    stretch = (2.0 ** rng.uniform(-1.0, 1.0, size=n_ways) * width[column])[:, None]
    below, above = ranker.low[column, None] + stretch * _BELOW, ranker.high[column, None] + stretch * _ABOVE
    ways = np.repeat(start[:, None], _N_STEPS, axis=1)
    ways[np.arange(n_ways), :, column] = np.sort(np.column_stack([below, first, first + bump, above]), axis=1)
    return np.clip(ways, -_FAR, _FAR)
