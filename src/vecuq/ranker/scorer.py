"""Scorer: how a row is scored. Scale, map, measure the image, add the tail; and the same for rows with holes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, finite_rows, one_of, refuse_holes
from vecuq.errors import CalibrationError, ModelFileError
from vecuq.ranker.diagnostics import Diagnostics
from vecuq.ranker.dominance import Dominance
from vecuq.ranker.missing import MISSING_CHOICES, Pattern, incomplete, marginal
from vecuq.ranker.rows import Kept
from vecuq.ranker.settings import Settings
from vecuq.table import Matching
from vecuq.transport import RankMap, Scaler


@dataclass(frozen=True, eq=False)
class Scorer:
    """All that was fitted, and from it the score of any row."""

    columns: tuple[str, ...]
    named: bool
    flipped: frozenset[str]
    active: tuple[int, ...]
    scaler: Scaler
    rank_map: RankMap
    low: Array
    high: Array
    calibration: Array
    settings: Settings
    diagnostics: Diagnostics
    kept: Kept
    dominance: Dominance | None = None

    @property
    def matching(self) -> Matching:
        """How the columns of new data are matched with the fitted ones."""
        return Matching(self.columns, self.named, self.flipped)

    def values_of(self, data: Any, *, missing: str = "nan") -> Array:
        """Return the score columns of ``data``, (rows, columns), in this ranker's order and direction."""
        one_of("missing", missing, MISSING_CHOICES)
        if missing == "marginal":
            self.need_kept_rows()
        values = self.matching.values_of(data, fill=missing == "marginal")
        if missing == "error":
            refuse_holes(values, self.columns)
        return values

    def rank_finite(self, values: Array, n_jobs: int | None = None) -> tuple[Array, Array]:
        """Return rank images and scores of rows that are known to be complete."""
        chosen = values if len(self.active) == len(self.columns) else values[:, self.active]
        scaled = self.scaler.transform(chosen)
        found = self.rank_map(scaled, n_jobs)
        if chosen is values:
            return found, self.score_scaled(scaled, found, n_jobs)
        images = np.zeros(values.shape)
        images[:, self.active] = found
        return images, self.score_scaled(scaled, images, n_jobs)

    def score_scaled(self, scaled: Array, images: Array, n_jobs: int | None = None) -> Array:
        """Return the length of the image with the tail: |R(z)| + overshoot * |distance beyond the calibration box|."""
        length = np.sqrt(_sum_of_squares(images))
        if self.dominance is not None:
            return self.dominance.score(length, scaled, n_jobs)
        if self.settings.overshoot == 0:
            return np.asarray(length)
        beyond = np.maximum(scaled - self.high, 0.0)
        if self.scaler.signed:
            beyond = np.maximum(beyond, self.low - scaled)
        return np.asarray(length + self.settings.overshoot * _norm(beyond))

    def groups(self, values: Array, *, marginally: bool) -> Iterator[tuple[tuple[int, ...], NDArray[np.intp] | slice]]:
        """Yield the rows that can be scored, by the columns that they lack; complete rows first, lacking none."""
        complete = finite_rows(values)
        # Without holes no row need be copied.
        yield (), slice(None) if complete.all() else np.flatnonzero(complete)
        if marginally and not complete.all():
            yield from incomplete(values, self.active)

    def rank_without(self, values: Array, absent: tuple[int, ...], n_jobs: int | None = None) -> tuple[Array, Array]:
        """Return images and scores of rows that lack some columns, on average over what these may hold."""
        if not absent:
            return self.rank_finite(values, n_jobs)
        return marginal(partial(self.rank_finite, n_jobs=n_jobs), values, absent, self.kept.draws)

    def pattern(self, absent: tuple[int, ...]) -> Pattern:
        """Return how scores without these columns compare with full ones; found once, then remembered."""
        known = self._patterns.get(absent)
        if known is None:
            scores = np.sort(self.rank_without(self.kept.held, absent)[1])
            known = self._patterns[absent] = Pattern(scores, np.sort(self.rank_finite(self.kept.held)[1]))
        return known

    @cached_property
    def _patterns(self) -> dict[tuple[int, ...], Pattern]:
        return {}

    @property
    def centre(self) -> Array:
        """The calibration median of every column, in the direction in which higher is more uncertain."""
        if np.isnan(self.kept.centre).any():
            raise ModelFileError(
                "This model was saved by a vecuq that did not keep the calibration medians, which reasons need. "
                "Fit and save it again."
            )
        return self.kept.centre

    def need_held_back(self) -> None:
        """Raise if no rows were held back, for then there are no p-values."""
        if not self.diagnostics.n_held:
            raise CalibrationError(
                "p-values need calibration rows that the map has not seen, and this ranker was fitted with holdback=0, "
                "with too few rows, or from a sketch. Fit rows with holdback=0.5, say."
            )

    def need_kept_rows(self) -> None:
        """Raise if no held-back rows are at hand to compare incomplete rows with."""
        if not len(self.kept.held) or not len(self.kept.draws):
            raise CalibrationError(
                "missing='marginal' compares a row with held-back rows that lack the same columns, and this ranker "
                "keeps none: it was fitted without holdback, or saved by an older vecuq. Fit rows with holdback=0.5."
            )


def _sum_of_squares(rows: Array) -> Array:
    """Add column by column: NumPy's own row sums round differently for one row than for many."""
    total = np.zeros(len(rows))
    for k in range(rows.shape[1]):
        total += rows[:, k] ** 2
    return total


def _norm(rows: Array) -> Array:
    """Euclidean length of each row, without overflow; the scale is a power of two, so that no digit is lost."""
    exponent = np.frexp(rows.max(axis=1, keepdims=True))[1]
    return np.asarray(np.ldexp(np.sqrt(_sum_of_squares(np.ldexp(rows, -exponent))), exponent[:, 0]))
