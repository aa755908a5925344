"""How a ranker is fitted: split, scale, anchors, reference, solve. In that order, on one screen."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, refuse_missing, warn_user
from vecuq._run import one_blas_thread
from vecuq.conformal import group_codes, split_groups
from vecuq.errors import CalibrationError, CalibrationWarning, VecuqWarning
from vecuq.ranker.cross import N_FOLDS, CrossRanker, fold_codes
from vecuq.ranker.diagnostics import Diagnostics
from vecuq.ranker.forecast import Progress
from vecuq.ranker.judge import monotone_violations
from vecuq.ranker.levels import ScaledRows, fit_grouped, fit_one, groups_of, judge_plans
from vecuq.ranker.ranker import Ranker
from vecuq.ranker.rows import MapRows, held_back_rows, kept_rows
from vecuq.ranker.settings import Settings
from vecuq.ranker.sketches import Sketch
from vecuq.ranker.weights import Weights, active_weights
from vecuq.table import ScoreTable, warn_of_columns
from vecuq.transport import Nodes, RankMap, Scaler, fit_scaler, named_reference


def fit_ranker(
    calibration: Any,
    settings: Settings | None = None,
    *,
    named: bool = True,
    progress: Progress | None = None,
    groups: Any = None,
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
    groups
        For rows that come together, such as the rows of a session or a document: the name of each row's group,
        (rows,). Whole groups are held back, and p-values and thresholds count groups.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).gamma(1.0, size=(200, 2))
    >>> ranker = fit_ranker(rows)
    >>> bool(ranker.uncertainty([[9.0, 9.0]])[0] > ranker.uncertainty([[0.1, 0.1]])[0])
    True
    """
    chosen = settings or Settings()
    if chosen.holdback == "cross":
        return _fit_cross(calibration, chosen, named=named, progress=progress, groups=groups)
    table = ScoreTable.of(calibration)
    refuse_missing(table.values, table.columns)
    warn_of_columns(table, directions=not named_reference(chosen.reference).signed)
    codes = None if groups is None else group_codes(groups, len(table))
    if codes is None:
        held = held_back_rows(len(table), chosen)
    else:
        held = split_groups(codes, chosen.share, chosen.random_state or 0)
    return _fit_split(table, held, codes, chosen, named=named, progress=progress)


def _fit_split(
    table: ScoreTable,
    held: NDArray[np.intp],
    codes: NDArray[np.int64] | None,
    chosen: Settings,
    *,
    named: bool,
    progress: Progress | None,
) -> Ranker:
    """Fit the map to the rows that are not held back."""
    mapped = np.ones(len(table), dtype=bool)
    mapped[held] = False
    # Every column in one piece: all that follows works along them.
    known = MapRows.of_rows(table, np.asarray(table.values.compress(mapped, axis=0), dtype=float, order="F"))
    ranker = fit_map(known, np.asarray(table.values[held], dtype=float), chosen, named=named, progress=progress)
    return ranker if codes is None or not len(held) else _in_groups(ranker, codes[held])


def fit_map(
    known: MapRows, held: Array, settings: Settings, *, named: bool = True, progress: Progress | None = None
) -> Ranker:
    """Fit the map to what is known of its rows, and read p-values and thresholds from the rows held back."""
    reference = named_reference(settings.reference)
    weights = _weights_for(known, settings)
    settings = replace(settings, weights=weights)
    varying = varying_columns(known, len(held))
    active = varying if weights is None else _weighted_columns(weights, varying, known)
    groups = groups_of(known, active, settings)
    rows = known.rows if known.rows is None or len(active) == len(known.columns) else known.rows[:, active]
    scaled_by = rows if known.n_sampled is None else _with_extremes(rows, known, active)
    scaler = fit_scaler(
        known.low[active], known.high[active], settings.scaling, signed=reference.signed, rows=scaled_by
    )
    scaler = replace(scaler, weights=active_weights(weights, known.columns, active))
    _warn_of_small_epsilon(scaler, settings)
    low, high = scaler.transform(np.stack([known.low[active], known.high[active]]))
    scaled = ScaledRows(known.count, low, high, None if rows is None else scaler.transform(rows))
    fitted: RankMap
    if groups is None:
        nodes = None if known.sketch is None else _scaled_nodes(known.sketch, active, scaler)
        plans = [fit_one(scaled, reference, settings, progress, nodes)]
        fitted = plans[0].rank_map
    else:
        places = groups.places(known.columns, active)
        fitted, plans = fit_grouped(scaled, places, reference, settings, progress, scaler.weights)
    judge_plans(plans, settings, known.count)
    diagnostics = Diagnostics(
        solver=" and ".join(dict.fromkeys(plan.solver for plan in plans)),
        converged=all(plan.solved.converged for plan in plans),
        marginal_error=max(plan.solved.marginal_error for plan in plans),
        sweeps=sum(plan.solved.sweeps for plan in plans),
        n_map=known.count,
        n_held=len(held),
        n_targets=sum(plan.targets.size for plan in plans),
        n_anchors=sum(plan.n_anchors for plan in plans),
        anchor_mass=max(plan.anchor_mass for plan in plans),
        constant_columns=tuple(
            name for k, name in enumerate(known.columns) if k not in varying and (weights is None or weights[name])
        ),
        monotone_violations=None,
        n_sampled=known.n_sampled,
        column_groups=groups,
    )
    ranker = Ranker(
        columns=known.columns,
        named=named,
        flipped=known.flipped,
        active=tuple(active),
        scaler=scaler,
        rank_map=fitted,
        low=low,
        high=high,
        calibration_scores=np.empty(0),
        settings=settings,
        diagnostics=diagnostics,
        kept=kept_rows(known, held, settings),
        prints=known.prints,
    )
    with one_blas_thread():
        judged = replace(diagnostics, monotone_violations=monotone_violations(ranker, scaled.rows))
        return replace(ranker, diagnostics=judged, calibration_scores=_calibration_scores(ranker, held, known))


def _fit_cross(calibration: Any, chosen: Settings, *, named: bool, progress: Progress | None, groups: Any) -> Ranker:
    """Fit a map to all rows, and one more without each fold."""
    table = ScoreTable.of(calibration)
    whole = fit_ranker(table, replace(chosen, holdback=0.0), named=named, progress=progress)
    folds = fold_codes(len(table), groups, chosen.random_state or 0)
    codes = None if groups is None else group_codes(groups, len(table))
    parts = replace(chosen, holdback=1.0 / N_FOLDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VecuqWarning)  # the map of all rows warned of the same
        made = [
            _fit_split(table, np.flatnonzero(folds == fold), codes, parts, named=named, progress=progress)
            for fold in range(N_FOLDS)
        ]
    return CrossRanker.of(whole, tuple(made))


def _in_groups(ranker: Ranker, codes: NDArray[np.int64]) -> Ranker:
    """Return the ranker with its held-back rows in the order of their scores, and the group of each beside it."""
    with one_blas_thread():
        order = np.argsort(ranker.rank_complete(ranker.kept.held)[1], kind="stable")
    kept = replace(ranker.kept, held=ranker.kept.held[order], groups=group_codes(codes[order], len(order)))
    return replace(ranker, kept=kept)


def _with_extremes(rows: Array | None, known: MapRows, active: list[int]) -> Array:
    """Return the rows of a sample and, so that quantiles go as far as all rows, the extremes of all."""
    ends = np.stack([known.low[active], known.high[active]])
    return ends if rows is None else np.concatenate([rows, ends])


def _scaled_nodes(made: Sketch, active: list[int], scaler: Scaler) -> Nodes:
    # T_0 is 1, so the moments of some columns alone are those with degree 0 in the others.
    moments = made.moments[tuple(slice(None) if k in active else 0 for k in range(len(made.columns)))]
    low, high = scaler.transform(np.stack([made.box_low[active], made.box_high[active]]))
    return Nodes.of(moments, low, high, 1.0)


def _calibration_scores(ranker: Ranker, held: Array, known: MapRows) -> Array:
    """Return the sorted scores of the held-back rows; failing those, of the map's own rows, if they are at hand."""
    rows = held if len(held) else known.rows
    if rows is None:  # A sketch keeps no rows; the far corner of their box flags nothing that it has seen.
        rows = known.high[None]
    return np.sort(ranker.rank_complete(rows)[1])


def varying_columns(known: MapRows, n_held: int) -> list[int]:
    """Return the columns that vary over the map's rows; a constant one says nothing and is left out."""
    active = [int(k) for k in np.flatnonzero(known.low < known.high)]
    if not active:
        held = f" ({n_held:,} more are held back)" if n_held else ""
        raise CalibrationError(
            f"All {known.count:,} calibration rows of the map{held} are identical, so there is no order to learn. "
            f"Give rows that differ."
        )
    return active


def _weights_for(known: MapRows, settings: Settings) -> Weights | None:
    """Return the weights, once they are known to be those of the columns; equal ones that were given are none."""
    weights = Weights.of(settings.weights)
    if weights is None:
        return None
    weights.check_columns(known.columns, known.flipped)
    return None if weights.equal and not weights.learned else weights


def _weighted_columns(weights: Weights, varying: list[int], known: MapRows) -> list[int]:
    """Return the varying columns that have a weight."""
    active = [k for k in varying if weights[known.columns[k]] > 0]
    if not active:
        raise CalibrationError(
            f"Every column that varies over the calibration rows has the weight 0: "
            f"{', '.join(known.columns[k] for k in varying)}. Give one of them a weight."
        )
    return active


def _warn_of_small_epsilon(scaler: Scaler, settings: Settings) -> None:
    """Warn where the transport, which spreads every column over the same law, undoes much of the weights."""
    if scaler.weights is not None and settings.epsilon < _SMALL_EPSILON:
        warn_user(
            f"At epsilon={settings.epsilon:g} the transport undoes a part of the weights: it spreads every column "
            f"over the same law. Use epsilon=0.5 or more.",
            CalibrationWarning,
        )


_SMALL_EPSILON = 0.5
