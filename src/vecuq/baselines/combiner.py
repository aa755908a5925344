"""Combiner: what all rival combiners share. The verbs of the estimator, its checks and its messages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from vecuq._check import Array, count_missing, finite_rows, refuse_missing, warn_user
from vecuq.errors import CalibrationError, MissingValueWarning
from vecuq.table import Matching, ScoreTable, TakesScores, warn_of_columns

# Complete rows (rows, columns) in, one number per row out; each number depends on its own row alone.
Scorer = Callable[[Array], Array]


class Combiner(TakesScores, BaseEstimator, ABC):  # type: ignore[misc]
    """One way to make one number of several uncertainty scores, learned from calibration rows alone.

    A combiner says in ``_learn`` what it learns. Calibration rows reach it complete, in sorted order (so that the
    order in which they came cannot matter), and without the columns that are constant in them, which say nothing.

    Parameters
    ----------
    columns
        Names of the score columns when fitting on a frame, by default its floating-point ones; names for the columns
        of an array, by default x0, x1, ...
    flip
        Names of columns in which higher means more confident.

    Attributes
    ----------
    scorer_ : Scorer
        What was learned: complete rows of the varying columns in, one number per row out.
    """

    # Whether it matters in which direction a column points.
    directed: ClassVar[bool] = True

    def __init__(self, *, columns: Any = None, flip: Any = None) -> None:
        self.columns = columns
        self.flip = flip

    @abstractmethod
    def _learn(self, rows: Array) -> Scorer:
        """Return what scores new rows, learned from complete calibration rows whose columns all vary."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from in-distribution calibration rows, shape (rows, columns); ``y`` is ignored."""
        table = self._calibration_table(X)
        refuse_missing(table.values, table.columns)
        warn_of_columns(table, directions=self.directed)
        return self.learn(table)

    def learn(self, table: ScoreTable) -> Self:
        """Learn from complete rows that were looked at before, as :meth:`fit` does after its checks."""
        rows = np.asarray(table.values, dtype=float)
        active = self._active_columns(rows)
        chosen = rows[:, active]
        self.scorer_ = self._learn(chosen[np.lexsort(chosen.T)])
        self.active_ = active
        self.fitted_columns_ = Matching(table.columns, hasattr(self, "feature_names_in_"), table.flipped)
        return self

    def uncertainty(self, X: Any) -> Array:
        """Return one number per row, higher = more uncertain; NaN, with one warning, where a value is missing."""
        check_is_fitted(self)
        values = self.fitted_columns_.values_of(self._new_rows(X))
        present = finite_rows(values)
        if not present.all():
            self._warn_missing(values, present)
        score = np.full(len(values), np.nan)
        if present.any():
            score[present] = self.score_rows(values[present])
        return score

    def score_rows(self, values: Array) -> Array:
        """Return the uncertainty of complete rows, an array in the order and direction of the fitted columns."""
        return self.scorer_(np.asarray(values[:, self.active_], dtype=float))

    def score_samples(self, X: Any) -> Array:
        """Return -uncertainty: the scikit-learn sign, higher = more normal."""
        return -self.uncertainty(X)

    def _active_columns(self, rows: Array) -> list[int]:
        """Return the columns that vary; a constant one says nothing and is left out."""
        if len(rows) < 2:
            raise CalibrationError(f"At least two calibration rows are needed; got n_samples = {len(rows)}.")
        active = [int(k) for k in np.flatnonzero(rows.min(axis=0) < rows.max(axis=0))]
        if not active:
            raise CalibrationError(
                f"All {len(rows):,} calibration rows are identical, so there is no order to learn. "
                f"Give rows that differ."
            )
        return active

    def _warn_missing(self, values: Array, present: Any) -> None:
        warn_user(
            f"{int((~present).sum()):,} of {len(values):,} rows have missing or infinite scores "
            f"({count_missing(values, self.fitted_columns_.columns)}); their uncertainty is NaN.",
            MissingValueWarning,
        )
