"""What every pipeline says of rows once their measures are known: the verbs of :class:`vecuq.VecUQ`, of raw rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from vecuq._check import Array
from vecuq.ranker import How, Ranker, Ranking, VecUQ
from vecuq.table import ScoreTable


class RankedMeasures(TransformerMixin, OutlierMixin, ABC):  # type: ignore[misc]
    """The verbs of a pipeline, which measures raw rows and ranks the measures."""

    ranker_: Ranker

    @abstractmethod
    def measure(self, X: Any) -> ScoreTable:
        """Return the measures of new rows as a score table."""

    @property
    @abstractmethod
    def ranking_(self) -> VecUQ:
        """The fitted estimator that ranks the measures."""

    def rank(self, X: Any, **how: Unpack[How]) -> Ranking:
        """Return score, rank image and p-value of every row; for ``missing`` and more see :meth:`vecuq.Ranker.rank`."""
        table = self.measure(X)
        return self.ranker_.rank(table, **self._how(how))

    def uncertainty(self, X: Any, **how: Unpack[How]) -> Array:
        """Return one number per row; higher is more uncertain, NaN where an output is unless ``missing="marginal"``."""
        return self.rank(X, **how).uncertainty

    def p_values(self, X: Any, **how: Unpack[How]) -> Array:
        """Return conformal p-values; see :meth:`vecuq.Ranker.p_values`."""
        table = self.measure(X)
        return self.ranker_.p_values(table, **self._how(how))

    def threshold(self, alpha: float | None = None, *, confidence: float | None = None) -> float:
        """Return the score above which rows are flagged at rate ``alpha``; see :meth:`vecuq.VecUQ.threshold`."""
        check_is_fitted(self)
        return self.ranking_.threshold(alpha, confidence=confidence)

    def flag(
        self, X: Any, alpha: float | None = None, *, confidence: float | None = None, **how: Unpack[How]
    ) -> NDArray[np.bool_]:
        """Return which rows are flagged at false-alarm rate ``alpha``; see :meth:`vecuq.Ranker.flag`."""
        table = self.measure(X)
        return self.ranker_.flag(table, alpha, confidence=confidence, **self._how(how))

    def select(
        self, X: Any, alpha: float | None = None, *, method: str = "bh", **how: Unpack[How]
    ) -> NDArray[np.bool_]:
        """Return the out-of-distribution rows of a batch at false-discovery rate ``alpha``; see the ranker's."""
        table = self.measure(X)
        return self.ranker_.select(table, alpha, method=method, **self._how(how))

    def explain(self, X: Any, *, method: str = "auto", missing: str | None = None) -> Array:
        """Return the contribution of every measure, (rows, measures); see :meth:`vecuq.Ranker.explain`."""
        table = self.measure(X)
        chosen = self.ranking_.missing if missing is None else missing
        return self.ranker_.explain(table, method=method, missing=chosen, n_jobs=self.ranking_.n_jobs)

    def why(self, X: Any, *, missing: str | None = None) -> list[str]:
        """Return one short sentence per row: which measure did it; see :meth:`vecuq.Ranker.why`."""
        table = self.measure(X)
        chosen = self.ranking_.missing if missing is None else missing
        return self.ranker_.why(table, missing=chosen, n_jobs=self.ranking_.n_jobs)

    def transform(self, X: Any) -> Array:
        """Return the rank images, shape (rows, measures); a row without a score is an error."""
        table = self.measure(X)
        return self.ranking_.transform(table)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of :meth:`transform`: ``rank_<measure>``."""
        check_is_fitted(self)
        return self.ranking_.get_feature_names_out()

    def score_samples(self, X: Any) -> Array:
        """Return -uncertainty: the scikit-learn sign, higher = more normal."""
        return -self.uncertainty(X)

    def decision_function(self, X: Any) -> Array:
        """Return ``score_samples - offset_``: negative for outliers at the false-alarm rate of the settings."""
        scores = self.score_samples(X)
        return scores - self.ranking_.offset_

    def predict(self, X: Any) -> NDArray[np.int_]:
        """Return +1 for inliers and -1 for outliers; a row without a score is an error."""
        table = self.measure(X)
        return self.ranking_.predict(table)

    def _how(self, how: How) -> How:
        """Return the choices of a call; what it leaves open is as the estimator has it."""
        return How(**{**self.ranking_.how(), **how})
