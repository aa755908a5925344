"""What every estimator of score tables shares with scikit-learn: names of features, and checks of plain arrays."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from vecuq.table.matching import is_named
from vecuq.table.score_table import ScoreTable

# Single precision is scored without a copy in double.
_FLOATS = [np.float64, np.float32]


class TakesScores:
    """A mixin for scikit-learn estimators with the parameters ``columns`` and ``flip``."""

    columns: Any
    flip: Any

    def _calibration_table(self, X: Any) -> ScoreTable:
        """Return calibration rows as a table, and note the features as scikit-learn does."""
        if not is_named(X) and not isinstance(X, str | os.PathLike):
            from sklearn.utils.validation import validate_data

            self.__dict__.pop("feature_names_in_", None)
            # Missing values are refused later, with the names of their columns.
            matrix = validate_data(self, X, dtype=_FLOATS, ensure_all_finite=False)
            return ScoreTable.of(matrix, columns=self.columns, flip=self.flip)
        table = ScoreTable.of(X, columns=self.columns, flip=self.flip)
        self.n_features_in_ = len(table.columns)
        self.feature_names_in_ = np.array(table.columns, dtype=object)
        return table

    def _new_rows(self, X: Any) -> Any:
        """Pass named rows on; check plain ones with scikit-learn's own messages. No rows at all is no error."""
        if is_named(X):
            return X
        from sklearn.utils.validation import validate_data

        return validate_data(self, X, reset=False, dtype=_FLOATS, ensure_all_finite=False, ensure_min_samples=0)
