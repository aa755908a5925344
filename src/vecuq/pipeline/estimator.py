"""EstimatorPipeline: rows of features in, one uncertainty per row out; a classifier, its measures and their order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from vecuq._check import warn_user
from vecuq._files import tensor_bytes, write_tensors
from vecuq.errors import CalibrationWarning, SettingError, TableError
from vecuq.measures import warn_idle
from vecuq.pipeline.asking import n_rows_of
from vecuq.pipeline.estimator_measures import EstimatorMeasures
from vecuq.pipeline.trained import TrainedRows
from vecuq.pipeline.verbs import RankedMeasures
from vecuq.ranker import Ranker, VecUQ, card_of
from vecuq.table import ScoreTable


def from_estimator(
    estimator: Any,
    X_train: Any,
    y_train: Any,
    X_calibration: Any,
    *,
    measures: str | Sequence[str] | None = None,
    ranker: VecUQ | None = None,
    groups: Any = None,
) -> EstimatorPipeline:
    """Make a fitted classifier give its rows an uncertainty, a p-value and a reason, in one line.

    Parameters
    ----------
    estimator
        A fitted classifier with ``predict_proba``, or several in a list; see :class:`EstimatorMeasures`.
    X_train, y_train
        The rows of features that it was trained on, and their classes.
    X_calibration
        Other rows of features, in-distribution, on which it was **not** trained; they need no labels.
    measures
        Names of measures; by default those that the classifier allows.
    ranker
        The :class:`vecuq.VecUQ` that ranks the measures, unfitted; by default ``VecUQ()``.
    groups
        The group of each calibration row, where rows come together; see :func:`vecuq.fit_ranker`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> forest = ExtraTreesClassifier(min_samples_leaf=3, random_state=0).fit(X[:600], y[:600])
    >>> model = from_estimator(forest, X[:600], y[:600], X[600:1200])
    >>> model.flag(np.vstack([X[1200:1202], 16 - X[1200:1202]]), alpha=0.05)
    array([False, False,  True,  True])
    """
    made = EstimatorPipeline(estimator, measures=measures, ranker=ranker)
    return made.fit(X_calibration, train=(X_train, y_train), groups=groups)


class EstimatorPipeline(RankedMeasures, BaseEstimator):  # type: ignore[misc]
    """A classifier, its measures and their ranker in one; :func:`vecuq.from_estimator` makes it in one line.

    Wherever rows are needed, give rows of features, as the classifier takes them.

    Parameters
    ----------
    estimator, measures
        See :class:`EstimatorMeasures`.
    ranker
        The :class:`vecuq.VecUQ` that ranks the measures, unfitted; by default ``VecUQ()``.
    random_state
        Seed of the draw of training rows for distances; None is a fixed seed too.

    Attributes
    ----------
    steps_ : EstimatorMeasures
        The fitted classifier with what measures it.
    measures_ : tuple of str
        The measures, which are the columns of the ranker; ``left_out_`` names others, with the reason.
    ranker_ : Ranker
        The fitted, frozen ranker of the measures; ``ranking_`` is the :class:`vecuq.VecUQ` around it.
    """

    steps_: EstimatorMeasures
    measures_: tuple[str, ...]
    left_out_: dict[str, str]
    vecuq_: VecUQ
    trained_: TrainedRows | None  # None where rows are no numbers, and for a file that does not name them
    ranker_: Ranker
    offset_: float

    def __init__(
        self,
        estimator: Any,
        *,
        measures: str | Sequence[str] | None = None,
        ranker: VecUQ | None = None,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.measures = measures
        self.ranker = ranker
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, train: Any = None, groups: Any = None) -> EstimatorPipeline:
        """Fit distances to the training rows, and the ranker to calibration rows.

        Parameters
        ----------
        X
            Calibration rows of features: in-distribution, and none that the classifier was trained on.
        y
            Ignored.
        train
            The training rows and their classes, ``(X_train, y_train)``.
        groups
            The group of each calibration row, where rows come together; see :func:`vecuq.fit_ranker`.
        """
        if not isinstance(train, list | tuple) or len(train) != 2:
            raise TableError(
                "fit takes the calibration rows first and the training rows by name: fit(X_calibration, "
                "train=(X_train, y_train))."
            )
        ranking = clone(VecUQ() if self.ranker is None else self.ranker)
        if ranking.columns is not None or ranking.flip:
            raise SettingError("measures= chooses the columns here; leave columns= and flip= of the ranker out.")
        steps = EstimatorMeasures(self.estimator, measures=self.measures, random_state=self.random_state).fit(*train)
        table = steps.measure(X)
        trained = TrainedRows.of(steps.classifier.prepared(train[0]))
        _warn_trained_on(0 if trained is None else int(trained.among(steps.classifier.prepared(X)).sum()), len(table))
        warn_idle(table, steps.n_members_)
        # Directions are known, so nothing about them is suspicious.
        ranking.set_params(columns=list(steps.measures_), flip=[]).fit(table, groups=groups)
        return self.keep(steps, ranking, trained)

    def keep(self, steps: EstimatorMeasures, ranking: VecUQ, trained: TrainedRows | None) -> EstimatorPipeline:
        """Keep what is fitted."""
        self.steps_, self.vecuq_, self.trained_ = steps, ranking, trained
        self.measures_, self.left_out_ = steps.measures_, steps.left_out_
        self.ranker_, self.offset_ = ranking.ranker_, ranking.offset_
        self.n_features_in_ = steps.n_features_in_
        if hasattr(steps, "feature_names_in_"):
            self.feature_names_in_ = steps.feature_names_in_
        return self

    @property
    def ranking_(self) -> VecUQ:
        """The fitted estimator that ranks the measures."""
        return self.vecuq_

    def measure(self, X: Any) -> ScoreTable:
        """Return the measures of rows of features as a score table."""
        check_is_fitted(self)
        return self.steps_.measure(X)

    def trained_on(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows of features the classifier was trained on: their labels say nothing about other rows.

        Equal features are taken for the same row, unless rows that repeat each other explain as many equal ones. False
        where features are no numbers, and for a file that does not name its training rows.
        """
        check_is_fitted(self)
        if self.trained_ is None:
            return np.zeros(n_rows_of(X), dtype=bool)
        return self.trained_.among(self.steps_.classifier.prepared(X))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the classifier to one file; ``vecuq.load(path, estimator=classifier)`` reads it.

        A classifier could be kept by pickle alone, which runs code when it is read. Keep it as you do, and give the
        same one to ``load``: another one is refused, by its classes, features and probabilities.
        """
        from vecuq.pipeline.estimator_file import parts_of

        write_tensors(path, *parts_of(self))

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write."""
        from vecuq.pipeline.estimator_file import parts_of

        return tensor_bytes(*parts_of(self))

    def describe(self) -> dict[str, Any]:
        """Return classifier, classes, features and measures, and what the ranker says of itself."""
        check_is_fitted(self)
        own = {
            "classifier": self.steps_.kind_,
            "members": self.steps_.n_members_,
            "classes": [str(one) for one in self.steps_.classes_],
            "features": self.n_features_in_,
            "measures": list(self.measures_),
            "left out": dict(self.left_out_),
        }
        return own | self.ranker_.describe()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Show a fitted pipeline as a card in notebooks, an unfitted one as scikit-learn does."""
        if not hasattr(self, "ranker_"):
            return dict(super()._repr_mimebundle_(**kwargs))
        facts = {"classifier": self.steps_.kind_, "classes": str(len(self.steps_.classes_))}
        return {"text/plain": repr(self), "text/html": card_of(self.ranker_, "EstimatorPipeline", facts)}


def _warn_trained_on(shared: int, n_rows: int) -> None:
    """Warn of calibration rows that are training rows."""
    if shared:
        warn_user(
            f"{shared:,} of {n_rows:,} calibration rows are training rows. The classifier knows them, so new rows "
            f"will look more uncertain than they are, and too many will be flagged. Give rows that it has not seen.",
            CalibrationWarning,
        )
