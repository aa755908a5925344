"""Claim: the same transport problem, at the same accuracy, sooner than dense matrices: 100 times at 10,000 rows.

Four columns, epsilon 0.5, 15 anchors, a full midpoint grid of at least as many targets as rows and anchors. A fit is
the whole call that a user makes, from raw rows to a ranker with its checks and the scores of its rows; the peers get
scaled sources and the targets for nothing, and only build the cost matrix and solve. Our own transport alone, from the
same sources and targets to potentials, stands beside it. Everybody has one thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import ot
from threadpoolctl import threadpool_limits

from benchmarks.measure import Claim, Spent, best_of, free_gib, in_child
from vecuq import Beta, Ranker, Settings, fit_ranker
from vecuq.ranker.solve import Problem as Transport
from vecuq.ranker.solve import solve_transport
from vecuq.transport import Cloud, CloudMap, DenseKernel, SeparableKernel, Sources, solve
from vecuq.transport.reference import outer_anchors

M, EPSILON, STOP = 4, 0.5, 1e-9
OURS, ALONE = "vecuq", "vecuq, transport alone"
SINKHORN, LOG, OTT = "POT sinkhorn", "POT sinkhorn_log", "OTT-JAX dense"
GOALS = {(1_000, SINKHORN): 5, (10_000, SINKHORN): 100, (10_000, OTT): 150, (10_000, LOG): 300}
ROUNDS = {
    1_000: {OURS: 30, ALONE: 30, SINKHORN: 30, LOG: 3, OTT: 5},
    5_000: {OURS: 15, ALONE: 15, SINKHORN: 6, LOG: 1, OTT: 3},
    10_000: {OURS: 15, ALONE: 15, SINKHORN: 5, LOG: 1, OTT: 2},
}
POT_GIB = 17.0


@dataclass(frozen=True)
class Problem:
    """Raw rows, and the transport problem that the paper makes of them."""

    rows: np.ndarray

    @cached_property
    def sources(self) -> Sources:
        """The scaled rows and the anchors."""
        low, high = self.rows.min(axis=0), self.rows.max(axis=0)
        scaled = (self.rows - low) / (high - low)
        return Sources.of(scaled, outer_anchors(scaled.min(axis=0), scaled.max(axis=0), 5.0))

    @cached_property
    def grid(self):
        """The midpoint grid."""
        return Beta().targets(M, len(self.rows) + 2**M - 1)

    @cached_property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Sources, targets and their weights, as the peers take them."""
        points = np.concatenate([self.sources.rows, self.sources.corners.points])
        return points, self.grid.points, np.full(len(points), 1 / len(points)), self.grid.weights.ravel()

    @cached_property
    def probes(self) -> np.ndarray:
        """Five hundred scaled rows anywhere in the box."""
        return np.random.default_rng(1).random((500, M))

    def scores(self, log_v: np.ndarray) -> np.ndarray:
        """Scores of the probes, in the log domain, from potentials on the targets."""
        return np.linalg.norm(CloudMap(self.grid.points, np.ravel(log_v), EPSILON)(self.probes), axis=1)

    def reference(self) -> np.ndarray:
        """Scores of the probes to 1e-13: entry by entry in the log domain, or, for many rows, its separable equal."""
        if len(self.rows) <= 5_000:
            kernel = DenseKernel(self.sources, Cloud(self.grid.points, self.grid.weights.ravel()), EPSILON)
            weights = self.grid.weights.ravel()
        else:
            kernel, weights = SeparableKernel(self.sources, self.grid, EPSILON), self.grid.weights
        return self.scores(solve(kernel.push, weights, tol=1e-13, max_sweeps=20).log_v)


def make_problem(n: int) -> Problem:
    """Rows of independent gamma-distributed scores."""
    return Problem(np.random.default_rng(0).gamma(1.0, size=(n, M)))


def our_fit(problem: Problem) -> Ranker:
    """Fit as a user does."""
    return fit_ranker(problem.rows, Settings.paper(epsilon=EPSILON))


def our_transport(problem: Problem) -> np.ndarray:
    """Return our logarithms of v: what the peers do, from what they are given."""
    sources, rows = problem.sources, problem.sources.rows
    given = Transport(
        rows, None, len(rows), rows.min(axis=0), rows.max(axis=0), sources.row_weight, sources.corners, problem.grid
    )
    return solve_transport(given, Settings.paper(epsilon=EPSILON))[1].log_v


def our_scores(problem: Problem, ranker: Ranker) -> np.ndarray:
    """Scores of the probes, as a user gets them."""
    low, high = problem.rows.min(axis=0), problem.rows.max(axis=0)
    return ranker.uncertainty(low + problem.probes * (high - low))


def pot_fit(problem: Problem, method: str) -> np.ndarray:
    """Return POT's logarithms of v."""
    x, y, a, b = problem.arrays
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log = ot.sinkhorn(a, b, ot.dist(x, y), EPSILON, method=method, stopThr=STOP, log=True)[1]
    return np.asarray(log["log_v"]) if "log_v" in log else np.log(log["v"])


def ott_fit(problem: Problem) -> Callable[[], np.ndarray]:
    """Return OTT's solver for this problem, compiled beforehand: compilation is not counted."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from ott.geometry import pointcloud
    from ott.geometry.geometry import Geometry
    from ott.solvers import linear

    def solved(x, y, a, b):
        cost = pointcloud.PointCloud(x, y).cost_matrix
        return linear.solve(Geometry(cost, epsilon=EPSILON), a, b, threshold=STOP, max_iterations=2_000).g

    compiled = jax.jit(solved).lower(*problem.arrays).compile()
    return lambda: np.asarray(compiled(*problem.arrays)) / EPSILON


def peers_of(problem: Problem, quick: bool) -> dict[str, Callable[[], np.ndarray]]:
    """Return the peers that can run here, by name."""
    peers = {SINKHORN: lambda: pot_fit(problem, "sinkhorn")}
    if quick:
        return peers
    try:
        peers[OTT] = ott_fit(problem)
    except ImportError as error:
        print(f"{OTT} left out: {error}")
    return {**peers, LOG: lambda: pot_fit(problem, "sinkhorn_log")}


def compare(n: int, quick: bool) -> list[Claim]:
    """Fit with everybody in turn, and say how far each one's scores are from the reference."""
    problem = make_problem(n)
    calls = {OURS: lambda: our_fit(problem), ALONE: lambda: our_transport(problem), **peers_of(problem, quick)}
    best = best_of(calls, ROUNDS[n])
    exact = problem.reference()
    ours, alone = best.pop(OURS), best.pop(ALONE)
    told = {
        "fit": (ours.cpu, told_of(ours, our_scores(problem, ours.result) - exact)),
        "transport alone": (alone.cpu, told_of(alone, problem.scores(alone.result) - exact)),
    }
    return [
        Claim(
            f"{what}, {n:,} rows, against {name}",
            words,
            told_of(theirs, problem.scores(theirs.result) - exact),
            theirs.cpu / seconds,
            goal=GOALS.get((n, name)),
        )
        for name, theirs in best.items()
        for what, (seconds, words) in told.items()
        if what == "fit" or name == SINKHORN
    ]


def told_of(run: Spent, error: np.ndarray) -> str:
    """Say the seconds and the largest error of a score."""
    return f"{run.cpu:.3g} s, error {np.abs(error).max():.0e}"


def our_job(n: int) -> Callable[[], float]:
    """Prepare our fit for a process of its own; its result is the error."""
    problem = make_problem(n)
    return lambda: our_fit(problem).diagnostics.marginal_error


def pot_job(n: int) -> Callable[[], float]:
    """Prepare POT's fit for a process of its own; its result is the error of the scores."""
    problem = make_problem(n)

    def call() -> list[float]:
        return problem.scores(pot_fit(problem, "sinkhorn")).tolist()

    return call


def compare_large(n: int = 20_000) -> list[Claim]:
    """At 20,000 rows a dense solver fills the memory, so each side has a process of its own."""
    problem = make_problem(n)
    exact = problem.reference()
    ours = in_child("benchmarks.fit_peers:our_job", n)
    timed = best_of({OURS: lambda: our_fit(problem)}, {OURS: 10})[OURS]
    told = told_of(timed, our_scores(problem, timed.result) - exact)
    if free_gib() < POT_GIB:
        print(f"{SINKHORN} at {n:,} rows left out: it needs {POT_GIB:g} GiB, {free_gib():.1f} are free.")
        return [Claim(f"fit, {n:,} rows, memory", told, "not run: too little memory", ours["grown"], " GiB")]
    theirs = in_child("benchmarks.fit_peers:pot_job", n, repeats=2)
    error = np.abs(np.array(theirs["result"]) - exact).max()
    return [
        Claim(
            f"fit, {n:,} rows, against {SINKHORN}",
            told,
            f"{theirs['cpu']:.3g} s, error {error:.0e}",
            theirs["cpu"] / timed.cpu,
            goal=200,
        ),
        Claim(
            f"fit, {n:,} rows, memory against {SINKHORN}",
            f"{ours['grown']:.3f} GiB",
            f"{theirs['grown']:.3g} GiB",
            theirs["grown"] / ours["grown"],
            goal=100,
        ),
    ]


def run(quick: bool) -> list[Claim]:
    """Compare at every size."""
    with threadpool_limits(1):
        claims = [claim for n in ROUNDS for claim in compare(n, quick)]
        return claims if quick else claims + compare_large()
