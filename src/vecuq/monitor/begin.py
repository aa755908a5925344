"""What a monitor begins with: one stream for the joint score, one per column, and one for missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import MOST_HELD, Bet, bets_on, draw_rows
from vecuq.errors import CalibrationError
from vecuq.monitor.stream import Stream
from vecuq.ranker import Ranker

# The name of the stream of scores that the ranker makes of all columns, and of the one that watches for missing values.
JOINT = "uncertainty"
MISSING = "missing"
# What random numbers are for. Each purpose is a word of the seed, so that no number is used twice; none is 0, for zeros
# behind a seed do not change it.
BREAKERS, ROW_BREAKERS, DRAWS, GROUPS = 1, 2, 3, 4


def new_streams(ranker: Ranker, calibration: Any, *, direction: str, seed: int, thin: int = 1) -> tuple[Stream, ...]:
    """Return the streams before any row: the joint score, the columns if rows are at hand, and missing values last."""
    rows = _calibration_rows(ranker, calibration, seed, thin)
    joint, missing = special_names(ranker)
    scores = {joint: joint_scores(ranker, seed=seed, thin=thin)}
    if len(rows):
        scores |= {name: kept[~np.isnan(kept)] for name, kept in zip(ranker.columns, rows.T, strict=True)}
    # The rows that were held back are complete.
    scores[missing] = lacking(rows).astype(float) if len(rows) else np.zeros(len(scores[joint]))
    bets = bets_of(direction, len(scores))
    return tuple(Stream.new(name, kept, (seed, BREAKERS, k), bets[k]) for k, (name, kept) in enumerate(scores.items()))


def special_names(ranker: Ranker) -> tuple[str, str]:
    """Return the names of the joint stream and of that of missing values, which no column has."""
    return _apart(JOINT, ranker), _apart(MISSING, ranker)


def bets_of(direction: str, n_streams: int) -> list[tuple[Bet, ...]]:
    """Return the bets on each stream; of missing values only a growing share is a reason to look."""
    return [bets_on(direction)] * (n_streams - 1) + [bets_on("up")]


def scores_of(ranker: Ranker, data: Any, *, with_columns: bool) -> Array:
    """Return the scores of new rows, (rows, streams); NaN where a row has none, in the joint one if any value lacks.

    An infinite value is the largest or smallest of its column, and its row the most extreme of all.
    """
    values = ranker.values_of(data)
    incomplete = lacking(values)
    joint = ranker.rank(ranker.as_table(values), warn=False).uncertainty
    joint = np.where(incomplete, np.nan, np.where(np.isinf(values).any(axis=1), np.inf, joint))
    return np.column_stack([joint, values, incomplete] if with_columns else [joint, incomplete])


def lacking(values: Array) -> NDArray[np.bool_]:
    """Return which rows lack a value."""
    return np.asarray(np.isnan(values).any(axis=1))


def joint_scores(ranker: Ranker, *, seed: int, thin: int) -> Array:
    """Return the held-back scores with which the joint score is compared: thinned out as the stream is.

    Of held-back groups one row each, drawn by seed, for their order says nothing of time.
    """
    scores, chosen = ranker.calibration_scores, _thinned(ranker, seed, thin)
    if len(chosen) == len(scores) or len(ranker.kept.held) < len(scores):  # nothing to leave out, or no rows at hand
        return scores
    return np.sort(ranker.rank_complete(ranker.kept.held)[1][chosen])


def _thinned(ranker: Ranker, seed: int, thin: int) -> NDArray[np.intp]:
    """Return which held-back rows stand for all: one of each group, or rows as far apart as those of the stream."""
    n_held, groups = len(ranker.kept.held), ranker.kept.groups
    if len(groups):
        shuffled = np.random.default_rng([seed, GROUPS]).permutation(n_held)
        return np.sort(shuffled[np.unique(groups[shuffled], return_index=True)[1]]).astype(np.intp)
    # Between two held-back rows lie the map's.
    went = ranker.diagnostics
    return np.arange(0, n_held, max(1, round(thin * went.n_held / max(went.n_held + went.n_map, 1))), dtype=np.intp)


def _calibration_rows(ranker: Ranker, calibration: Any, seed: int, thin: int) -> Array:
    """Return the rows that the columns are compared with: enough of them, drawn by seed."""
    if calibration is None:
        values = ranker.kept.held[_thinned(ranker, seed, thin)]
    else:
        values = np.asarray(ranker.values_of(calibration), dtype=float)[::thin]
    rows = values if len(values) <= MOST_HELD else values[draw_rows(len(values), MOST_HELD, seed)]
    empty = [name for name, column in zip(ranker.columns, rows.T, strict=True) if np.isnan(column).all()]
    if calibration is not None and empty:
        raise CalibrationError(f"The calibration rows of a monitor hold no value of {empty}. Give rows that do.")
    return rows


def _apart(name: str, ranker: Ranker) -> str:
    """Return a name that no column has."""
    return _apart(f"{name}_", ranker) if name in ranker.columns else name
