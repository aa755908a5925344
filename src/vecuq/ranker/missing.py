r"""Rows with missing values: what the map says of them when the absent columns follow their calibration law.

.. math:: u_S(s_S) = E_y\, u(s_S, y), \qquad R_S(s_S) = E_y\, R(s_S, y),

with y the absent columns of calibration rows, a few of which every ranker keeps. An average moves less than what it
averages, so the held-back rows are scored without these columns too: p-values are read from those scores, and each
score becomes the full score at the same place in the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, finite_rows
from vecuq._run import spans
from vecuq.conformal import HeldScores, after, around, last_equal
from vecuq.ranker.rows import Kept

Rows = NDArray[np.intp]
Score = Callable[..., tuple[Array, Array]]
# Rows times draws that are scored at once; bounds the memory.
_AT_ONCE = 2**18
# Sets of absent columns that are remembered: all that ten columns have.
_MOST_PATTERNS = 2**10


@dataclass(frozen=True, eq=False)
class Pattern:
    """How scores of rows without some columns compare with those of complete rows."""

    scores: Array  # of the held-back rows without these columns, increasing
    full: Array  # of the same rows with all columns, increasing
    weights: Array | None = None  # of the rows of `scores`, where rows come in groups

    @cached_property
    def held(self) -> HeldScores:
        """What p-values of rows without these columns are read from."""
        return HeldScores(self.scores, self.weights)

    @cached_property
    def _beyond(self) -> Array:
        """The smallest numbers that exceed each full score by more than a tie."""
        return after(last_equal(self.full))

    def as_full_scores(self, scores: Array) -> Array:
        """Return the full score at the same place in the order; beyond the largest, the excess is added as it is.

        It exceeds as many full scores as ``scores`` exceeds scores without these columns, so that thresholds and
        p-values agree, unless the full scores themselves tie.
        """
        lower, higher = around(scores)
        place = np.searchsorted(self.scores, lower, side="left")  # so many are exceeded
        left, right = np.maximum(place - 1, 0), np.minimum(place, len(self.full) - 1)
        tied = (higher >= self.scores[right]) & (place < len(self.full))
        inside = np.minimum(np.maximum(self._between(scores, left, right), self._beyond[left]), self.full[right])
        past = np.maximum(self.full[-1] + (scores - self.scores[-1]), self._beyond[-1])
        found = np.where(place == len(self.full), past, np.where(tied, self.full[right], inside))
        return np.where((place == 0) & ~tied, self._before(scores), found)

    def _between(self, scores: Array, left: Rows, right: Rows) -> Array:
        """Go from one full score to the next as the score goes from one place to the next."""
        gap = self.scores[right] - self.scores[left]
        share = np.clip((scores - self.scores[left]) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)
        return np.asarray(self.full[left] + share * (self.full[right] - self.full[left]))

    def _before(self, scores: Array) -> Array:
        """Go from zero to the smallest full score as the score goes to the smallest place."""
        first = self.scores[0]
        return self.full[0] * np.minimum(scores / first, 1.0) if first > 0 else np.full(len(scores), self.full[0])


class IncompleteRows:
    """How a ranker scores rows that lack some columns: on average over what these may hold."""

    def __init__(self, rank_complete: Score, kept: Kept) -> None:
        self._rank_complete, self._kept = rank_complete, kept
        self._patterns: dict[tuple[int, ...], Pattern] = {}

    def rank(self, rows: Array, absent: tuple[int, ...], n_jobs: int | None = None) -> tuple[Array, Array]:
        """Return rank images and scores of rows that lack the same columns; complete rows lack none."""
        score = partial(self._rank_complete, n_jobs=n_jobs)
        return marginal(score, rows, absent, self._kept.draws) if absent else score(rows)

    def score(self, rows: Array, *, absent: tuple[int, ...], n_jobs: int | None = None) -> Array:
        """Return scores that compare with those of complete rows."""
        found = self.rank(rows, absent, n_jobs)[1]
        return self.pattern(absent).as_full_scores(found) if absent else found

    def pattern(self, absent: tuple[int, ...]) -> Pattern:
        """Return how scores without these columns compare with full ones; found once, then remembered."""
        known = self._patterns.get(absent)
        if known is None:
            scores, weights = self.rank(self._kept.held, absent)[1], self._kept.weights
            order, full = np.argsort(scores, kind="stable"), np.sort(self._rank_complete(self._kept.held)[1])
            known = Pattern(scores[order], full, None if weights is None else weights[order])
            if len(self._patterns) >= _MOST_PATTERNS:  # the oldest goes
                del self._patterns[next(iter(self._patterns))]
            self._patterns[absent] = known
        return known


def by_missing_columns(
    values: Array, active: tuple[int, ...], *, marginally: bool
) -> Iterator[tuple[tuple[int, ...], Rows | slice]]:
    """Yield the rows that can be scored, by the columns that they lack; complete rows first, lacking none."""
    complete = finite_rows(values)
    if complete.all():  # no row need be copied
        yield (), slice(None)
        return
    if complete.any():
        yield (), np.flatnonzero(complete)
    if marginally:
        yield from incomplete(values, active)


def incomplete(values: Array, active: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Rows]]:
    """Yield each set of active columns that rows lack, with these rows; one that has no active column is left out.

    An infinite value is not a missing one: it may well be why the row deserves a look.
    """
    lost = np.isnan(values)
    scored = lost.any(axis=1) & ~lost[:, active].all(axis=1) & ~np.isinf(values).any(axis=1)
    rows = np.flatnonzero(scored)
    if len(rows) == 1:  # sorting patterns takes longer than all the rest
        yield tuple(k for k in active if lost[rows[0], k]), rows
        return
    shown, member = np.unique(lost[rows][:, active], axis=0, return_inverse=True)
    for number, pattern in enumerate(shown):
        absent = tuple(k for k, gone in zip(active, pattern, strict=True) if gone)
        yield absent, rows[member.reshape(-1) == number]


def marginal(score: Score, rows: Array, absent: tuple[int, ...], draws: Array) -> tuple[Array, Array]:
    """Return rank images and scores of rows, averaged over the draws in the absent columns."""
    rows = np.asarray(rows, dtype=float)
    images, scores = np.empty(rows.shape), np.empty(len(rows))
    for span in spans(len(rows), max(1, _AT_ONCE // len(draws))):
        images[span], scores[span] = _averaged(score, rows[span], absent, draws)
    return images, scores


def _averaged(score: Score, rows: Array, absent: tuple[int, ...], draws: Array) -> tuple[Array, Array]:
    filled = np.tile(rows, (len(draws), 1, 1))
    filled[:, :, absent] = draws[:, None, absent]
    images, scores = score(filled.reshape(-1, rows.shape[1]))
    image_sum, score_sum = np.zeros(rows.shape), np.zeros(len(rows))
    # Added one after the other: NumPy's own sums round differently for one row than for many.
    for image, value in zip(images.reshape(filled.shape), scores.reshape(len(draws), -1), strict=True):
        image_sum += image
        score_sum += value
    return image_sum / len(draws), score_sum / len(draws)
