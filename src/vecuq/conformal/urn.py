r"""Online ranks: from a place among the calibration scores to p-values that are independent and uniform.

p-values against a fixed calibration set share that set, so a long stream of them is not a stream of independent
numbers: one unusual calibration set makes all of them too small. Here every row joins the set after it was ranked.
With :math:`n` calibration scores there are :math:`n + 1` bins; a bin that has taken :math:`c` rows weighs
:math:`1 + c` (a Polya urn), and

.. math:: p_t = \frac{\sum_{\text{bins above}} (1 + c) + U_t (1 + c_{\text{own}})}{n + t}

is exactly uniform and independent of all earlier ones, if calibration rows and stream are exchangeable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.conformal.ties import around

Bins = NDArray[np.int64]

# Rows are compared with each other in blocks of this size, and with everything before the block by a cumulative sum.
_BLOCK = 512


@dataclass(frozen=True)
class SortedScores:
    """Calibration scores of one stream, sorted; equal ones are ordered by a random number of their own.

    Scores count as equal within a tolerance (:func:`vecuq.conformal.around`): another processor may add in
    another order, and a row must tie there with the calibration rows with which it ties here.
    """

    scores: Array
    breakers: Array  # in (0, 1), increasing among equal scores

    @staticmethod
    def of(scores: Array, seed: tuple[int, ...]) -> SortedScores:
        """Sort the scores and draw what breaks their ties."""
        ordered = np.sort(np.asarray(scores, dtype=float))
        drawn = np.random.default_rng(seed).random(len(ordered))
        return SortedScores(ordered, drawn[np.lexsort((drawn, SortedScores(ordered, drawn)._first_equal))])

    @property
    def has_ties(self) -> bool:
        """Whether any two calibration scores are equal."""
        return len(self._starts) < len(self.scores)

    @property
    def in_order(self) -> bool:
        """Whether scores increase, and among equal ones what breaks their ties."""
        return all(bool((kept[1:] >= kept[:-1]).all()) for kept in (self.scores, self._keys))

    def bins_above(self, scores: Array, breakers: Array) -> Bins:
        """Return how many calibration scores lie above each score, ties broken at random: 0 to n."""
        group = self._groups_of(scores)
        tied = group >= 0
        below = np.searchsorted(self.scores, scores, side="left")
        # A group of equal scores starts at its first place, and its breakers fill the unit interval above that.
        below[tied] = np.searchsorted(self._keys, self._starts[group[tied]] + breakers[tied])
        return np.asarray(len(self.scores) - below, dtype=np.int64)

    def _groups_of(self, scores: Array) -> Bins:
        """Return which group of equal calibration scores each score belongs to; -1 for none."""
        anchors = self.scores[self._starts]
        group = np.searchsorted(anchors, scores, side="right") - 1
        inside = (group >= 0) & (scores <= around(anchors)[1][group])
        # The first of the next group may lie within the tolerance above the score.
        near = np.searchsorted(anchors, around(scores)[1], side="right") - 1
        return np.where(inside, group, np.where(near > group, near, -1)).astype(np.int64)

    @cached_property
    def _starts(self) -> Bins:
        """The places at which groups of equal scores start: none is wider than the tolerance."""
        after = np.searchsorted(self.scores, around(self.scores)[1], side="right").tolist()
        starts, place = [], 0
        while place < len(after):
            starts.append(place)
            place = after[place]
        return np.array(starts, dtype=np.int64)

    @cached_property
    def _first_equal(self) -> Bins:
        """The place at which the group of each score starts."""
        return np.repeat(self._starts, np.diff(self._starts, append=len(self.scores)))

    @cached_property
    def _keys(self) -> Array:
        return np.asarray(self._first_equal + self.breakers)


def uniform_ranks(above: Bins, counts: Bins, draws: Array) -> Array:
    """Return the online p-value of each row in turn, and let the row join ``counts``, in place.

    **Assumption.** Calibration rows and the rows of the stream, in their order, are exchangeable. Rows that depend on
    each other in time, or that come in sessions, are not.

    **Promise.** The p-values are independent and uniform on (0, 1), whatever the law of the scores.

    **Theorem.** Sequential ranks of exchangeable numbers are independent: Vovk, Nouretdinov and Gammerman, *Testing
    exchangeability on-line*, ICML (2003).

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
