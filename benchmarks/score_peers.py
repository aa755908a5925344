"""Claim: a fitted ranker scores rows faster than a dense sum over targets, and as exactly; the goal is 150 times.

Ten thousand calibration rows, ten thousand targets, four columns, one thread. Ours is the whole call, scaling and
checks included; the peers get scaled rows.
"""

from __future__ import annotations

import numpy as np
import ot
from threadpoolctl import threadpool_limits

from benchmarks.measure import Claim, best_of
from vecuq import Ranker, Settings, fit_ranker
from vecuq.transport import GridMap

N_CALIBRATION, N_TARGETS, M = 10_000, 10_000, 4
N_OURS, N_DENSE = 400_000, 4_096
BLOCKS = (16, 32, 64, 128, 256, 512)


class DenseMap:
    """The same map as a dense sum: one matrix product, exponentials in place, one more product, in blocks of rows."""

    def __init__(self, rank_map: GridMap) -> None:
        points = np.stack(np.meshgrid(*rank_map.axes, indexing="ij"), axis=-1).reshape(-1, M)
        level = rank_map.log_v.ravel() - (points**2).sum(axis=1) / rank_map.epsilon
        self.slopes = np.vstack([(2.0 / rank_map.epsilon) * points.T, level])
        self.moments = np.hstack([points, np.ones((len(points), 1))])

    def __call__(self, rows: np.ndarray, *, block: int, shifted: bool) -> np.ndarray:
        """Return the scores; in the box no exponent is large, and the shift to a largest value of 0 can be saved."""
        extended = np.hstack([rows, np.ones((len(rows), 1))])
        weights, out = np.empty((block, self.slopes.shape[1])), np.empty(len(rows))
        for start in range(0, len(rows), block):
            part = extended[start : start + block]
            work = weights[: len(part)]
            np.matmul(part, self.slopes, out=work)
            if shifted:
                work -= work.max(axis=1, keepdims=True)
            np.exp(work, out=work)
            sums = work @ self.moments
            out[start : start + block] = np.linalg.norm(sums[:, :M] / sums[:, M:], axis=1)
        return out


def pot_map(rank_map: GridMap) -> ot.da.SinkhornTransport:
    """POT's transport with our potentials: its own fit would take minutes, and its transform reads only these."""
    points = np.stack(np.meshgrid(*rank_map.axes, indexing="ij"), axis=-1).reshape(-1, M)
    transport = ot.da.SinkhornTransport(reg_e=rank_map.epsilon, max_iter=10)
    few = np.random.default_rng(2).random((20, M))
    with np.errstate(all="ignore"):
        transport.fit(Xs=few, Xt=points)
    transport.log_["log_v"] = rank_map.log_v.ravel()
    return transport


def compare(ranker: Ranker, rows: np.ndarray, *, where: str, goal: float, shifted: bool) -> list[Claim]:
    """Score rows with everybody in turn; rates are rows per second of CPU."""
    dense, pot = DenseMap(ranker.rank_map), pot_map(ranker.rank_map)
    scaled = ranker.scaler.transform(rows[:N_DENSE])
    calls = {"ours": lambda: ranker.rank(rows, n_jobs=1).uncertainty}
    calls |= {f"dense {b}": lambda b=b: dense(scaled, block=b, shifted=shifted) for b in BLOCKS}
    with np.errstate(all="ignore"):
        calls["POT"] = lambda: np.linalg.norm(pot.transform(scaled), axis=1)
        best = best_of(calls, {name: 5 if name == "ours" else 3 for name in calls})
    rate = len(rows) / best["ours"].cpu
    numpy_best = min((best[f"dense {b}"] for b in BLOCKS), key=lambda run: run.cpu)
    error = float(np.abs(best["ours"].result[:N_DENSE] - numpy_best.result).max())
    lost = float(np.mean(~np.isfinite(best["POT"].result)))
    pot_rate, dense_rate = N_DENSE / best["POT"].cpu, N_DENSE / numpy_best.cpu
    ours = f"{rate:,.0f} rows/s"
    return [
        Claim(
            f"score, rows {where}, against dense NumPy", ours, f"{dense_rate:,.0f} rows/s", rate / dense_rate, goal=goal
        ),
        Claim(
            f"score, rows {where}, against POT transform",
            ours,
            f"{pot_rate:,.0f} rows/s, {lost:.0%} of them NaN",
            rate / pot_rate,
            goal=goal,
        ),
        Claim(f"score, rows {where}, error against dense", f"{error:.0e}", "-", error, "", goal=1e-9, at_least=False),
    ]


def run(quick: bool = False) -> list[Claim]:
    """Score in the box and far outside it, and in the box with the default number of targets."""
    calibration = np.random.default_rng(0).gamma(1.0, size=(N_CALIBRATION, M))
    low, high = calibration.min(axis=0), calibration.max(axis=0)
    units = np.random.default_rng(1).random((N_OURS, M))
    inside, far = low + units * (high - low), low + (2.0 + 18.0 * units) * (high - low)
    with threadpool_limits(1):
        ranker = fit_ranker(calibration, Settings.paper(n_targets=N_TARGETS))
        claims = compare(ranker, inside, where="in the box", goal=150, shifted=False)
        claims += compare(ranker, far, where="far outside the box", goal=30, shifted=True)
        default = fit_ranker(calibration)
        best = best_of({"ours": lambda: default.rank(inside, n_jobs=1)}, {"ours": 5})["ours"]
    rate = N_OURS / best.cpu
    told = f"{rate:,.0f} rows/s with {default.diagnostics.n_targets:,} targets, p-values included"
    return [*claims, Claim("score, rows in the box, default settings", told, "-", rate / 1e6, "M rows/s")]
