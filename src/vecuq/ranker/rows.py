"""Which calibration rows fit the map, which are held back, and what a ranker keeps of both."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal import draw_rows, group_weights, split_rows
from vecuq.errors import CalibrationError
from vecuq.ranker.sampled import Sampled
from vecuq.ranker.settings import Settings
from vecuq.ranker.sketches import Sketch
from vecuq.table import Fingerprints, ScoreTable

# So many rows stand for the calibration law of a column that is missing.
N_DRAWS = 32


@dataclass(frozen=True)
class MapRows:
    """What is known of the rows that fit the map: count and extremes, and the rows, a sample or a sketch of them."""

    columns: tuple[str, ...]
    flipped: frozenset[str]
    count: int
    low: Array
    high: Array
    rows: Array | None
    sketch: Sketch | None
    prints: Fingerprints | None = None

    @staticmethod
    def of_rows(table: ScoreTable, rows: Array) -> MapRows:
        """Know everything."""
        box, prints = (rows.min(axis=0), rows.max(axis=0)), Fingerprints.of(rows)
        return MapRows(table.columns, table.flipped, len(rows), *box, rows, None, prints)

    @staticmethod
    def of_sample(made: Sampled, table: ScoreTable) -> MapRows:
        """Know some of the rows; ``table`` has the same columns."""
        box = made.seen_low, made.seen_high
        return MapRows(table.columns, table.flipped, made.count, *box, made.rows.values, None, made.prints)

    @property
    def n_sampled(self) -> int | None:
        """How many rows stand for all of them; None if all are known, or a sketch."""
        return None if self.rows is None or len(self.rows) == self.count else len(self.rows)

    @staticmethod
    def of_sketch(made: Sketch) -> MapRows:
        """Know the extremes and the moments."""
        box = made.seen_low, made.seen_high
        return MapRows(made.columns, made.flipped, made.count, *box, None, made, made.prints)


@dataclass(frozen=True, eq=False)
class Kept:
    """What a ranker keeps of its calibration rows, for reasons and for rows with missing values."""

    centre: Array  # (columns,): the median of every column; NaN in models of format 1, which kept none
    held: Array  # (rows, columns): the held-back rows, none of which is among the draws
    draws: Array  # (draws, columns): rows that stand for the law of all
    # (rows,): the group of each held-back row, which are then in the order of their scores; empty without groups
    groups: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def weights(self) -> Array | None:
        """One divided by the size of its group for every held-back row; None where rows do not come in groups."""
        return group_weights(self.groups) if len(self.groups) else None

    @staticmethod
    def nothing(n_columns: int) -> Kept:
        """Return what an old model file kept."""
        none = np.empty((0, n_columns))
        return Kept(np.full(n_columns, np.nan), none, none)


def kept_rows(known: MapRows, held: Array, settings: Settings) -> Kept:
    """Choose what is kept; draws come from the map's rows, so that the held-back ones stay unseen.

    Where the map knows a sketch only, some held-back rows become draws instead.
    """
    if known.rows is not None:
        drawn = draw_rows(len(known.rows), min(N_DRAWS, len(known.rows)), settings.random_state or 0)
        return Kept(np.median(held if len(held) else known.rows, axis=0), held, known.rows[drawn])
    if not len(held):
        return Kept(_mean(known.sketch), held, held)
    drawn = draw_rows(len(held), min(N_DRAWS, len(held) // 2), settings.random_state or 0)
    return Kept(np.median(held, axis=0), np.delete(held, drawn, axis=0), held[drawn])


def _mean(made: Sketch | None) -> Array:
    """Return the mean of every column, the first moment of a sketch, which knows no median."""
    if made is None:
        raise CalibrationError("There are neither rows nor a sketch to fit.")
    m = len(made.columns)
    first = np.array([made.moments[tuple(int(j == k) for j in range(m))] for k in range(m)])
    return np.asarray(made.box_low + 0.5 * (first / made.count + 1.0) * (made.box_high - made.box_low))


def held_back_rows(n_rows: int, settings: Settings) -> NDArray[np.intp]:
    """Return which rows are held back, increasing: a seeded draw that leaves at least two for the map."""
    return split_rows(n_rows, settings.share, settings.random_state or 0)
