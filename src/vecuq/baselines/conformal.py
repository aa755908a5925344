"""Conformal: p-values, flags and thresholds for any other combiner, and for a single column."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from vecuq._check import Array, in_range, one_of, refuse_missing, warn_user, whole_number
from vecuq._files import tensor_bytes, write_tensors
from vecuq.baselines.combiner import Combiner
from vecuq.baselines.registry import baselines
from vecuq.baselines.sums import sum as raw_sum
from vecuq.conformal import (
    SELECTIONS,
    HeldScores,
    Seed,
    flagged,
    group_codes,
    group_weights,
    none_selected,
    selected,
    split_groups,
    split_rows,
    tie_draws,
)
from vecuq.errors import CalibrationError, CalibrationWarning, SettingError
from vecuq.table import warn_of_columns


class Conformal(BaseEstimator):  # type: ignore[misc]
    """The decisions of :class:`vecuq.VecUQ` for another order: a combiner of ``vecuq.baselines``, or one column.

    The split into rows that the combiner learns from and held-back rows is the same as there.

    Parameters
    ----------
    score
        An unfitted combiner such as ``vecuq.baselines.fisher()``, whose ``columns`` and ``flip`` apply, or the name of
        a column that is the score itself.
    flip
        For a column: whether higher means more confident in it.
    holdback
        Share of the calibration rows that is held back, for p-values and thresholds.
    alpha
        False-alarm rate of :meth:`flag` where none is given.
    random_state
        Seed of the split; None is a fixed seed too.

    Attributes
    ----------
    combiner_ : Combiner
        The fitted combiner.
    held_ : HeldScores
        The scores of the held-back rows, from which decisions are read.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import baselines
    >>> rows = np.random.default_rng(0).gamma(1.0, size=(400, 2))
    >>> model = Conformal(baselines.fisher()).fit(rows)
    >>> model.flag([[0.5, 0.5], [30.0, 30.0]], alpha=0.05)
    array([False,  True])
    """

    combiner_: Combiner
    held_: HeldScores
    held_rows_: Array  # in the order of their scores
    map_rows_: Array  # what the combiner learned from
    groups_: NDArray[np.int64] | None

    def __init__(
        self,
        score: Any,
        *,
        flip: bool = False,
        holdback: float = 0.5,
        alpha: float = 0.05,
        random_state: int | None = None,
    ) -> None:
        self.score = score
        self.flip = flip
        self.holdback = holdback
        self.alpha = alpha
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Conformal:
        """Learn from in-distribution calibration rows, shape (rows, columns); ``y`` is ignored.

        ``groups``, one name per row, says which rows come together; whole groups are then held back.
        """
        in_range("alpha", self.alpha, 0.0, 1.0, ends="()")
        combiner = self._combiner(X)
        table = combiner._calibration_table(X)
        refuse_missing(table.values, table.columns)
        warn_of_columns(table, directions=combiner.directed)
        codes = None if groups is None else group_codes(groups, len(table))
        held = self._held_back(len(table), codes)
        aside = np.zeros(len(table), dtype=bool)
        aside[held] = True
        rows = np.asarray(table.values, dtype=float)
        combiner.learn(replace(table, values=rows[~aside], others=None))
        scores = combiner.score_rows(rows[aside])
        order = np.argsort(scores, kind="stable")
        numbers = None if codes is None else group_codes(codes[aside][order], len(order))
        return self.keep(combiner, rows[~aside], rows[aside][order], scores[order], numbers)

    def _held_back(self, n_rows: int, codes: NDArray[np.int64] | None) -> NDArray[np.intp]:
        """Return the rows that are held back: those that VecUQ would hold back."""
        share = in_range("holdback", self.holdback, 0.0, 1.0, ends="()")
        seed = 0 if self.random_state is None else whole_number("random_state", self.random_state, 0)
        held = split_rows(n_rows, share, seed) if codes is None else split_groups(codes, share, seed)
        if not len(held):
            raise CalibrationError(f"{n_rows:,} calibration rows are too few to hold any back for p-values.")
        return held

    def _combiner(self, X: Any) -> Combiner:
        """Return an unfitted combiner of its own; a column is the raw sum of that column alone."""
        if isinstance(self.score, Combiner):
            return clone(self.score)  # type: ignore[no-any-return]
        if not isinstance(self.score, str):
            raise SettingError(
                f"Conformal takes the name of a column or a combiner such as vecuq.baselines.fisher(); got "
                f"{type(self.score).__name__}."
            )
        names = getattr(X, "columns", getattr(X, "column_names", X if isinstance(X, dict) else None))
        if self.score in baselines() and names is not None and self.score not in list(names):
            raise SettingError(
                f"There is no column {self.score!r}. For the combiner of that name give vecuq.baselines.{self.score}()."
            )
        return raw_sum(columns=[self.score], flip=[self.score] if self.flip else None)

    def keep(
        self, combiner: Combiner, mapped: Array, held: Array, scores: Array, groups: NDArray[np.int64] | None
    ) -> Conformal:
        """Keep a fitted combiner, its rows, and held-back rows with their scores, increasing, and their groups."""
        self.combiner_, self.map_rows_, self.held_rows_, self.groups_ = combiner, mapped, held, groups
        self.held_ = HeldScores(scores, None if groups is None else group_weights(groups))
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the score columns."""
        check_is_fitted(self)
        return self.combiner_.fitted_columns_.columns

    @property
    def calibration_scores(self) -> Array:
        """Uncertainty of the held-back rows, increasing."""
        check_is_fitted(self)
        return self.held_.scores

    def values_of(self, X: Any) -> Array:
        """Return the score columns of new rows, (rows, columns), in the order and direction of the fitted ones."""
        check_is_fitted(self)
        return self.combiner_.fitted_columns_.values_of(self.combiner_._new_rows(X))

    def uncertainty(self, X: Any) -> Array:
        """Return one number per row, higher = more uncertain; NaN, with one warning, where a value is missing."""
        check_is_fitted(self)
        return self.combiner_.uncertainty(X)

    def score_samples(self, X: Any) -> Array:
        """Return -uncertainty: the scikit-learn sign, higher = more normal."""
        return -self.uncertainty(X)

    def p_values(self, X: Any, *, ties: str = "conservative", random_state: Seed = None) -> Array:
        """Return conformal p-values: for in-distribution rows, P(p <= alpha) <= alpha for every alpha.

        Assumption and promise are those of :meth:`vecuq.Ranker.p_values`.
        """
        scores = self.uncertainty(X)
        return self.held_.p_values(scores, tie_draws(ties, len(scores), random_state))

    def threshold(self, alpha: float | None = None, *, confidence: float | None = None) -> float:
        """Return the uncertainty above which rows are flagged at false-alarm rate ``alpha``."""
        return self.held_.threshold(self.rate_of(alpha, confidence=confidence))

    def flag(self, X: Any, alpha: float | None = None, *, confidence: float | None = None) -> NDArray[np.bool_]:
        """Return which rows are flagged at false-alarm rate ``alpha``; see :meth:`vecuq.Ranker.flag`."""
        rate = self.rate_of(alpha, confidence=confidence)
        return flagged(self.p_values(X), rate)

    def select(self, X: Any, alpha: float | None = None, *, method: str = "bh") -> NDArray[np.bool_]:
        """Return the out-of-distribution rows of a batch at false-discovery rate ``alpha``, as the ranker does."""
        one_of("method", method, SELECTIONS)
        self.rate_of(alpha)
        p_values = self.p_values(X)
        rate = self.rate_of(alpha, method=method, n_rows=len(p_values))
        found = selected(p_values, rate, method)
        said = "" if found.any() else none_selected(self.held_, rate, int((~np.isnan(p_values)).sum()), method)
        if said:
            warn_user(said, CalibrationWarning)
        return found

    def rate_of(
        self, alpha: float | None = None, *, confidence: float | None = None, method: str = "none", n_rows: int = 1
    ) -> float:
        """Return the rate that decisions are made at; refuse what the held-back rows cannot deliver."""
        check_is_fitted(self)
        wanted = self.alpha if alpha is None else alpha
        return self.held_.rate(wanted, confidence, method=method, n_rows=n_rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, whole or not at all; :func:`vecuq.load` reads it."""
        from vecuq.baselines.saved import parts_of

        write_tensors(path, *parts_of(self))

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write; :func:`vecuq.load` reads it too."""
        from vecuq.baselines.saved import parts_of

        return tensor_bytes(*parts_of(self))

    def describe(self) -> dict[str, Any]:
        """Return combiner, columns, rows and thresholds as plain values."""
        check_is_fitted(self)
        flipped = self.combiner_.fitted_columns_.flipped
        meaning = {True: "higher is more confident (flipped)", False: "higher is more uncertain"}
        found = {alpha: self.held_.threshold(alpha) for alpha in sorted({0.01, 0.05, 0.1, self.alpha})}
        known = {f"{alpha:g}": value if np.isfinite(value) else None for alpha, value in found.items()}
        grouped = {} if self.groups_ is None else {"held-back groups": self.held_.count}
        return {
            "combiner": type(self.combiner_).__name__,
            "columns": [{"name": name, "direction": meaning[name in flipped]} for name in self.columns],
            "rows": {"learned from": len(self.map_rows_), "held back": len(self.held_rows_), **grouped},
            "thresholds": known,
            "false-alarm rates": {
                alpha: None if at is None else list(self.held_.interval(float(alpha))) for alpha, at in known.items()
            },
        }
