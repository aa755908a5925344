"""The columns of a score map: which two, and each as it came, over its calibration range and beyond."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq._draw import label
from vecuq.doctor import rank_correlations
from vecuq.ranker import Ranker

# Rows further out than this many calibration ranges are drawn at the edge.
_REACH = 1.5


@dataclass(frozen=True)
class Side:
    """One column as it is drawn: its calibration range, and from where to where the picture goes."""

    ranker: Ranker
    name: str
    low: float
    high: float
    first: float
    last: float

    @property
    def place(self) -> int:
        """Which column of the rows it is."""
        return self.ranker.columns.index(self.name)

    @property
    def words(self) -> str:
        """What stands at its axis."""
        flipped = self.name in self.ranker.flipped
        return label(self.name, 34) + (" (higher is more confident)" if flipped else "")


def side_of(ranker: Ranker, name: str, values: Array) -> Side:
    """Return how one column is drawn: as it came, over its calibration range and as far beyond as rows lie."""
    k = ranker.columns.index(name)
    box = _calibration_range(ranker, k)
    reach = _REACH * (box[1] - box[0])
    inside = values[:, k]
    low = max(min(box[0], float(inside.min(initial=box[0]))), box[0] - reach)
    high = min(max(box[1], float(inside.max(initial=box[1]))), box[1] + reach)
    margin = 0.04 * (high - low)
    return Side(ranker, name, *box, low - margin, high + margin)


def _calibration_range(ranker: Ranker, k: int) -> tuple[float, float]:
    """Return the range of a column over the rows of the map, on its own scale."""
    at, scaler = ranker.active.index(k), ranker.scaler
    ends = np.array([ranker.low[at], ranker.high[at]]) / (1.0 if scaler.weights is None else scaler.weights[at])
    if scaler.signed and scaler.kind != "identity":
        ends = 0.5 * (ends + 1.0)
    low, high = scaler.lower[at] + ends * scaler.span[at]
    return float(low), float(high)


def as_came(side: Side, values: Array) -> Array:
    """Return values of a column in the direction in which they came; a flipped one is kept as its negative."""
    return -values if side.name in side.ranker.flipped else values


def clipped(side: Side, values: Array) -> Array:
    """Return where rows are drawn along a side: those beyond the picture at its edge."""
    return as_came(side, np.clip(values[:, side.place], side.first, side.last))


def rows_beyond(sides: list[Side], values: Array) -> int:
    """Return how many rows lie outside of the picture, and are drawn at its edge."""
    outside = [(values[:, one.place] < one.first) | (values[:, one.place] > one.last) for one in sides]
    return int(np.any(outside, axis=0).sum())


def drawn_columns(ranker: Ranker, values: Array) -> tuple[str, ...]:
    """Return the two least correlated columns of complete rows, or the only one that varies."""
    names = [ranker.columns[k] for k in ranker.active]
    if len(names) == 1:
        return (names[0],)
    first, second = _least_related(values[:, ranker.active])
    return names[first], names[second]


def _least_related(values: Array) -> tuple[int, int]:
    """Return the two columns whose rank correlation is nearest to zero; the first two if that is unknown."""
    if len(values) < 3:
        return 0, 1
    # A constant column has no correlation, and is the last choice.
    related = np.nan_to_num(np.abs(rank_correlations(values)), nan=2.0)
    first, second = np.triu_indices(len(related), k=1)
    best = int(related[first, second].round(12).argmin())
    return int(first[best]), int(second[best])
