"""VecUQ: the scikit-learn face of the ranker."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from vecuq._check import Array, keywords_only, one_of, warn_user
from vecuq.conformal import Seed
from vecuq.errors import CalibrationWarning, SettingError
from vecuq.options import MISSING
from vecuq.ranker.displays import card_of
from vecuq.ranker.fit import fit_ranker
from vecuq.ranker.partial import PartialFit
from vecuq.ranker.ranker import Ranker
from vecuq.ranker.ranking import How, Ranking
from vecuq.ranker.settings import PAPER, Settings
from vecuq.table import ScoreTable, TakesScores


class VecUQ(TakesScores, TransformerMixin, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Rank rows of several uncertainty scores by one number: their Monge-Kantorovich rank.

    Fitted on in-distribution calibration rows alone, without labels, by entropic optimal transport to a reference
    law (VecUQ-OT). :meth:`uncertainty` is higher for more uncertain rows; the scikit-learn methods keep the
    scikit-learn sign.

    Parameters
    ----------
    reference, epsilon, scaling, anchors, anchor_mass, overshoot, holdback, grid, n_targets, solver, tol, max_iter,\
 on_failure, alpha, random_state, weights, column_groups
        The choices of the method, explained in :class:`vecuq.Settings`.
    columns
        Names of the score columns when fitting on a frame, by default its floating-point ones; names for the columns
        of an array, by default x0, x1, ... Without names, ``fit`` warns of columns of numbers that it left out, and of
        ids, labels and times among those it took.
    flip
        Names of columns in which higher means more confident. Without it, ``fit`` warns of columns that look like it;
        an empty list, together with ``columns``, states that there are none.
    ranges
        For :meth:`partial_fit`, if known: smallest and largest value per column over all rows to come, before any flip,
        as a dict by name or an array (columns, 2).
    missing
        What becomes of a new row with NaN: ``"nan"``, ``"error"`` or ``"marginal"``; see :meth:`vecuq.Ranker.rank`.
    n_jobs
        Threads for scoring many rows, as in scikit-learn: None is 1, -1 all cores. The scores do not depend on it.

    Attributes
    ----------
    ranker_ : Ranker
        The fitted, frozen, saveable model.
    diagnostics_ : Diagnostics
        How the fit went: marginal error, sweeps, converged.
    baseline_ : float
        The score of the calibration medians; with the contributions of :meth:`explain` it adds up to the score.
    offset_ : float
        ``decision_function = score_samples - offset_``; rows below zero are outliers at false-alarm rate ``alpha``.
        Minus infinity, after a warning, if the held-back rows cannot deliver that rate: then no row is an outlier.
        With ``holdback=0`` the rows of the map stand in, and no rate is promised.

    Examples
    --------
    >>> import numpy as np
    >>> calibration = np.random.default_rng(0).gamma(1.0, size=(400, 2))
    >>> model = VecUQ().fit(calibration)
    >>> model.predict([[0.5, 0.5], [30.0, 0.5]])
    array([ 1, -1])
    """

    @keywords_only
    def __init__(
        self,
        *,
        reference: Any = "beta",
        epsilon: float = 0.5,
        scaling: str = "featurewise",
        anchors: float = 5.0,
        overshoot: float = 0.5,
        holdback: Any = 0.5,
        grid: str = "midpoint",
        n_targets: Any = "auto",
        solver: str = "auto",
        tol: float = 1e-9,
        max_iter: int = 1000,
        random_state: Any = None,
        anchor_mass: float | None = None,
        on_failure: str = "error",
        alpha: float = 0.05,
        columns: Any = None,
        flip: Any = None,
        ranges: Any = None,
        n_jobs: int | None = None,
        missing: str = "nan",
        weights: Any = None,
        column_groups: Any = None,
    ) -> None:
        self.reference = reference
        self.epsilon = epsilon
        self.scaling = scaling
        self.anchors = anchors
        self.overshoot = overshoot
        self.holdback = holdback
        self.grid = grid
        self.n_targets = n_targets
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.anchor_mass = anchor_mass
        self.on_failure = on_failure
        self.alpha = alpha
        self.columns = columns
        self.flip = flip
        self.ranges = ranges
        self.n_jobs = n_jobs
        self.missing = missing
        self.weights = weights
        self.column_groups = column_groups

    @classmethod
    def paper(cls, **changes: Any) -> VecUQ:
        """Return the paper's method and nothing else; ``grid="authors"`` gives the digits its authors print."""
        return cls(**{**PAPER, **changes})

    @classmethod
    def from_ranker(cls, ranker: Ranker) -> VecUQ:
        """Return a fitted estimator around a ranker, for example one that :func:`vecuq.load` found in a file."""
        known = {name: getattr(ranker.settings, name) for name in Settings.__dataclass_fields__}
        made = cls(**known, columns=list(ranker.columns), flip=sorted(ranker.flipped))
        made.n_features_in_ = len(ranker.columns)
        if ranker.named:
            made.feature_names_in_ = np.array(ranker.columns, dtype=object)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)  # whoever fitted it was warned
            return made._fitted(ranker)

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> VecUQ:
        """Learn the order from calibration rows, shape (rows, columns); ``y`` is ignored.

        ``groups``, one name per row, says which rows come together (sessions, documents): see
        :func:`vecuq.fit_ranker`.

        Warns if ``alpha`` is a rate that the held-back rows cannot deliver; then no row is an outlier.
        """
        table = self._calibration_table(X)
        self.__dict__.pop("gathered_", None)
        named = hasattr(self, "feature_names_in_")
        return self._fitted(fit_ranker(table, self._settings(), named=named, groups=groups))

    def partial_fit(self, X: Any, y: Any = None) -> VecUQ:
        """Add calibration rows to those seen before, without keeping them; ``y`` is ignored.

        Up to 5,000 rows are kept; then they are summarised in a :class:`vecuq.PartialFit`.
        """
        before = getattr(self, "gathered_", None)
        if before is None:
            table = self._calibration_table(X)
        else:
            values = self.ranker_.values_of(self._new_rows(X))
            table = ScoreTable(self.ranker_.columns, values, flipped=self.ranker_.flipped)
        start = PartialFit(settings=self._settings(), ranges=self._ranges(table)) if before is None else before
        gathered = start + start.empty().update(table, first_row=start.n_seen)
        ranker = gathered.fit(self._settings(), named=hasattr(self, "feature_names_in_"))
        self.gathered_ = gathered  # only now: a chunk that could not be fitted leaves everything as it was
        return self._fitted(ranker)

    def _ranges(self, table: ScoreTable) -> Any:
        if self.ranges is None or isinstance(self.ranges, dict):
            return self.ranges
        return dict(zip(table.columns, self.ranges, strict=True))

    def _settings(self) -> Settings:
        one_of("missing", self.missing, MISSING)
        params = self.get_params(deep=False)
        return Settings(**{name: params[name] for name in Settings.__dataclass_fields__})

    def _fitted(self, ranker: Ranker) -> VecUQ:
        self.ranker_ = ranker
        self.diagnostics_ = ranker.diagnostics
        self.n_iter_ = ranker.diagnostics.sweeps
        self.baseline_ = ranker.baseline
        self.offset_ = ranker.offset
        if np.isneginf(self.offset_):
            warn_user(f"{_undeliverable(ranker)} Until then predict finds no outliers.", CalibrationWarning)
        return self

    def uncertainty(self, X: Any) -> Array:
        """Return one number per row, higher = more uncertain; NaN, with one warning, where a value is missing."""
        return self._rank(X).uncertainty

    def p_values(self, X: Any, *, ties: str = "conservative", random_state: Seed = None) -> Array:
        """Return conformal p-values, valid for in-distribution rows at any sample size.

        ``ties="randomised"`` breaks ties at random, which makes the p-values of one batch exactly uniform. The seed is
        ``random_state``, here or else of the estimator; rows that come in several calls need one numpy Generator for
        all of them. See :meth:`vecuq.Ranker.rank`.
        """
        check_is_fitted(self)
        return self.ranker_.p_values(self._new_rows(X), **self.how(ties=ties, random_state=random_state))

    def threshold(self, alpha: float | None = None, *, confidence: float | None = None) -> float:
        """Return the uncertainty above which rows are flagged at false-alarm rate ``alpha``, by default ``-offset_``.

        An ``alpha`` that the held-back rows cannot deliver is refused. For ``confidence`` see :meth:`flag`.
        """
        check_is_fitted(self)
        if alpha is None and confidence is None and not np.isnan(self.offset_):
            return float(-self.offset_)
        return self.ranker_.threshold(alpha, confidence=confidence)

    def flag(
        self,
        X: Any,
        alpha: float | None = None,
        *,
        confidence: float | None = None,
        ties: str = "conservative",
        random_state: Seed = None,
    ) -> NDArray[np.bool_]:
        """Return which rows are flagged at false-alarm rate ``alpha``; see :meth:`vecuq.Ranker.flag`.

        ``confidence=0.9``: nine of ten calibration sets keep that rate, instead of all of them on average.
        """
        check_is_fitted(self)
        how = self.how(ties=ties, random_state=random_state)
        return self.ranker_.flag(self._new_rows(X), alpha, confidence=confidence, **how)

    def select(
        self,
        X: Any,
        alpha: float | None = None,
        *,
        method: str = "bh",
        ties: str = "conservative",
        random_state: Seed = None,
    ) -> NDArray[np.bool_]:
        """Return the out-of-distribution rows of a batch at false-discovery rate ``alpha``, as the ranker does."""
        check_is_fitted(self)
        how = self.how(ties=ties, random_state=random_state)
        return self.ranker_.select(self._new_rows(X), alpha, method=method, **how)

    def explain(self, X: Any, *, method: str = "auto") -> Array:
        """Return contributions, (rows, columns), that add up with ``baseline_``; see :meth:`vecuq.Ranker.explain`."""
        check_is_fitted(self)
        return self.ranker_.explain(self._new_rows(X), method=method, missing=self.missing, n_jobs=self.n_jobs)

    def p_values_at_median(self, X: Any, *, ties: str = "conservative", random_state: Seed = None) -> Array:
        """Return the p-value that each row would have with one column at its calibration median, (rows, columns)."""
        check_is_fitted(self)
        return self.ranker_.p_values_at_median(self._new_rows(X), **self.how(ties=ties, random_state=random_state))

    def why(self, X: Any) -> list[str]:
        """Return one short sentence per row: which column did it; see :meth:`vecuq.Ranker.why`."""
        check_is_fitted(self)
        return self.ranker_.why(self._new_rows(X), missing=self.missing, n_jobs=self.n_jobs)

    def score_samples(self, X: Any) -> Array:
        """Return -uncertainty: the scikit-learn sign, higher = more normal."""
        return -self.uncertainty(X)

    def decision_function(self, X: Any) -> Array:
        """Return ``score_samples - offset_``: negative for outliers at false-alarm rate ``alpha``."""
        scores = self.score_samples(X)
        if np.isnan(self.offset_):  # holdback="cross" has no one threshold, and says so
            self.ranker_.threshold()
        return scores - self.offset_

    def predict(self, X: Any) -> NDArray[np.int_]:
        """Return +1 for inliers and -1 for outliers; a row without a score is an error, for it must be one of them."""
        check_is_fitted(self)
        return self.ranker_.predict(self._new_rows(X), **self.how())

    def transform(self, X: Any) -> Array:
        """Return the rank images, shape (rows, columns); a row without a score is an error."""
        check_is_fitted(self)
        return self.ranker_.rank_scored(self._new_rows(X), **self.how()).images

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of :meth:`transform`: ``rank_<column>``."""
        check_is_fitted(self)
        return np.array([f"rank_{name}" for name in self.ranker_.columns], dtype=object)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted ranker to one file, whole or not at all; :func:`vecuq.load` reads it."""
        check_is_fitted(self)
        self.ranker_.save(path)

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write; :func:`vecuq.load` reads it too."""
        check_is_fitted(self)
        return self.ranker_.to_bytes()

    def to_onnx(self, path: str | os.PathLike[str], *, p_values: bool = True) -> None:
        """Write the fitted ranker as an ONNX file; see :meth:`vecuq.Ranker.to_onnx`."""
        check_is_fitted(self)
        self.ranker_.to_onnx(path, p_values=p_values)

    def to_json(self, *, p_values: bool = True) -> str:
        """Return all that scoring needs as JSON text; see :meth:`vecuq.Ranker.to_json`."""
        check_is_fitted(self)
        return self.ranker_.to_json(p_values=p_values)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Show a fitted estimator as a card in notebooks, an unfitted one as scikit-learn does."""
        if not hasattr(self, "ranker_"):
            return dict(super()._repr_mimebundle_(**kwargs))
        return {"text/plain": repr(self), "text/html": card_of(self.ranker_, repr(self))}

    def _rank(self, X: Any) -> Ranking:
        check_is_fitted(self)
        return self.ranker_.rank(self._new_rows(X), **self.how())

    def how(self, *, ties: str = "conservative", random_state: Seed = None) -> How:
        """Return how rows are scored, as :meth:`vecuq.Ranker.rank` takes it."""
        seed = self.random_state if random_state is None else random_state
        return How(missing=self.missing, ties=ties, random_state=seed, n_jobs=self.n_jobs)


def _undeliverable(ranker: Ranker) -> str:
    """Return why the held-back rows cannot deliver the rate of the settings."""
    try:
        ranker.rate_of()
    except SettingError as error:
        return str(error)
    return ""
