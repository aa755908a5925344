"""Ranker: what is said of new rows. Frozen, always fitted, row-wise and pure."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, one_of, told_holes, whole_number
from vecuq.conformal import (
    SELECTIONS,
    conformal_p_values,
    deliverable,
    flagged,
    luck_of,
    seed_of,
    selected,
    threshold_at,
)
from vecuq.errors import MissingValueWarning
from vecuq.ranker.explain import METHODS, gradient_values, shapley_values
from vecuq.ranker.reasons import leading_columns, sentences
from vecuq.ranker.scorer import Scorer
from vecuq.table import ScoreTable

if TYPE_CHECKING:
    from vecuq.conformal import Seed


@dataclass(frozen=True)
class Ranking:
    """What a ranker says of a table: one number per row, its place in the reference, and its p-value."""

    uncertainty: Array  # (rows,), higher = more uncertain
    images: Array  # (rows, columns)
    p_values: Array | None  # (rows,), None when no rows were held back


class How(TypedDict, total=False):
    """The choices of :meth:`Ranker.rank`, which every method that scores rows takes as well."""

    missing: str
    ties: str
    random_state: Seed
    n_jobs: int | None
    warn: bool


class Ranker(Scorer):
    """All it takes to rank new rows, and nothing more.

    Made by :func:`vecuq.fit_ranker` or :class:`vecuq.VecUQ`, kept by :meth:`save`, found again by
    :func:`vecuq.load`. A row's numbers depend on that row alone, to the last bit.
    """

    def rank(
        self,
        data: Any,
        *,
        missing: str = "nan",
        ties: str = "conservative",
        random_state: Seed = None,
        n_jobs: int | None = None,
        warn: bool = True,
    ) -> Ranking:
        """Return score, rank image and p-value of every row.

        Parameters
        ----------
        data
            New rows: anything a :class:`vecuq.ScoreTable` can be made of, by name or by position.
        missing
            What becomes of a row with NaN: ``"nan"``, no score; ``"error"``; or ``"marginal"``, the score that its
            other columns give it on average over the calibration law of the absent ones, with p-values of their own.
            These are valid if what is missing does not depend on the values. Where it does, say because a column
            is only filled in for easy rows, the incomplete rows are no longer like the held-back ones that they are
            compared with, and too many or too few are flagged.
        ties
            Held-back scores equal to a row's, to nine digits, count against it, ``"conservative"``, or a random number
            of them does, ``"randomised"``: then the p-values of one batch are exactly uniform, but depend on the place
            of a row in the batch.
        random_state
            Seed of randomised ties; None is a fixed seed too. Either gives the first row of every call the same luck:
            rows that come in several calls need one numpy Generator for all of them, which goes on where it stopped.
        n_jobs
            Threads among which many rows are shared, by default one per core.
        warn
            Whether one warning tells of rows that got no score.
        """
        if n_jobs is not None:
            whole_number("n_jobs", n_jobs, 1)
        values = self.values_of(data, missing=missing)
        luck = luck_of(ties, len(values), random_state)
        ranking = self._rank_values(values, luck, n_jobs, marginally=missing == "marginal")
        if warn:
            self._warn_missing(values, int(np.isnan(ranking.uncertainty).sum()), self.matching.absent_from(data))
        return ranking

    def uncertainty(self, data: Any, **how: Unpack[How]) -> Array:
        """Return one number per row; higher is more uncertain, NaN where a value is missing. See :meth:`rank`."""
        return self.rank(data, **how).uncertainty

    def transform(self, data: Any, **how: Unpack[How]) -> Array:
        """Return the rank images, shape (rows, columns); 0 in columns that were constant in calibration."""
        return self.rank(data, **how).images

    def p_values(self, data: Any, **how: Unpack[How]) -> Array:
        """Return conformal p-values: for in-distribution rows, P(p <= alpha) <= alpha for every alpha.

        ``p = (1 + #{held-back scores >= score}) / (n + 1)``; ties count against the row, which keeps the bound. For
        ``ties="randomised"``, rows in several calls, and rows with missing values see :meth:`rank`.
        """
        self.need_held_back()
        return np.asarray(self.rank(data, **how).p_values)

    def flag(self, data: Any, alpha: float | None = None, **how: Unpack[How]) -> NDArray[np.bool_]:
        """Return which rows are flagged: in-distribution rows with probability at most ``alpha`` each.

        Without an alpha, that of the settings is taken; one that the held-back rows cannot deliver is refused. A row
        that got no score is flagged, for nothing says that it is in-distribution.
        """
        rate = self.rate_of(alpha)
        return flagged(self.p_values(data, **how), rate)

    def select(
        self, data: Any, alpha: float | None = None, *, method: str = "bh", **how: Unpack[How]
    ) -> NDArray[np.bool_]:
        """Return the rows of a batch that are foreign, of which a share of at most ``alpha`` is wrong on average.

        ``method="bh"`` is the step-up rule of Benjamini and Hochberg, which holds for conformal p-values; ``"by"`` that
        of Benjamini and Yekutieli, which holds whatever the dependence; ``"none"`` controls the false-alarm rate of
        each row instead. With n held-back rows, ``"bh"`` can select from N rows only k >= N / (alpha (n + 1)) at once.
        A row that got no score is not selected.
        """
        one_of("method", method, SELECTIONS)
        self.rate_of(alpha)
        p_values = self.p_values(data, **how)
        return selected(p_values, self.rate_of(alpha, method=method, n_rows=len(p_values)), method)

    def threshold(self, alpha: float | None = None) -> float:
        """Return the score above which a row is flagged at false-alarm rate ``alpha``: p-values are at most that there.

        An ``alpha`` that the held-back rows cannot deliver is refused. Without one, the rate of the settings is
        taken, or the smallest that can be delivered; with nothing held back the rows of the map stand in, and no
        rate is guaranteed.
        """
        least = 1.0 / (len(self.calibration) + 1.0)
        rate = max(self.settings.alpha, least) if alpha is None else self.rate_of(alpha)
        return threshold_at(self.calibration, rate)

    def rate_of(self, alpha: float | None = None, *, method: str = "none", n_rows: int = 1) -> float:
        """Return the rate that decisions are made at, by default that of the settings; refuse what cannot be had."""
        self.need_held_back()
        asked = self.settings.alpha if alpha is None else alpha
        return deliverable(asked, len(self.calibration), method=method, n_rows=n_rows)

    @property
    def baseline(self) -> float:
        """The score of the calibration medians, from which contributions count."""
        return float(self.rank_finite(self.centre[None])[1][0])

    def explain(self, data: Any, *, method: str = "shapley", missing: str = "nan", n_jobs: int | None = None) -> Array:
        """Return contributions, (rows, columns): with :attr:`baseline` they add up to the score of each row.

        ``method="shapley"`` is exact, from 2 ** columns scores per row: how much each column changes the score when the
        columns are put from their calibration medians to their values in random order. ``"gradient"`` follows the
        straight way instead, at 2 * (columns + 1) scores. A column that is absent (``missing="marginal"``) contributes
        what its absence changes at the medians. NaN in rows that have no score.
        """
        one_of("method", method, METHODS)
        values = self.values_of(data, missing=missing)
        contributions = np.full(values.shape, np.nan)
        for absent, rows in self.groups(values, marginally=missing == "marginal"):
            contributions[rows] = self._contributions(values[rows], absent, method, n_jobs)
        return contributions

    def p_values_at_median(self, data: Any, **how: Unpack[How]) -> Array:
        """Return the p-value that each row would have with one column at its calibration median, (rows, columns)."""
        self.need_held_back()
        values = np.array(self.values_of(data, missing=how.get("missing", "nan")), dtype=float)
        out, quietly = np.empty(values.shape), how.copy()
        quietly["warn"] = False
        # One luck for all columns: only the column may make the difference.
        quietly["random_state"] = seed_of(how.get("random_state"))
        for k, median in enumerate(self.centre):
            moved = values.copy()
            moved[:, k] = median
            out[:, k] = self.p_values(self.as_table(moved), **quietly)
        return out

    def why(self, data: Any, *, missing: str = "nan", n_jobs: int | None = None) -> list[str]:
        """Return one short sentence per row: which column did it, and what p would be with that one at its median."""
        values = np.array(self.values_of(data, missing=missing), dtype=float)
        contributions = self.explain(self.as_table(values), missing=missing, n_jobs=n_jobs)
        return self.reasons(values, contributions, missing=missing)

    def reasons(self, values: Array, contributions: Array, *, missing: str = "nan") -> list[str]:
        """Return the sentences of :meth:`why` for rows whose contributions are known."""
        above = np.where(np.isfinite(values), values, np.nan) - self.centre
        above *= [-1.0 if name in self.flipped else 1.0 for name in self.columns]
        chance = None
        if self.diagnostics.n_held:
            lead, moved = leading_columns(contributions), values.copy()
            moved[np.arange(len(values)), lead] = self.centre[lead]
            chance = self.rank(self.as_table(moved), missing=missing, warn=False).p_values
        return sentences(self.columns, contributions, above, chance)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ranker to one file, whole or not at all."""
        from vecuq.ranker.artefact import save_ranker

        save_ranker(self, path)

    def as_table(self, values: Array) -> ScoreTable:
        """Return values in this ranker's order and direction as a table that it takes."""
        return ScoreTable(self.columns, values, flipped=self.flipped)

    def _rank_values(self, values: Array, luck: Array | None, n_jobs: int | None, *, marginally: bool) -> Ranking:
        groups = list(self.groups(values, marginally=marginally))
        if isinstance(groups[0][1], slice):  # every row is complete, so none need be put in its place
            images, score = self.rank_finite(values, n_jobs)
            chance = conformal_p_values(score, self.calibration, luck) if self.diagnostics.n_held else None
            return Ranking(score, images, chance)
        images, score = np.full(values.shape, np.nan), np.full(len(values), np.nan)
        p_values = score.copy() if self.diagnostics.n_held else None
        for absent, rows in groups:
            images[rows], found = self.rank_without(values[rows], absent, n_jobs)
            known = self.pattern(absent).scores if absent else self.calibration
            score[rows] = self.pattern(absent).worth(found) if absent else found
            if p_values is not None:
                p_values[rows] = conformal_p_values(found, known, None if luck is None else luck[rows])
        return Ranking(score, images, p_values)

    def _contributions(self, rows: Array, absent: tuple[int, ...], method: str, n_jobs: int | None) -> Array:
        """Return the contributions of rows that lack the same columns."""
        players = [k for k in self.active if k not in absent]
        values_of = shapley_values if method == "shapley" else gradient_values
        score = partial(self._score_of, players, absent, n_jobs)
        out = np.zeros(rows.shape)
        out[:, players] = values_of(score, np.asarray(rows[:, players], dtype=float), self.centre[players])
        if absent:
            lost = float(score(self.centre[None, players])[0]) - self.baseline
            out[:, absent] = lost / len(absent)
        return out

    def _score_of(self, players: list[int], absent: tuple[int, ...], n_jobs: int | None, points: Array) -> Array:
        rows = np.tile(self.centre, (len(points), 1))
        rows[:, players] = points
        found = self.rank_without(rows, absent, n_jobs)[1]
        return self.pattern(absent).worth(found) if absent else found

    def _warn_missing(self, values: Array, n_lost: int, absent: list[str]) -> None:
        if absent:
            warnings.warn(f"The table lacks {absent}; rows are scored without.", MissingValueWarning, stacklevel=4)
        if n_lost:
            holes = f"{n_lost:,} of {len(values):,} rows have missing or infinite scores"
            told = f"{holes} ({told_holes(values, self.columns)}); their uncertainty is NaN."
            warnings.warn(told, MissingValueWarning, stacklevel=4)
