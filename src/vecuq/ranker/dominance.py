r"""The dominance tail: how far a row lies beyond the calibration rows that come nearest to dominating it.

.. math:: D(z) = \text{5th smallest over } c \text{ of } |((z - c) / (q_{98} - \min))_+|

Length of the rank image and D are each turned into :math:`-\log p`, with p their place among the map's rows (D with the
row itself left out) and an exponential tail beyond; the score is :math:`\log(1/p_R + w/p_D)`. It is monotone wherever
the length is, for a row that rises in any column can only move away from every c.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq._run import in_blocks, spans

NEIGHBOUR = 5
WEIGHT = 0.3
# Calibration rows that D looks at; more of them cost time and say little new.
MOST_ROWS = 10_000
# Beyond, squares would overflow.
_LIMIT = 1e150
# Differences that are held at once.
_CACHE = 2**15


@dataclass(frozen=True, eq=False)
class Dominance:
    """The fitted tail, in scaled scores."""

    rows: Array  # (rows, columns): all that can ever be among the nearest five
    scale: Array  # (columns,)
    lengths: Array  # of the map's rows, increasing
    distances: Array  # of the map's rows, each without itself, increasing

    def score(self, length: Array, scaled: Array, n_jobs: int | None = None) -> Array:
        """Return the score of rows by the length of their images and their scaled values, in nats."""
        beyond = nth_distance(scaled, self.rows, self.scale, min(NEIGHBOUR, len(self.rows)), n_jobs)
        return np.asarray(np.logaddexp(self._core(length), np.log(WEIGHT) + self._tail(beyond)))

    @cached_property
    def _core(self) -> Surprise:
        return Surprise.of(self.lengths)

    @cached_property
    def _tail(self) -> Surprise:
        return Surprise.of(self.distances)


def fit_dominance(scaled: Array, length: Array) -> Dominance:
    """Fit the tail to the map's scaled rows and the lengths of their images."""
    low, high, wide = scaled.min(axis=0), scaled.max(axis=0), np.quantile(scaled, 0.98, axis=0)
    scale = np.where(wide > low, wide, high) - low
    nth = min(NEIGHBOUR, len(scaled) - 1)
    # A row is at distance 0 from itself: leaving it out is the same as looking one further.
    without_itself = nth_distance(scaled, scaled[skyband(scaled, nth + 1)], scale, nth + 1)
    return Dominance(scaled[skyband(scaled, nth)], scale, np.sort(length), np.sort(without_itself))


def nth_distance(points: Array, rows: Array, scale: Array, nth: int, n_jobs: int | None = None) -> Array:
    """Return for each point the n-th smallest length of its positive difference to the rows."""
    columns = list((rows / scale).T)

    def of_block(block: Array) -> Array:
        total = np.zeros((len(block), len(rows)))
        above = np.empty_like(total)
        for place, column in zip(np.clip(block / scale, -_LIMIT, _LIMIT).T, columns, strict=True):
            np.subtract(place[:, None], column, out=above)
            np.maximum(above, 0.0, out=above)
            np.multiply(above, above, out=above)
            np.add(total, above, out=total)
        total.partition(nth - 1, axis=1)
        return np.sqrt(total[:, nth - 1 : nth])

    # Blocks that stay in the cache are three times as fast; each element is its own sum, so bits do not depend on them.
    return in_blocks(of_block, points, n_jobs, block=min(max(_CACHE // len(rows), 16), 192))[:, 0]


def skyband(rows: Array, depth: int) -> NDArray[np.intp]:
    """Return the rows that fewer than ``depth`` others dominate, which is all that D depends on.

    One that others exceed in every column is farther from any point than each of them. Of equal rows, the earlier
    dominate the later.
    """
    # By falling sum, whatever dominates a row comes before it; and its first dominators are in the band themselves.
    order = np.argsort(-rows.sum(axis=1), kind="stable")
    band = order[:0]
    for span in spans(len(order), 256):
        chunk = order[span]
        earlier = np.tri(len(chunk), k=-1, dtype=bool)
        count = _dominates(rows[band], rows[chunk]).sum(axis=1)
        count += (_dominates(rows[chunk], rows[chunk]) & earlier).sum(axis=1)
        band = np.concatenate([band, chunk[count < depth]])
    return np.sort(band)


def _dominates(those: Array, these: Array) -> NDArray[np.bool_]:
    """Return which of those rows are at least as high as each of these in every column, (these, those)."""
    out = np.ones((len(these), len(those)), dtype=bool)
    for k in range(those.shape[1]):
        out &= those[:, k] >= these[:, k, None]
    return out


@dataclass(frozen=True, eq=False)
class Surprise:
    """-log p of a value among calibration values, p falling linearly between them and exponentially beyond."""

    places: Array
    shares: Array
    excess: float

    @staticmethod
    def of(values: Array) -> Surprise:
        """Learn from values that are at least 0, increasing."""
        places, first = np.unique(values, return_index=True)
        shares = (len(values) - first) / (len(values) + 1.0)
        high = np.quantile(values, 0.9)
        beyond = values[values > high] - high
        if places[0] > 0:
            places, shares = np.append(0.0, places), np.append(1.0, shares)
        return Surprise(places, shares, float(beyond.mean()) if len(beyond) else 1.0)

    def __call__(self, values: Array) -> Array:
        """Return -log p, at least 0."""
        inside = -np.log(np.interp(values, self.places, self.shares))
        return np.asarray(inside + np.maximum(values - self.places[-1], 0.0) / self.excess)
