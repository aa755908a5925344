"""VecUQ: the scikit-learn face of the ranker."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, OutlierMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from vecuq._check import Array, finite_rows, one_of
from vecuq.conformal import threshold_at
from vecuq.errors import CalibrationWarning, SettingError, TableError
from vecuq.ranker.fit import fit_map, fit_ranker
from vecuq.ranker.missing import MISSING_CHOICES
from vecuq.ranker.ranker import How, Ranker, Ranking
from vecuq.ranker.settings import PAPER, Settings
from vecuq.ranker.stream import gather
from vecuq.table import ScoreTable, is_named

if TYPE_CHECKING:
    from vecuq.conformal import Seed

_ALPHA = Settings.alpha


class VecUQ(OneToOneFeatureMixin, TransformerMixin, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Rank rows of several uncertainty scores by one number: their Monge-Kantorovich rank.

    Fitted on in-distribution calibration rows alone, without labels, by entropic optimal transport to a reference
    law (VecUQ-OT). :meth:`uncertainty` is higher for more uncertain rows; the scikit-learn methods keep the
    scikit-learn sign.

    Parameters
    ----------
    reference, epsilon, scaling, anchors, anchor_mass, overshoot, holdback, grid, n_targets, solver, tol, max_iter,\
 on_failure, alpha, random_state, tail
        The choices of the method, explained in :class:`vecuq.Settings`.
    columns
        Names of the score columns when fitting on a frame, by default its floating-point ones; names for the columns
        of an array, by default x0, x1, ...
    flip
        Names of columns in which higher means more confident.
    ranges
        For :meth:`partial_fit`: smallest and largest value per column over all rows to come, before any flip, as a dict
        by name or an array (columns, 2).
    missing
        What becomes of a new row with NaN: ``"nan"``, ``"error"`` or ``"marginal"``; see :meth:`vecuq.Ranker.rank`.
    n_jobs
        Threads for scoring many rows; None for one per core. The scores do not depend on it.
    contamination
        scikit-learn's name for ``alpha``, here and in ``set_params``; it is kept as ``alpha``. Calibration rows are
        in-distribution, so the share of them that may be called outliers is the false-alarm rate.

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

    def __init__(
        self,
        reference: Any = "beta",
        epsilon: float = 0.5,
        scaling: str = "featurewise",
        anchors: float = 5.0,
        overshoot: float = 0.5,
        holdback: float = 0.5,
        grid: str = "midpoint",
        n_targets: Any = "auto",
        solver: str = "auto",
        tol: float = 1e-9,
        max_iter: int = 1000,
        random_state: Any = None,
        *,
        anchor_mass: float | None = None,
        on_failure: str = "raise",
        alpha: float = _ALPHA,
        columns: Any = None,
        flip: Any = (),
        ranges: Any = None,
        n_jobs: int | None = None,
        tail: str = "overshoot",
        missing: str = "nan",
        contamination: float | None = None,
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
        self.alpha = _one_rate(alpha, contamination)
        self.columns = columns
        self.flip = flip
        self.ranges = ranges
        self.n_jobs = n_jobs
        self.tail = tail
        self.missing = missing

    @classmethod
    def paper(cls, **changes: Any) -> VecUQ:
        """Return the paper's method and nothing else; ``grid="authors"`` gives the digits its authors print."""
        return cls(**{**PAPER, **changes})

    def set_params(self, **params: Any) -> VecUQ:
        """Set parameters by name; ``contamination`` sets ``alpha``."""
        rate = params.pop("contamination", None)
        if rate is not None:
            params["alpha"] = _one_rate(params.get("alpha", _ALPHA), rate)
        super().set_params(**params)
        return self

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters, each once: ``contamination`` is another name for ``alpha``."""
        return [name for name in super()._get_param_names() if name != "contamination"]

    def fit(self, X: Any, y: Any = None) -> VecUQ:
        """Learn the order from calibration rows, shape (rows, columns); ``y`` is ignored.

        One warning tells if ``alpha`` is a rate that the held-back rows cannot deliver; no row is an outlier then.
        """
        table = self._calibration_table(X)
        self.__dict__.pop("gathered_", None)
        return self._fitted(fit_ranker(table, self._settings(), named=hasattr(self, "feature_names_in_")))

    def partial_fit(self, X: Any, y: Any = None) -> VecUQ:
        """Add calibration rows to those seen before, without keeping them; ``y`` is ignored.

        Rows are summarised in a :class:`vecuq.Sketch`, whose ranges must hold all rows to come: give ``ranges``, or
        the first call's rows set them. A later row outside is an error that says so.
        """
        before = getattr(self, "gathered_", None)
        if before is None:
            table = self._calibration_table(X)
        else:
            values = self.ranker_.values_of(self._new_rows(X))
            table = ScoreTable(self.ranker_.columns, values, flipped=self.ranker_.flipped)
        gathered = gather(before, table, self._settings(), ranges=self._ranges(table))
        ranker = fit_map(gathered.known, gathered.held, self._settings(), named=hasattr(self, "feature_names_in_"))
        self.gathered_ = gathered  # only now: a chunk that could not be fitted leaves everything as it was
        return self._fitted(ranker)

    def _ranges(self, table: ScoreTable) -> Any:
        if self.ranges is None or isinstance(self.ranges, dict):
            return self.ranges
        return dict(zip(table.columns, self.ranges, strict=True))

    def _settings(self) -> Settings:
        one_of("missing", self.missing, MISSING_CHOICES)
        params = self.get_params(deep=False)
        return Settings(**{name: params[name] for name in Settings.__dataclass_fields__})

    def _fitted(self, ranker: Ranker) -> VecUQ:
        self.ranker_ = ranker
        self.diagnostics_ = ranker.diagnostics
        self.n_iter_ = ranker.diagnostics.sweeps
        self.baseline_ = ranker.baseline
        self.offset_ = -self._promised(ranker)
        return self

    @staticmethod
    def _promised(ranker: Ranker) -> float:
        """Return the score above which rows are outliers at rate alpha; infinite if the rows cannot deliver it."""
        if not ranker.diagnostics.n_held:
            return ranker.threshold()
        try:
            ranker.rate_of()
        except SettingError as error:
            warnings.warn(f"{error} Until then predict finds no outliers.", CalibrationWarning, stacklevel=4)
        return threshold_at(ranker.calibration, ranker.settings.alpha)

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
        return self.ranker_.p_values(self._new_rows(X), **self._how(ties=ties, random_state=random_state))

    def threshold(self, alpha: float | None = None) -> float:
        """Return the uncertainty above which rows are flagged at false-alarm rate ``alpha``, by default ``-offset_``.

        An ``alpha`` that the held-back rows cannot deliver is refused.
        """
        check_is_fitted(self)
        return float(-self.offset_) if alpha is None else self.ranker_.threshold(alpha)

    def flag(
        self, X: Any, alpha: float | None = None, *, ties: str = "conservative", random_state: Seed = None
    ) -> NDArray[np.bool_]:
        """Return which rows are flagged at false-alarm rate ``alpha``; see :meth:`vecuq.Ranker.flag`."""
        check_is_fitted(self)
        return self.ranker_.flag(self._new_rows(X), alpha, **self._how(ties=ties, random_state=random_state))

    def select(
        self,
        X: Any,
        alpha: float | None = None,
        *,
        method: str = "bh",
        ties: str = "conservative",
        random_state: Seed = None,
    ) -> NDArray[np.bool_]:
        """Return the foreign rows of a batch at false-discovery rate ``alpha``; see :meth:`vecuq.Ranker.select`."""
        check_is_fitted(self)
        how = self._how(ties=ties, random_state=random_state)
        return self.ranker_.select(self._new_rows(X), alpha, method=method, **how)

    def explain(self, X: Any, *, method: str = "shapley") -> Array:
        """Return contributions, (rows, columns), that add up with ``baseline_``; see :meth:`vecuq.Ranker.explain`."""
        check_is_fitted(self)
        return self.ranker_.explain(self._new_rows(X), method=method, missing=self.missing, n_jobs=self.n_jobs)

    def p_values_at_median(self, X: Any, *, ties: str = "conservative", random_state: Seed = None) -> Array:
        """Return the p-value that each row would have with one column at its calibration median, (rows, columns)."""
        check_is_fitted(self)
        return self.ranker_.p_values_at_median(self._new_rows(X), **self._how(ties=ties, random_state=random_state))

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
        return scores - self.offset_

    def predict(self, X: Any) -> NDArray[np.int_]:
        """Return +1 for inliers and -1 for outliers; a row without a score is an error, for it must be one of them."""
        score = self._rank(X, complete=True).uncertainty
        return np.where(-score - self.offset_ >= 0, 1, -1)

    def transform(self, X: Any) -> Array:
        """Return the rank images, shape (rows, columns); a row without a score is an error."""
        return self._rank(X, complete=True).images

    def _rank(self, X: Any, *, complete: bool = False) -> Ranking:
        check_is_fitted(self)
        rows = self._new_rows(X)
        if complete:
            rows = self.ranker_.as_table(self.ranker_.values_of(rows, missing=self.missing))
        if complete and self.missing != "marginal":
            self._refuse_holes(finite_rows(rows.values))
        ranking = self.ranker_.rank(rows, **self._how(warn=not complete))
        if complete:
            self._refuse_holes(~np.isnan(ranking.uncertainty))
        return ranking

    @staticmethod
    def _refuse_holes(whole: NDArray[np.bool_]) -> None:
        if not whole.all():
            raise TableError(
                "These rows contain NaN or inf, and predict and transform need every value. Drop such rows, use "
                "uncertainty, which scores them NaN, or set missing='marginal', which scores what is there."
            )

    def _how(self, *, ties: str = "conservative", random_state: Seed = None, warn: bool = True) -> How:
        seed = self.random_state if random_state is None else random_state
        return How(missing=self.missing, ties=ties, random_state=seed, n_jobs=self.n_jobs, warn=warn)

    def _calibration_table(self, X: Any) -> ScoreTable:
        if not is_named(X):
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
        return validate_data(self, X, reset=False, dtype=_FLOATS, ensure_all_finite=False, ensure_min_samples=0)


# Single precision is scored without a copy in double.
_FLOATS = [np.float64, np.float32]


def _one_rate(alpha: Any, contamination: Any) -> Any:
    """Return the false-alarm rate, by whichever of its names it came; an alpha other than the default was given."""
    if contamination is None or contamination is alpha:
        return alpha
    if alpha not in (_ALPHA, contamination):
        raise SettingError(
            f"contamination is another name for alpha, and they differ: alpha={alpha!r}, "
            f"contamination={contamination!r}. Give one of them."
        )
    return contamination
