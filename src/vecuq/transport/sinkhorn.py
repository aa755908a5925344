r"""Sinkhorn's fixed point for the target potentials, accelerated and guarded.

One sweep maps log v to ``log b - log K'u`` with ``u = a / (K v)``. After it the row marginals are exact, and
column j of the plan weighs ``v_j (K'u)_j = b_j exp(log v_j - log v'_j)``, so the marginal error costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vecuq._check import Array
from vecuq.transport.contraction import safe_log

# So many accelerated steps given up are a stall: where epsilon is small, plain ones alone take 100,000 and more.
_STALL = 250
_RISE = 2.0


class Potentials(NamedTuple):
    """The solution ``log_v`` on the targets, largest value 0, and how good it is."""

    log_v: Array
    marginal_error: float
    sweeps: int
    converged: bool


class Anderson:
    """Anderson mixing: the combination of past steps whose combined residual is smallest (Anderson 1965)."""

    def __init__(self, weights: Array, depth: int = 10) -> None:
        self.root = np.sqrt(weights)
        # Differences of successive residuals and of successive images; the oldest gives way to the newest.
        self.steps, self.moves = np.empty((2, depth, weights.size))
        self.last: tuple[Array, Array] | None = None
        self.seen = 0

    def forget(self) -> None:
        """Start afresh after a step that failed."""
        self.last, self.seen = None, 0

    def propose(self, point: Array, image: Array) -> Array:
        """Take in one evaluated point and its image; return the next point to try."""
        residual = self.root * (image - point)
        before, self.last = self.last, (residual, image)
        if before is None:
            return image
        place = self.seen % len(self.steps)
        np.subtract(residual, before[0], out=self.steps[place])
        np.subtract(image, before[1], out=self.moves[place])
        self.seen += 1
        steps, moves = self.steps[: self.seen], self.moves[: self.seen]
        gram = steps @ steps.T
        gram[np.diag_indices_from(gram)] *= 1.0 + 1e-12
        try:
            mix = np.linalg.solve(gram, steps @ residual)
        except np.linalg.LinAlgError:
            return image
        return np.asarray(image - mix @ moves)


def solve(
    push: Callable[[Array], Array],
    weights: Array,
    *,
    tol: float = 1e-9,
    max_sweeps: int = 1000,
    progress: Callable[[int, float], None] | None = None,
) -> Potentials:
    """Find ``v`` with ``v * K'(a / K v) = b``, for the target weights ``b`` (zero: not a target).

    Accelerated steps are kept only while the marginal error does not rise; otherwise the iteration goes back to
    the last plain step, from which the error cannot rise. Where that gives up step after step, the error may rise to
    twice the least so far: the way out of a stall is seldom straight down.
    """
    live = weights > 0
    b = weights[live]
    log_b = safe_log(b)
    full = np.full(weights.shape, -np.inf)
    mixing = Anderson(b)
    point = plain = best = log_b
    accepted = best_error = np.inf
    sweep = given_up = 0
    for sweep in range(1, max_sweeps + 1):
        full[live] = point
        image = log_b - push(full)[live]
        error = _marginal_error(b, point, image)
        if progress is not None:
            progress(sweep, error)
        if error < best_error:
            best, best_error = point, error
        if error <= tol:
            break
        ceiling = accepted if given_up < _STALL else _RISE * best_error
        if mixing.last is not None and not error <= ceiling:
            point, given_up = plain, given_up + 1
            mixing.forget()
        elif np.isfinite(error):
            accepted, plain = error, image
            point = mixing.propose(point, image)
        else:
            break
    full[live] = best - best.max()
    return Potentials(full, best_error, sweep, best_error <= tol)


def _marginal_error(b: Array, point: Array, image: Array) -> float:
    """Sum over targets of the distance between the mass received and the mass wanted."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(b @ np.abs(np.expm1(point - image)))
