"""HeldScores: the scores of held-back rows, one by one or in groups, and every decision that is read from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vecuq._check import Array
from vecuq.conformal.confidence import rate_interval, rate_with_confidence
from vecuq.conformal.groups import grouped_p_values, grouped_threshold, tail_weights
from vecuq.conformal.p_values import conformal_p_values, threshold_at
from vecuq.conformal.selection import deliverable, rows_needed


@dataclass(frozen=True, eq=False)
class HeldScores:
    """Scores of held-back rows, increasing, and the weight of each row where rows come in groups.

    Assumptions and promises are those of :func:`conformal_p_values` and, with weights, :func:`grouped_p_values`.

    Examples
    --------
    >>> held = HeldScores(np.array([1.0, 2.0, 3.0]))
    >>> held.count, held.p_values(np.array([9.0]))
    (3, array([0.25]))
    """

    scores: Array
    weights: Array | None = None  # one divided by the size of the row's group

    @property
    def unit(self) -> str:
        """What is counted: rows or groups."""
        return "rows" if self.weights is None else "groups"

    @cached_property
    def count(self) -> int:
        """How many rows there are or, where they come in groups, groups."""
        return len(self.scores) if self.weights is None else int(np.rint(self.weights.sum()))

    @cached_property
    def _tails(self) -> Array:
        return tail_weights(np.ones(len(self.scores)) if self.weights is None else self.weights)

    def p_values(self, scores: Array, draws: Array | None = None) -> Array:
        """Return the p-value of every score; ``draws`` break ties at random."""
        if self.weights is None:
            return conformal_p_values(scores, self.scores, draws)
        return grouped_p_values(scores, self.scores, self._tails, draws)

    def threshold(self, alpha: float) -> float:
        """Return the number above which, and only there, a p-value is at most ``alpha``."""
        if self.weights is None:
            return threshold_at(self.scores, alpha)
        return grouped_threshold(self.scores, self._tails, alpha)

    def above(self, threshold: float) -> float:
        """Return how many rows, or how much of the groups, exceed a threshold."""
        return float(self._tails[np.searchsorted(self.scores, threshold, side="right")])

    def rate(self, alpha: float, confidence: float | None = None, *, method: str = "none", n_rows: int = 1) -> float:
        """Return the rate to flag at; refuse an alpha that so many rows or groups cannot deliver."""
        if confidence is not None:
            return rate_with_confidence(alpha, confidence, self.count, groups=self.weights is not None)
        return deliverable(alpha, self.count, method=method, n_rows=n_rows, unit=self.unit)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return between which rates nine of ten calibration sets of this size flag in-distribution rows."""
        return rate_interval(alpha, self.count)


def none_selected(held: HeldScores, rate: float, n_rows: int, method: str = "bh") -> str:
    """Return why no row of a batch is selected if the reason is that so few rows were held back; else nothing.

    Examples
    --------
    >>> none_selected(HeldScores(np.arange(1000.0)), 0.05, 5_000)[:60]
    'No row is selected. With 1,000 held-back rows, no p-value is'
    """
    return none_selected_of(held.count, held.unit, rate, n_rows, method)


def none_selected_of(n_held: int, unit: str, rate: float, n_rows: int, method: str) -> str:
    """Return what :func:`none_selected` does, for so many held-back rows or groups."""
    needed = rows_needed(rate, n_held, n_rows, method)
    if needed <= 1:
        return ""
    return (
        f"No row is selected. With {n_held:,} held-back {unit}, no p-value is below "
        f"{1 / (n_held + 1):.2g}, so of {n_rows:,} rows at least {needed:,} must be that far out at once before "
        f"any is selected at alpha={rate:g}, however far out they are. What helps: more calibration rows, a larger "
        f"alpha, or `flag`, which decides row by row."
    )
