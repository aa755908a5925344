r"""Online ranks: from a place among the calibration scores to p-values that are independent and uniform.

p-values against a fixed calibration set share that set, so a long stream of them is not a stream of independent
numbers: one unlucky calibration set makes all of them too small. Here every row joins the set after it was ranked.
With :math:`n` calibration scores there are :math:`n + 1` bins; a bin that has taken :math:`c` rows weighs
:math:`1 + c` (a Polya urn), and

.. math:: p_t = \frac{\sum_{\text{bins above}} (1 + c) + U_t (1 + c_{\text{own}})}{n + t}

is exactly uniform and independent of all earlier ones, if calibration rows and stream are exchangeable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array

__all__ = ["Bins", "Reference", "uniform_ranks"]

Bins = NDArray[np.int64]

# Rows are compared with each other in blocks of this size, and with everything before the block by a cumulative sum.
_BLOCK = 512


@dataclass(frozen=True)
class Reference:
    """Calibration scores of one stream, sorted; equal ones are ordered by a random number of their own."""

    scores: Array
    breakers: Array  # in (0, 1), increasing among equal scores

    @staticmethod
    def of(scores: Array, seed: tuple[int, ...]) -> Reference:
        """Sort the scores and draw what breaks their ties."""
        ordered = np.sort(np.asarray(scores, dtype=float))
        drawn = np.random.default_rng(seed).random(len(ordered))
        return Reference(ordered, drawn[np.lexsort((drawn, ordered))])

    def bins_above(self, scores: Array, breakers: Array) -> Bins:
        """Return how many calibration scores lie above each score, ties broken at random: 0 to n."""
        below = np.searchsorted(self.scores, scores, side="left")
        tied = np.searchsorted(self.scores, scores, side="right") > below
        if tied.any():
            # A group of equal scores starts at its first place, and its breakers fill the unit interval above that.
            keys = np.searchsorted(self.scores, self.scores, side="left") + self.breakers
            below[tied] = np.searchsorted(keys, below[tied] + breakers[tied])
        return np.asarray(len(self.scores) - below, dtype=np.int64)


def uniform_ranks(above: Bins, counts: Bins, draws: Array) -> Array:
    """Return the online p-value of each row in turn, and let the row join ``counts``, in place.

    Parameters
    ----------
    above
        The bin of each row: how many calibration scores lie above it.
    counts
        How many rows each of the n + 1 bins has taken so far.
    draws
        A uniform number for each row, which places it within its bin.
    """
    seen, out = int(counts.sum()), np.empty(len(above))
    for start in range(0, len(above), _BLOCK):
        block = slice(start, start + _BLOCK)
        bins = above[block]
        higher, same = _earlier_in_block(bins)
        higher += bins + np.concatenate([[0], np.cumsum(counts)])[bins]
        same += counts[bins]
        total = len(counts) + seen + start + np.arange(len(bins))
        out[block] = (higher + draws[block] * (1 + same)) / total
        np.add.at(counts, bins, 1)
    return out


def _earlier_in_block(bins: Bins) -> tuple[Bins, Bins]:
    """Return for each row how many earlier rows of the block have a higher score, and how many share its bin."""
    earlier = np.tri(len(bins), k=-1, dtype=bool)
    higher = ((bins[None, :] < bins[:, None]) & earlier).sum(axis=1)
    same = ((bins[None, :] == bins[:, None]) & earlier).sum(axis=1)
    return higher.astype(np.int64), same.astype(np.int64)
