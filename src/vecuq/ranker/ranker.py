"""Ranker: all that was fitted, and what it says of new rows. Frozen, always fitted, row-wise and pure."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, count_missing, one_of, refuse_incomplete, warn_user
from vecuq._files import tensor_bytes, write_atomic, write_tensors
from vecuq.conformal import (
    SELECTIONS,
    HeldScores,
    Seed,
    flagged,
    none_selected,
    seed_of,
    selected,
    tie_draws,
)
from vecuq.errors import (
    CalibrationError,
    CalibrationWarning,
    MissingValueWarning,
    ModelFileError,
    SettingError,
    TableError,
)
from vecuq.options import MISSING
from vecuq.ranker.describe import describe_ranker, line_of
from vecuq.ranker.diagnostics import Diagnostics
from vecuq.ranker.displays import card_of
from vecuq.ranker.explain import METHODS, contributions_of
from vecuq.ranker.missing import IncompleteRows, by_missing_columns
from vecuq.ranker.overlap import Overlap, overlap_of
from vecuq.ranker.ranking import How, Ranking
from vecuq.ranker.reasons import leading_columns, sentences
from vecuq.ranker.rows import Kept
from vecuq.ranker.settings import Settings
from vecuq.table import Fingerprints, Matching, ScoreTable
from vecuq.transport import RankMap, Scaler, lengths, sums_of_squares


@dataclass(frozen=True, eq=False, repr=False)
class Ranker:
    """All it takes to rank new rows, and nothing more.

    Made by :func:`vecuq.fit_ranker` or :class:`vecuq.VecUQ`, kept by :meth:`save`, found again by
    :func:`vecuq.load`. A row's numbers depend on that row alone, to the last bit.

    Attributes
    ----------
    columns
        Names of the score columns.
    named
        Whether new rows are matched by these names rather than by position.
    flipped
        The columns in which higher means more confident.
    active
        Places of the columns that vary over the map's rows; the others have no influence.
    scaler
        Brings the active columns to one scale.
    rank_map
        The fitted map, from scaled rows to rank images.
    low, high
        Smallest and largest scaled value of each active column over the map's rows: the calibration box.
    calibration_scores
        Uncertainty of the held-back rows, increasing; of the map's rows where none were held back.
    kept
        What is kept of the calibration rows: medians, held-back rows, and draws for missing values.
    settings
        The choices of the method.
    diagnostics
        How the fit went.
    prints
        Fingerprints of the rows that fitted the map; None in models saved by vecuq 0.1.
    """

    columns: tuple[str, ...]
    named: bool
    flipped: frozenset[str]
    active: tuple[int, ...]
    scaler: Scaler
    rank_map: RankMap
    low: Array
    high: Array
    calibration_scores: Array
    kept: Kept
    settings: Settings
    diagnostics: Diagnostics
    prints: Fingerprints | None = None

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
            Seed of randomised ties; None is a fixed seed too. Either gives the first row of every call the same draw:
            rows that come in several calls need one numpy Generator for all of them, which goes on where it stopped.
        n_jobs
            Threads among which many rows are shared, as in scikit-learn: None is 1, -1 all cores.
        warn
            Whether to warn once of rows without a score.
        """
        values = self.values_of(data, missing=missing)
        draws = tie_draws(ties, len(values), random_state)
        ranking = self._rank_values(values, draws, n_jobs, marginally=missing == "marginal")
        if warn:
            absent = self.matching.absent_from(data) if missing == "marginal" else []
            self._warn_missing(values, int(np.isnan(ranking.uncertainty).sum()), absent)
        return ranking

    def uncertainty(self, data: Any, **how: Unpack[How]) -> Array:
        """Return one number per row; higher is more uncertain, NaN where a value is missing. See :meth:`rank`."""
        return self.rank(data, **how).uncertainty

    def transform(self, data: Any, **how: Unpack[How]) -> Array:
        """Return the rank images, shape (rows, columns); 0 in columns that were constant in calibration."""
        return self.rank(data, **how).images

    def p_values(self, data: Any, **how: Unpack[How]) -> Array:
        """Return conformal p-values: for in-distribution rows, P(p <= alpha) <= alpha for every alpha.

        This holds if new rows are exchangeable with the calibration rows, and on average over calibration sets
        (:func:`vecuq.conformal.conformal_p_values`). Rows that come in sessions or depend on time are not exchangeable.

        ``p = (1 + #{held-back scores >= score}) / (n + 1)``; ties count against the row, which keeps the bound. For
        ``ties="randomised"``, rows in several calls, and rows with missing values see :meth:`rank`.
        """
        self.require_held_back()
        return np.asarray(self.rank(data, **how).p_values)

    def flag(
        self, data: Any, alpha: float | None = None, *, confidence: float | None = None, **how: Unpack[How]
    ) -> NDArray[np.bool_]:
        """Return which rows are flagged: in-distribution rows with probability at most ``alpha`` each.

        The promise is that of :meth:`p_values`. Without an alpha, that of the settings is taken; one that the held-back
        rows cannot deliver is refused. A row without a score is flagged: nothing says that it is in-distribution.

        ``confidence=0.9`` promises more: of ten calibration sets, nine flag at most a share ``alpha`` of all new
        in-distribution rows (:func:`vecuq.conformal.rate_with_confidence`). Without it the rate is ``alpha`` on
        average over calibration sets, and nearly half of them flag more.
        """
        rate = self.flag_rate(alpha, confidence=confidence, **how)
        return flagged(self.p_values(data, **how), rate)

    def flag_rate(self, alpha: float | None = None, *, confidence: float | None = None, **how: Unpack[How]) -> float:
        """Return the p-value up to which :meth:`flag` flags; refuse what the held-back rows cannot deliver."""
        if confidence is None:
            return self.rate_of(alpha)
        if how.get("ties") == "randomised":
            raise SettingError("confidence is promised for ties='conservative' only. Leave ties or confidence out.")
        self.require_held_back()
        wanted = self.settings.alpha if alpha is None else alpha
        rate = self.held.rate(wanted, confidence)
        if how.get("missing") == "marginal" and len(self.kept.held) < self.held.count:  # some are draws in a stream
            rate = min(rate, HeldScores(self.calibration_scores[: len(self.kept.held)]).rate(wanted, confidence))
        return rate

    def select(
        self, data: Any, alpha: float | None = None, *, method: str = "bh", **how: Unpack[How]
    ) -> NDArray[np.bool_]:
        """Return the out-of-distribution rows of a batch, of which a share of at most ``alpha`` is wrong on average.

        ``method="bh"`` is the step-up rule of Benjamini and Hochberg, which holds for conformal p-values; ``"by"`` that
        of Benjamini and Yekutieli, which holds whatever the dependence; ``"none"`` controls the false-alarm rate of
        each row instead. With n held-back rows, ``"bh"`` can select from N rows only k >= N / (alpha (n + 1)) at once.
        If that is why none is selected, a warning says so. A row that got no score is not selected.

        The promise is about this one batch. Over many batches the share of wrong rows among all that were selected
        may be larger: in 250 batches of 50 rows it was 25 % at alpha 0.1.
        """
        one_of("method", method, SELECTIONS)
        self.rate_of(alpha)
        p_values = self.p_values(data, **how)
        rate = self.rate_of(alpha, method=method, n_rows=len(p_values))
        found = selected(p_values, rate, method)
        if not found.any():
            self.warn_none_selected(rate, method=method, n_rows=int((~np.isnan(p_values)).sum()))
        return found

    def warn_none_selected(self, rate: float, *, method: str, n_rows: int) -> None:
        """Warn, if no row is selected, that so few held-back rows select many rows at once or none."""
        said = self.why_none_selected(rate, method=method, n_rows=n_rows)
        if said:
            warn_user(said, CalibrationWarning)

    def why_none_selected(self, rate: float, *, method: str, n_rows: int) -> str:
        """Return why no row is selected if so few held-back rows are the reason; else nothing."""
        return none_selected(self.held, rate, n_rows, method)

    def threshold(self, alpha: float | None = None, *, confidence: float | None = None) -> float:
        """Return the score above which a row is flagged at false-alarm rate ``alpha``: p-values are at most that there.

        An ``alpha`` that the held-back rows cannot deliver is refused. Without one, the rate of the settings is
        taken, or the smallest that can be delivered; with nothing held back the rows of the map stand in, and no
        rate is guaranteed. For ``confidence`` see :meth:`flag`.
        """
        if confidence is not None:
            return self.held.threshold(self.flag_rate(alpha, confidence=confidence))
        least = 1.0 / (self.held.count + 1.0)
        rate = max(self.settings.alpha, least) if alpha is None else self.rate_of(alpha)
        return self.held.threshold(rate)

    @cached_property
    def held(self) -> HeldScores:
        """The scores of the held-back rows, with weights where the rows come in groups; what decisions are read from.

        Where none were held back, those of the map's rows.
        """
        return HeldScores(self.calibration_scores, self.kept.weights)

    @property
    def n_groups(self) -> int | None:
        """How many groups were held back; None where rows do not come in groups."""
        return None if self.held.weights is None else self.held.count

    @property
    def offset(self) -> float:
        """Minus the score above which :meth:`predict` finds outliers at the rate of the settings.

        Minus infinity if the held-back rows cannot deliver that rate. Without held-back rows the rows of the map stand
        in, and no rate is promised.
        """
        if not self.diagnostics.n_held:
            return -self.threshold()
        return -self.held.threshold(self.settings.alpha)

    def predict(self, data: Any, **how: Unpack[How]) -> NDArray[np.int_]:
        """Return +1 for inliers and -1 for outliers, as scikit-learn does; a row without a score is an error."""
        ranking = self.rank_scored(data, **how)
        if self.n_groups is not None:  # incomplete rows too: their scores keep the place among rows, not among groups
            return np.where(flagged(np.asarray(ranking.p_values), self.settings.alpha), -1, 1)
        return np.where(-ranking.uncertainty - self.offset >= 0, 1, -1)

    def score_samples(self, data: Any, **how: Unpack[How]) -> Array:
        """Return -uncertainty: the scikit-learn sign, higher = more normal."""
        return -self.uncertainty(data, **how)

    def decision_function(self, data: Any, **how: Unpack[How]) -> Array:
        """Return ``score_samples - offset``: negative for outliers at the rate of the settings."""
        return self.score_samples(data, **how) - self.offset

    def rank_scored(self, data: Any, **how: Unpack[How]) -> Ranking:
        """Return what :meth:`rank` returns; a row without a score is an error."""
        quietly = how.copy()
        quietly["warn"] = False
        ranking = self.rank(data, **quietly)
        if np.isnan(ranking.uncertainty).any():
            raise TableError(
                "These rows contain NaN or inf, and predict and transform need every value. Drop such rows, use "
                "uncertainty, which scores them NaN, or missing='marginal', which scores what is there."
            )
        return ranking

    def rate_of(self, alpha: float | None = None, *, method: str = "none", n_rows: int = 1) -> float:
        """Return the rate that decisions are made at, by default that of the settings; refuse what cannot be had."""
        self.require_held_back()
        wanted = self.settings.alpha if alpha is None else alpha
        return self.held.rate(wanted, method=method, n_rows=n_rows)

    @property
    def baseline(self) -> float:
        """The score of the calibration medians, from which contributions count."""
        return float(self.rank_complete(self.centre[None])[1][0])

    def explain(self, data: Any, *, method: str = "auto", missing: str = "nan", n_jobs: int | None = None) -> Array:
        """Return contributions, (rows, columns): with :attr:`baseline` they add up to the score of each row.

        ``method="shapley"`` is exact, from 2 ** columns scores per row: how much each column changes the score when the
        columns are put from their calibration medians to their values in random order. ``"gradient"`` follows the
        straight way instead, at 2 * (columns + 1) scores. ``"auto"`` is the first for up to ten varying columns, the
        second for more. A column that is absent (``missing="marginal"``) contributes
        what its absence changes at the medians. NaN in rows that have no score.
        """
        one_of("method", method, METHODS)
        values = self.values_of(data, missing=missing)
        contributions = np.full(values.shape, np.nan)
        for absent, rows in by_missing_columns(values, self.active, marginally=missing == "marginal"):
            score = partial(self._incomplete.score, absent=absent, n_jobs=n_jobs)
            players = [k for k in self.active if k not in absent]
            found = contributions_of(score, values[rows], self.centre, players, method)
            if absent:
                lost = float(score(self.centre[None])[0]) - self.baseline
                found[:, absent] = lost / len(absent)
            contributions[rows] = found
        return contributions

    def p_values_at_median(self, data: Any, **how: Unpack[How]) -> Array:
        """Return the p-value that each row would have with one column at its calibration median, (rows, columns)."""
        self.require_held_back()
        values = np.array(self.values_of(data, missing=how.get("missing", "nan")), dtype=float)
        out, quietly = np.empty(values.shape), how.copy()
        quietly["warn"] = False
        # The same draws for all columns: only the column may make the difference.
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
        from vecuq.ranker.artefact import parts_of

        write_tensors(path, *parts_of(self))

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write."""
        from vecuq.ranker.artefact import parts_of

        return tensor_bytes(*parts_of(self))

    def to_onnx(self, path: str | os.PathLike[str], *, p_values: bool = True) -> None:
        """Write the ranker as an ONNX file, whole or not at all; needs the extra ``onnx``.

        Input ``scores``, (rows, columns) in float64, in this ranker's order of columns and as the user has them;
        outputs ``uncertainty`` and, if rows were held back, ``p_value``: those of :meth:`rank`, to 1e-12.
        """
        from vecuq.ranker.export import onnx_bytes

        write_atomic(path, onnx_bytes(self, p_values=p_values))

    def to_json(self, *, p_values: bool = True) -> str:
        """Return all that scoring needs as JSON text, for the script of :func:`vecuq.ranker.scorer_source`."""
        from vecuq.ranker.export import json_of

        return json_of(self, p_values=p_values)

    def rank_batch(self, batch: Any, **how: Unpack[How]) -> Any:
        """Return a pyarrow RecordBatch or Table with ``uncertainty`` and ``p_value`` added; see :meth:`rank`."""
        from vecuq.ranker.batches import ranked_batch

        return ranked_batch(self, batch, **how)

    def overlap(self, data: Any) -> Overlap:
        """Return which rows match those that this ranker was made of: the map's, the weights', the held-back ones.

        Rows are compared by value. Labelled rows for a decision with a promise must be others than the map's and the
        weights'; scores that take few values match by chance, as often as the held-back rows do.
        """
        return overlap_of(self, self.values_of(data))

    def describe(self) -> dict[str, Any]:
        """Return columns, directions, rows, thresholds, settings and diagnostics as plain values."""
        return describe_ranker(self)

    def __repr__(self) -> str:
        return line_of(self)

    def _repr_html_(self) -> str:
        return card_of(self, "Ranker")

    @property
    def matching(self) -> Matching:
        """How the columns of new data are matched with the fitted ones."""
        return Matching(self.columns, self.named, self.flipped)

    def values_of(self, data: Any, *, missing: str = "nan") -> Array:
        """Return the score columns of ``data``, (rows, columns), in this ranker's order and direction."""
        one_of("missing", missing, MISSING)
        if missing == "marginal":
            self.require_kept_rows()
        values = self.matching.values_of(data, fill=missing == "marginal")
        if missing == "error":
            refuse_incomplete(values, self.columns)
        return values

    def as_table(self, values: Array) -> ScoreTable:
        """Return values in this ranker's order and direction as a table that it takes."""
        return ScoreTable(self.columns, values, flipped=self.flipped)

    def rank_complete(self, values: Array, n_jobs: int | None = None) -> tuple[Array, Array]:
        """Return rank images and scores of complete rows, an array in this ranker's order and direction."""
        chosen = values if len(self.active) == len(self.columns) else values[:, self.active]
        scaled = self.scaler.transform(chosen)
        found = self.rank_map(scaled, n_jobs)
        if chosen is values:
            return found, self.score_scaled(scaled, found)
        images = np.zeros(values.shape)
        images[:, self.active] = found
        return images, self.score_scaled(scaled, images)

    def score_scaled(self, scaled: Array, images: Array) -> Array:
        """Return ``|R(z)| + overshoot * |distance beyond the calibration box|`` of scaled rows and their images."""
        length = sums_of_squares(images)
        np.sqrt(length, out=length)
        if self.settings.overshoot == 0:
            return length
        beyond = np.maximum(scaled - self.high, 0.0)
        if self.scaler.signed:
            beyond = np.maximum(beyond, self.low - scaled)
        out = np.flatnonzero(beyond.any(axis=1))
        if len(out):
            length[out] += self.settings.overshoot * lengths(beyond[out])
        return length

    @property
    def has_p_values(self) -> bool:
        """Whether rows were held back, without which there are no p-values."""
        return bool(self.diagnostics.n_held)

    def require_held_back(self) -> None:
        """Raise if no rows were held back, for then there are no p-values."""
        if not self.has_p_values:
            raise CalibrationError(
                "p-values need calibration rows that the map has not seen, and this model was fitted with holdback=0, "
                "with too few rows, or from a sketch. Fit rows, for example with holdback=0.5."
            )

    def require_kept_rows(self) -> None:
        """Raise if no held-back rows are kept with which incomplete rows could be compared."""
        if not len(self.kept.held) or not len(self.kept.draws):
            raise CalibrationError(
                "missing='marginal' compares a row with held-back rows that lack the same columns, and this model "
                "keeps none: it was fitted without holdback, or saved by an older vecuq. Fit rows with holdback=0.5."
            )

    @property
    def centre(self) -> Array:
        """The calibration median of every column, in the direction in which higher is more uncertain."""
        if np.isnan(self.kept.centre).any():
            raise ModelFileError(
                "This model was saved by a vecuq that did not keep the calibration medians, which reasons need. "
                "Fit and save it again."
            )
        return self.kept.centre

    def _rank_values(self, values: Array, draws: Array | None, n_jobs: int | None, *, marginally: bool) -> Ranking:
        groups = list(by_missing_columns(values, self.active, marginally=marginally))
        if groups and isinstance(groups[0][1], slice):  # every row is complete, so none need be put in its place
            images, score = self.rank_complete(values, n_jobs)
            chance = self.held.p_values(score, draws) if self.diagnostics.n_held else None
            return Ranking(score, images, chance)
        images, score = np.full(values.shape, np.nan), np.full(len(values), np.nan)
        p_values = score.copy() if self.diagnostics.n_held else None
        for absent, rows in groups:
            images[rows], found = self._incomplete.rank(values[rows], absent, n_jobs)
            known = self._incomplete.pattern(absent).held if absent else self.held
            score[rows] = self._incomplete.pattern(absent).as_full_scores(found) if absent else found
            if p_values is not None:
                p_values[rows] = known.p_values(found, None if draws is None else draws[rows])
        return Ranking(score, images, p_values)

    @cached_property
    def _incomplete(self) -> IncompleteRows:
        """How rows with missing values are scored."""
        return IncompleteRows(self.rank_complete, self.kept)

    def _warn_missing(self, values: Array, n_lost: int, absent: list[str]) -> None:
        if absent:
            warn_user(f"The table lacks {absent}; rows are scored without.", MissingValueWarning)
        if n_lost:
            warn_user(
                f"{n_lost:,} of {len(values):,} rows have missing or infinite scores "
                f"({count_missing(values, self.columns)}); their uncertainty is NaN.",
                MissingValueWarning,
            )


def as_ranker(model: Any) -> Ranker:
    """Return a ranker, or the one inside a fitted estimator; anything else is an error."""
    found = getattr(model, "ranker_", model)
    if isinstance(found, Ranker) and found.settings.holdback == "cross":
        raise SettingError("This needs rows that one map holds back, and holdback='cross' has five maps. Fit a share.")
    if isinstance(found, Ranker):
        return found
    raise TableError(
        f"A fitted VecUQ or a Ranker is needed; got {type(model).__name__}. Fit it first, or read a saved one with "
        f"vecuq.load."
    )
