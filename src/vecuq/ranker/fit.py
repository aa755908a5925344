"""How a ranker is fitted: split, scale, anchors, reference, solve. In that order, on one screen."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, refuse_missing
from vecuq.errors import CalibrationError, CalibrationWarning, ConvergenceError, ConvergenceWarning, SettingError
from vecuq.ranker.ranker import Diagnostics, Ranker
from vecuq.ranker.settings import Settings
from vecuq.reference import (
    MAX_COLUMNS,
    Reference,
    authors_targets,
    auto_targets,
    named_reference,
    outer_anchors,
)
from vecuq.scaling import fit_scaler
from vecuq.table import ScoreTable
from vecuq.transport import Cloud, DenseKernel, Grid, Potentials, SeparableKernel, Sources, rank_map, solve
from vecuq.transport.blocks import one_blas_thread

__all__ = ["fit_ranker"]

Progress = Callable[[int, float], None]

# More exponentials per sweep than this would take minutes each.
_MOST_WORK = 20_000_000_000


def fit_ranker(
    calibration: Any, settings: Settings | None = None, *, named: bool = True, progress: Progress | None = None
) -> Ranker:
    """Learn from in-distribution rows, without labels, how their score vectors lie.

    Parameters
    ----------
    calibration
        A :class:`~vecuq.ScoreTable`, or anything it can be made of; at least two different rows, none missing.
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
    table = ScoreTable.of(calibration)
    refuse_missing(table.values, table.columns)
    reference = named_reference(chosen.reference)
    mapped, held = split_rows(len(table), chosen)
    active = varying_columns(table, mapped)
    scaler = fit_scaler(table.values[mapped][:, active], chosen.scaling, signed=reference.signed)
    scaled = scaler.transform(table.values[mapped][:, active])
    corners = outer_anchors(scaled, chosen.anchors, signed=reference.signed)
    sources = Sources.of(scaled, corners, max_corner_mass=chosen.anchor_mass)
    targets = reference_targets(reference, chosen, sources)
    solver, solved = solve_transport(sources, targets, chosen, progress)
    diagnostics = Diagnostics(
        solver=solver,
        converged=solved.converged,
        marginal_error=solved.marginal_error,
        sweeps=solved.sweeps,
        n_map=len(mapped),
        n_held=len(held),
        n_targets=targets.size,
        n_anchors=0 if corners is None else int(np.count_nonzero(corners.weights)),
        anchor_mass=sources.corner_mass,
        constant_columns=tuple(name for k, name in enumerate(table.columns) if k not in active),
        monotone_violations=None,
    )
    ranker = Ranker(
        columns=table.columns,
        named=named,
        flipped=table.flipped,
        active=tuple(active),
        scaler=scaler,
        rank_map=rank_map(targets, solved.log_v, chosen.epsilon),
        low=scaled.min(axis=0),
        high=scaled.max(axis=0),
        calibration=np.empty(0),
        settings=chosen,
        diagnostics=diagnostics,
    )
    return _calibrated(ranker, table.values[held if len(held) else mapped], scaled)


def _calibrated(ranker: Ranker, rows: Array, scaled: Array) -> Ranker:
    """Add the scores that p-values and thresholds are read from, and the measured share of order violations."""
    told = replace(ranker.diagnostics, monotone_violations=monotone_violations(ranker, scaled))
    scores = np.sort(ranker._rank_finite(rows)[1])
    return replace(ranker, calibration=scores, diagnostics=told)


def split_rows(n_rows: int, settings: Settings) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which rows fit the map and which are held back: a seeded permutation, at least two for the map."""
    if n_rows < 2:
        raise CalibrationError(
            f"At least two calibration rows are needed; got n_samples = {n_rows}. Hundreds make good p-values."
        )
    n_held = min(int(settings.holdback * n_rows), n_rows - 2)
    order = np.random.default_rng(settings.random_state or 0).permutation(n_rows)
    return np.sort(order[n_held:]), np.sort(order[:n_held])


def varying_columns(table: ScoreTable, mapped: NDArray[np.intp]) -> list[int]:
    """Return the columns that vary over the map's rows; a constant one says nothing and is left out."""
    rows = table.values[mapped]
    active = [int(k) for k in np.flatnonzero(rows.min(axis=0) < rows.max(axis=0))]
    if not active:
        held = f" ({len(table) - len(mapped):,} more are held back)" if len(mapped) < len(table) else ""
        raise CalibrationError(
            f"All {len(mapped):,} calibration rows of the map{held} are identical, so there is no order to learn. "
            f"Give rows that differ."
        )
    if len(active) > MAX_COLUMNS:
        raise SettingError(
            f"{len(active)} varying score columns are too many for a Cartesian grid; {MAX_COLUMNS} is the limit. "
            f"Leave out columns that say the same, or combine the groups first and rank the group scores."
        )
    return active


def reference_targets(reference: Reference, settings: Settings, sources: Sources) -> Grid | Cloud:
    """Return the reference's points, as many as the settings ask for."""
    n_columns = sources.rows.shape[1]
    if settings.n_targets == "auto" and settings.grid == "midpoint":
        wanted = auto_targets(n_columns, settings.epsilon)
    elif isinstance(settings.n_targets, str):
        corners = sources.corners
        wanted = len(sources.rows) + (0 if corners is None else int(np.count_nonzero(corners.weights)))
    else:
        wanted = settings.n_targets
    if settings.grid == "authors":
        return authors_targets(reference, n_columns, wanted)
    return reference.targets(n_columns, wanted)


def solve_transport(
    sources: Sources, targets: Grid | Cloud, settings: Settings, progress: Progress | None
) -> tuple[str, Potentials]:
    """Solve the entropic problem by the solver that fits the targets; judge the result as the settings say."""
    separable = isinstance(targets, Grid) and settings.solver != "dense"
    if settings.solver == "separable" and not separable:
        raise SettingError("solver='separable' needs a Cartesian grid; this reference is a cloud. Use solver='auto'.")
    kernel = (
        SeparableKernel(sources, targets, settings.epsilon)
        if separable and isinstance(targets, Grid)
        else DenseKernel(sources, Cloud(targets.points, targets.weights[targets.weights > 0]), settings.epsilon)
    )
    if kernel.work > _MOST_WORK:
        raise ConvergenceError(
            f"The scaled scores are spread too widely for epsilon={settings.epsilon:g}: one sweep would take "
            f"{kernel.work:.0e} exponentials. Use scaling='featurewise', a larger epsilon, or fewer targets."
        )
    weights = targets.weights if separable else targets.weights[targets.weights > 0]
    with one_blas_thread():
        solved = solve(kernel.push, weights, tol=settings.tol, max_sweeps=settings.max_iter, progress=progress)
    if not separable and targets.weights.ndim > 1:
        full = np.full(targets.weights.shape, -np.inf)
        full[targets.weights > 0] = solved.log_v
        solved = solved._replace(log_v=full)
    _judge(solved, settings, sources)
    return "separable" if separable else "dense", solved


def _judge(solved: Potentials, settings: Settings, sources: Sources) -> None:
    if not solved.converged:
        message = (
            f"The transport plan did not converge: marginal error {solved.marginal_error:.1e} after {solved.sweeps:,} "
            f"sweeps, wanted {settings.tol:.0e}. Raise epsilon (now {settings.epsilon:g}), use scaling='featurewise' "
            f"(now {settings.scaling!r}), raise max_iter, or loosen tol."
        )
        if settings.on_failure == "raise" or not np.isfinite(solved.marginal_error):
            raise ConvergenceError(message)
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
    if sources.corner_mass > 0.2:
        warnings.warn(
            f"The outer anchors carry {sources.corner_mass:.0%} of the mass, because there are "
            f"{len(sources.rows):,} rows to share it with. Give more rows, or set anchor_mass=0.2 or anchors=0.",
            CalibrationWarning,
            stacklevel=4,
        )


def monotone_violations(ranker: Ranker, scaled: Array, n_bumps: int = 2_000) -> float | None:
    """Return the share of random bumps of one column that lower the score, from rows and from anywhere around."""
    if ranker.scaler.signed:
        return None
    rng = np.random.default_rng(0)
    seen = scaled[rng.integers(len(scaled), size=n_bumps // 2)]
    anywhere = ranker.low + rng.uniform(0.0, 1.5, size=seen.shape) * (ranker.high - ranker.low)
    start = np.concatenate([seen, anywhere])
    column = rng.integers(start.shape[1], size=len(start))
    step = rng.exponential(0.2, size=len(start)) * (ranker.high - ranker.low)[column]
    bumped = start.copy()
    bumped[np.arange(len(start)), column] += step
    before, after = (ranker.score_scaled(rows, ranker.rank_map(rows)) for rows in (start, bumped))
    return float(np.mean(after < before - 1e-9))
