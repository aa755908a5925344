"""Which way the transport problem is solved: on the rows, or on the nodes of a sketch that is accurate enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq.errors import ConvergenceError, SettingError
from vecuq.ranker.forecast import Forecast, Progress
from vecuq.ranker.settings import Settings
from vecuq.transport import (
    Cloud,
    Corners,
    DenseKernel,
    Grid,
    GridMap,
    Nodes,
    Potentials,
    ProjectedKernel,
    SeparableKernel,
    Sources,
    chebyshev_moments,
    nodes_needed,
    solve,
    to_units,
)

# More exponentials per sweep than this would take minutes each.
_MOST_WORK = 20_000_000_000
# Exponents are rounded to 2 ** -52 of their size: beyond this, to more than one.
_STEEPEST = 2.0**52
_FARTHEST = 1e150
# More nodes than this make the sketch dearer than the rows.
MOST_NODES = 250_000
# The error of the interpolated map that a sketch may show; scores then differ by at most about 1e-8 (docs/adr/0010).
_SKETCH_ERROR = 2e-9


@dataclass(frozen=True)
class Problem:
    """One transport problem in scaled scores: rows, or the nodes that stand for them, against targets."""

    rows: Array | None
    nodes: Nodes | None
    n_rows: int
    low: Array
    high: Array
    row_weight: float
    corners: Corners | None
    targets: Grid | Cloud


def solve_transport(problem: Problem, settings: Settings, progress: Progress | None = None) -> tuple[str, Potentials]:
    """Solve by the way that fits the problem; return its name and the potentials."""
    _refuse_too_steep(problem, settings)
    if _sketch_fits(problem, settings):
        solved = _solve_sketch(problem, settings, progress)
        if solved is not None:
            return "sketch", solved
    if problem.rows is None or settings.solver == "sketch":
        raise ConvergenceError(
            f"A sketch of these rows is not accurate enough at epsilon={settings.epsilon:g}. Raise "
            f"epsilon, or fit the rows themselves with solver='separable'."
        )
    return _solve_rows(problem, problem.rows, settings, progress)


def _refuse_too_steep(problem: Problem, settings: Settings) -> None:
    """Raise where the exponents of the kernel, or the squares in them, are more than a float64 can distinguish."""
    far = float(max(np.abs(problem.low).max(), np.abs(problem.high).max())) * max(1.0, settings.anchors)
    if far > _FARTHEST or not _steepness(problem) / settings.epsilon < _STEEPEST:
        scaling = "" if settings.scaling == "featurewise" else ", use scaling='featurewise'"
        anchors = "" if settings.anchors <= 10 else f", bring `anchors` nearer (now {settings.anchors:g})"
        raise ConvergenceError(
            f"The scaled scores, from {problem.low.min():.3g} to {problem.high.max():.3g}, and their anchors reach too "
            f"far to be distinguished at epsilon={settings.epsilon:g}. Raise `epsilon`{scaling}{anchors}."
        )


def _sketch_fits(problem: Problem, settings: Settings) -> bool:
    """Whether a sketch is wanted, is all there is, or is cheaper than sweeping over the rows."""
    full = isinstance(problem.targets, Grid) and problem.targets.is_full
    if not full and (settings.solver == "sketch" or problem.rows is None):
        raise SettingError(
            "A sketch needs a full Cartesian grid, which this reference is not. Fit rows, by solver='auto'."
        )
    if not full or settings.solver not in ("auto", "sketch"):
        return False
    if settings.solver == "sketch" or problem.rows is None:
        return True
    n_nodes = float(_nodes(problem, settings.epsilon)) ** problem.rows.shape[1]
    # A row costs 2 operations per node once, or 4 per target in each of about a dozen sweeps.
    return problem.n_rows >= 5_000 and n_nodes <= min(MOST_NODES, 20 * problem.targets.weights.size)


def _nodes(problem: Problem, epsilon: float) -> int:
    return nodes_needed(_steepness(problem) / epsilon)


def _steepness(problem: Problem) -> float:
    """Return (width of the rows) x (width of the targets), the largest of all columns."""
    grid = problem.targets
    widths = [axis[-1] - axis[0] for axis in grid.axes] if isinstance(grid, Grid) else [1.0]
    return float(np.max((problem.high - problem.low) * widths))


def _solve_sketch(problem: Problem, settings: Settings, progress: Progress | None) -> Potentials | None:
    """Solve on the nodes, with more of them if the user insists; None when they are not accurate enough."""
    if problem.nodes is not None:
        return _solve_on(problem.nodes, problem, settings, progress)
    for extra in (0, 4, 8) if settings.solver == "sketch" else (0,):
        nodes = _project(problem, _nodes(problem, settings.epsilon) + extra)
        solved = None if nodes is None else _solve_on(nodes, problem, settings, progress)
        if solved is not None:
            return solved
    return None


def _solve_on(nodes: Nodes, problem: Problem, settings: Settings, progress: Progress | None) -> Potentials | None:
    grid = problem.targets
    # The box of a sketch may be wider than its rows, beyond what a float64 distinguishes.
    widest = max(float(np.ptp(axis)) for axis in nodes.axes)
    if not isinstance(grid, Grid) or not widest / settings.epsilon < _STEEPEST:
        return None
    kernel = ProjectedKernel(nodes, problem.corners, grid, settings.epsilon)
    solved = solve(kernel.push, grid.weights, tol=settings.tol, max_sweeps=settings.max_iter, progress=progress)
    if not solved.converged:
        return None
    exact = GridMap(grid.axes, solved.log_v, settings.epsilon).exactly
    return solved if kernel.interpolation_error(solved.log_v, exact) <= _SKETCH_ERROR else None


def _project(problem: Problem, q: int) -> Nodes | None:
    rows = problem.rows
    if rows is None or float(q) ** rows.shape[1] > 8 * MOST_NODES:
        return None
    moments = chebyshev_moments(rows, q, box=(problem.low, problem.high))
    return Nodes.of(moments, problem.low, problem.high, problem.row_weight)


def in_units(rows: Array, low: Array, high: Array) -> Array:
    """Return rows with the range of every column brought to [-1, 1]; a constant column lies at -1."""
    columns = np.array(rows.T, dtype=float, order="C")  # every column in one piece: loops over rows are long then
    to_units(columns, low, high)
    return columns.T


def _solve_rows(problem: Problem, rows: Array, settings: Settings, progress: Progress | None) -> tuple[str, Potentials]:
    targets = problem.targets
    sources = Sources(rows, problem.row_weight, problem.corners)
    live = targets.weights > 0
    if isinstance(targets, Grid) and settings.solver != "dense":
        kernel = SeparableKernel(sources, targets, settings.epsilon)
        name = "separable" if len(kernel.groups) == 1 else f"separable, {len(kernel.groups)} cells"
        return name, _swept(kernel, targets.weights, settings, progress)
    if settings.solver == "separable":
        raise SettingError("solver='separable' needs a Cartesian grid; this reference is a cloud. Use solver='auto'.")
    points = targets.points if isinstance(targets, Grid) else targets.points[live]
    dense = DenseKernel(sources, Cloud(points, targets.weights[live]), settings.epsilon)
    solved = _swept(dense, targets.weights[live], settings, progress)
    log_v = np.full(targets.weights.shape, -np.inf)
    log_v[live] = solved.log_v
    return "dense", solved._replace(log_v=log_v)


def _swept(
    kernel: SeparableKernel | DenseKernel, weights: Array, settings: Settings, progress: Progress | None
) -> Potentials:
    if kernel.work > _MOST_WORK:
        raise ConvergenceError(
            f"The scaled scores are spread too widely for epsilon={settings.epsilon:g}: one sweep would take "
            f"{kernel.work:.0e} exponentials. Use scaling='featurewise', a larger epsilon, or fewer targets."
        )
    watched = Forecast(settings, progress)
    return solve(kernel.push, weights, tol=settings.tol, max_sweeps=settings.max_iter, progress=watched)
