"""How a ranker is fitted: split, scale, anchors, reference, solve. In that order, on one screen."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, refuse_missing
from vecuq.errors import CalibrationError, CalibrationWarning, ConvergenceError, ConvergenceWarning, SettingError
from vecuq.ranker.ranker import Diagnostics, Ranker
from vecuq.ranker.settings import Settings
from vecuq.ranker.sketch import Sketch
from vecuq.ranker.solve import Problem, Progress, solve_transport
from vecuq.reference import (
    MAX_COLUMNS,
    Reference,
    authors_targets,
    auto_targets,
    check_targets,
    named_reference,
    outer_anchors,
)
from vecuq.scaling import Scaler, fit_scaler
from vecuq.table import ScoreTable
from vecuq.transport import Cloud, Corners, Grid, Nodes, Potentials, rank_map, shared_mass
from vecuq.transport.blocks import BLOCK, one_blas_thread

__all__ = ["MOST_HELD", "MapRows", "draw_rows", "fit_map", "fit_ranker", "held_back_rows"]

# More held-back rows than this resolve nothing: p-values down to 1e-5.
MOST_HELD = 100_000


@dataclass(frozen=True)
class MapRows:
    """What is known of the rows that fit the map: their extremes, and the rows or a sketch of them."""

    columns: tuple[str, ...]
    flipped: frozenset[str]
    count: int
    low: Array
    high: Array
    rows: Array | None
    sketch: Sketch | None

    @staticmethod
    def of_rows(table: ScoreTable, rows: Array) -> MapRows:
        """Know everything."""
        return MapRows(table.columns, table.flipped, len(rows), rows.min(axis=0), rows.max(axis=0), rows, None)

    @staticmethod
    def of_sketch(made: Sketch) -> MapRows:
        """Know the extremes and the moments."""
        return MapRows(made.columns, made.flipped, made.count, made.seen_low, made.seen_high, None, made)


def fit_ranker(
    calibration: Any, settings: Settings | None = None, *, named: bool = True, progress: Progress | None = None
) -> Ranker:
    """Learn from in-distribution rows, without labels, how their score vectors lie.

    Parameters
    ----------
    calibration
        A :class:`~vecuq.ScoreTable`, anything it can be made of, or a :class:`~vecuq.Sketch` (which keeps no rows, so
        nothing is held back and there are no p-values); at least two different rows, none missing.
    settings
        The choices of the method.
    named
        Whether new rows are matched by column name rather than by position.
    progress
        Called after every sweep with its number and the marginal error.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).gamma(1.0, size=(200, 2))
    >>> ranker = fit_ranker(rows)
    >>> bool(ranker.uncertainty([[9.0, 9.0]])[0] > ranker.uncertainty([[0.1, 0.1]])[0])
    True
    """
    chosen = settings or Settings()
    if isinstance(calibration, Sketch):
        nothing = np.empty((0, len(calibration.columns)))
        return fit_map(MapRows.of_sketch(calibration), nothing, chosen, named=named, progress=progress)
    table = ScoreTable.of(calibration)
    refuse_missing(table.values, table.columns)
    held = held_back_rows(len(table), chosen)
    mapped = np.ones(len(table), dtype=bool)
    mapped[held] = False
    known = MapRows.of_rows(table, np.asarray(table.values[mapped], dtype=float))
    return fit_map(known, np.asarray(table.values[held], dtype=float), chosen, named=named, progress=progress)


def fit_map(
    known: MapRows, held: Array, settings: Settings, *, named: bool = True, progress: Progress | None = None
) -> Ranker:
    """Fit the map to what is known of its rows, and read p-values and thresholds from the rows held back."""
    reference = named_reference(settings.reference)
    active = varying_columns(known, len(held))
    rows = None if known.rows is None else known.rows[:, active]
    scaler = fit_scaler(known.low[active], known.high[active], settings.scaling, signed=reference.signed, rows=rows)
    low, high = scaler.transform(np.stack([known.low[active], known.high[active]]))
    corners = outer_anchors(low, high, settings.anchors, signed=reference.signed)
    row_weight, corners = shared_mass(known.count, corners, settings.anchor_mass)
    targets = reference_targets(reference, settings, known.count, corners, len(active))
    scaled = None if rows is None else scaler.transform(rows)
    nodes = None if known.sketch is None else _scaled_nodes(known.sketch, active, scaler, row_weight)
    problem = Problem(scaled, nodes, known.count, low, high, row_weight, corners, targets)
    with one_blas_thread():
        solver, solved = solve_transport(problem, settings, progress)
    _judge(solved, settings, known.count, corners)
    diagnostics = Diagnostics(
        solver=solver,
        converged=solved.converged,
        marginal_error=solved.marginal_error,
        sweeps=solved.sweeps,
        n_map=known.count,
        n_held=len(held),
        n_targets=targets.size,
        n_anchors=_count(corners),
        anchor_mass=0.0 if corners is None else corners.mass,
        constant_columns=tuple(name for k, name in enumerate(known.columns) if k not in active),
        monotone_violations=None,
    )
    ranker = Ranker(
        columns=known.columns,
        named=named,
        flipped=known.flipped,
        active=tuple(active),
        scaler=scaler,
        rank_map=rank_map(targets, solved.log_v, settings.epsilon, box=(low, high)),
        low=low,
        high=high,
        calibration=np.empty(0),
        settings=settings,
        diagnostics=diagnostics,
    )
    with one_blas_thread():
        told = replace(diagnostics, monotone_violations=monotone_violations(ranker, scaled))
        return replace(ranker, diagnostics=told, calibration=_calibration_scores(ranker, held, known))


def _scaled_nodes(made: Sketch, active: list[int], scaler: Scaler, row_weight: float) -> Nodes:
    # T_0 is 1, so the moments of some columns alone are those with degree 0 in the others.
    moments = made.moments[tuple(slice(None) if k in active else 0 for k in range(len(made.columns)))]
    low, high = scaler.transform(np.stack([made.box_low[active], made.box_high[active]]))
    return Nodes.of(moments, low, high, row_weight)


def _calibration_scores(ranker: Ranker, held: Array, known: MapRows) -> Array:
    """Return the sorted scores of the held-back rows; failing those, of the map's own rows, if they are at hand."""
    rows = held if len(held) else known.rows
    if rows is None:  # A sketch keeps no rows; the far corner of their box flags nothing that it has seen.
        rows = known.high[None]
    return np.sort(ranker.rank_finite(rows)[1])


def held_back_rows(n_rows: int, settings: Settings) -> NDArray[np.intp]:
    """Return which rows are held back, increasing: a seeded draw that leaves at least two for the map."""
    if n_rows < 2:
        raise CalibrationError(
            f"At least two calibration rows are needed; got n_samples = {n_rows}. Hundreds make good p-values."
        )
    return draw_rows(n_rows, min(int(settings.holdback * n_rows), n_rows - 2, MOST_HELD), settings.random_state or 0)


def draw_rows(n_rows: int, n_drawn: int, seed: int) -> NDArray[np.intp]:
    """Return a seeded draw of rows without replacement, increasing."""
    drawn = np.random.default_rng(seed).choice(n_rows, n_drawn, replace=False, shuffle=False)
    return np.sort(drawn).astype(np.intp)


def varying_columns(known: MapRows, n_held: int) -> list[int]:
    """Return the columns that vary over the map's rows; a constant one says nothing and is left out."""
    active = [int(k) for k in np.flatnonzero(known.low < known.high)]
    if not active:
        held = f" ({n_held:,} more are held back)" if n_held else ""
        raise CalibrationError(
            f"All {known.count:,} calibration rows of the map{held} are identical, so there is no order to learn. "
            f"Give rows that differ."
        )
    if len(active) > MAX_COLUMNS:
        raise SettingError(
            f"{len(active)} varying score columns are too many for a Cartesian grid; {MAX_COLUMNS} is the limit. "
            f"Leave out columns that say the same, or combine the groups first and rank the group scores."
        )
    return active


def reference_targets(
    reference: Reference, settings: Settings, n_rows: int, corners: Corners | None, n_columns: int
) -> Grid | Cloud:
    """Return the reference's points, as many as the settings ask for."""
    if settings.n_targets == "auto" and settings.grid == "midpoint":
        wanted = auto_targets(n_columns, settings.epsilon)
    elif isinstance(settings.n_targets, str):
        wanted = n_rows + _count(corners)
    else:
        wanted = settings.n_targets
    if settings.grid == "authors":
        return authors_targets(reference, n_columns, wanted)
    return check_targets(reference.targets(n_columns, wanted), n_columns)


def _count(corners: Corners | None) -> int:
    return 0 if corners is None else int(np.count_nonzero(corners.weights))


def _judge(solved: Potentials, settings: Settings, n_rows: int, corners: Corners | None) -> None:
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
