"""EstimatorMeasures: rows of features in, the uncertainty measures of a fitted classifier out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from vecuq._check import Array, one_line, shape_of, warn_user, whole_number
from vecuq.errors import CalibrationError, CalibrationWarning, SettingError, TableError
from vecuq.measures import KNearestEuclidean, Measure, find_measures, measure
from vecuq.outputs import ClassifierOutputs
from vecuq.pipeline.asking import Classifier, n_rows_of, numbers_of, refuse_other, some_rows
from vecuq.pipeline.feature_scale import MODERATE_FEATURE, MOST_FEATURES, FeatureScale, representatives
from vecuq.pipeline.probing import RowProbe, probe_of
from vecuq.table import ScoreTable

NEAREST = Measure(
    "knn_euclidean", "Distance to the k-th nearest training row, of scaled features", "training", KNearestEuclidean
)
DISTANCES = ("mahalanobis", NEAREST.name)
# The members' mean must be what the ensemble itself predicts; trees add up in single precision.
_ALIKE, _TRIED = 1e-6, 100
# Members that are sure of nearly every row disagree exactly as much as their mean is uncertain.
_SURE, _NEARLY_ALL = 1.0 - 1e-9, 0.95


class EstimatorMeasures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Uncertainty measures of a classifier with ``predict_proba``, computed from rows of features.

    Entropy and margin of its probabilities, the disagreement of its members where it is a forest, a bagging or a vote,
    and how far a row lies from the training rows: Mahalanobis distance and distance to the fifth nearest row, both of
    features that are scaled to mean 0 and standard deviation 1 over the training rows.

    Parameters
    ----------
    estimator
        A fitted classifier: of scikit-learn, alone, in a Pipeline or in a search, or any object with
        ``predict_proba``. Several in a list are an ensemble. An unfitted one of scikit-learn is cloned and fitted to
        the training rows. Nothing of another package is imported.
    measures
        Names of measures (``vecuq measures``) and ``"knn_euclidean"``. None chooses: ``entropy``, ``margin`` where
        there are more than two classes, ``mutual_information`` where members disagree, ``mahalanobis`` and
        ``knn_euclidean``.
    random_state
        Seed of the draw of training rows for distances, where there are more than 20,000; None is a fixed seed too.

    Attributes
    ----------
    measures_ : tuple of str
        The measures that are computed; ``left_out_`` names those that are not, with the reason.
    estimator_ : object or list
        The fitted classifier.
    classes_ : ndarray
        The classes, in the order of its probabilities.
    n_members_ : int
        How many members give probabilities; 1 for a single model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(min_samples_leaf=5, random_state=0).fit(X[::2], y[::2])
    >>> EstimatorMeasures(forest).fit(X[::2], y[::2]).measure(X[1::2]).columns
    ('entropy', 'margin', 'mutual_information', 'mahalanobis', 'knn_euclidean')
    """

    estimator_: Any
    classes_: NDArray[Any]
    measures_: tuple[str, ...]
    left_out_: dict[str, str]
    kind_: str  # what the classifier is
    n_members_: int
    densities_: dict[str, Any]
    scale_: FeatureScale | None  # None where no distance is measured
    probe_: Array | None  # what the classifier says at some points, by which it is recognised
    row_probe_: RowProbe | None  # the same of rows as they come, where the features above do not stand for them
    prepared_by_: tuple[str, ...]  # what prepares the rows, by name
    n_features_in_: int
    _classifier: Classifier

    def __init__(
        self, estimator: Any, *, measures: str | Sequence[str] | None = None, random_state: int | None = None
    ) -> None:
        self.estimator = estimator
        self.measures = measures
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> EstimatorMeasures:
        """Fit what measures distances to the training rows of the classifier; it is itself left as it is.

        Parameters
        ----------
        X, y
            Rows of features and their classes, those that the classifier was trained on.
        """
        seed = 0 if self.random_state is None else whole_number("random_state", self.random_state, 0)
        wanted = None if self.measures is None else _named(self.measures)
        rows = _rows_of(X)
        validate_data(self, rows, skip_check_array=True)
        self.estimator_ = fitted(self.estimator, rows, y)
        self._classifier = Classifier.of(self.estimator_, y)
        self.classes_, self.kind_ = self._classifier.classes, self._classifier.kind
        labels = _class_numbers(y, self.classes_, n_rows_of(rows))
        kept = representatives(labels, seed)
        chosen = rows if len(kept) == len(labels) else some_rows(rows, kept)
        self._settle_members(chosen, asked="mutual_information" in (wanted or ()))
        self._fit_distances(chosen, labels[kept], wanted)
        self.probe_ = probe_of(self._classifier, self.scale_)
        self.prepared_by_ = self._classifier.prepared_by
        known = self.probe_ is not None and not self.prepared_by_
        names = getattr(self, "feature_names_in_", None)
        self.row_probe_ = None if known else RowProbe.of(self._classifier, chosen, names)
        columns = self._usual() if wanted is None else wanted
        self.measures_ = tuple(name for name in columns if name not in self.left_out_)
        if not self.measures_:
            reasons = "; ".join(f"{name}: {why}" for name, why in self.left_out_.items())
            raise SettingError(f"None of the measures that were named can be computed ({reasons}). Name others.")
        return self

    def measure(self, X: Any) -> ScoreTable:
        """Return the measures of rows of features as a score table, higher = more uncertain."""
        check_is_fitted(self)
        rows = _rows_of(X)
        validate_data(self, rows, reset=False, skip_check_array=True)
        values = np.empty((n_rows_of(rows), len(self.measures_)))
        for span, block in self.classifier.blocks(rows):
            values[span] = self._measured(block)
        return ScoreTable(self.measures_, values)

    def transform(self, X: Any) -> Array:
        """Return the measures of rows of features, (rows, measures)."""
        return self.measure(X).values

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the measures."""
        check_is_fitted(self)
        return np.array(self.measures_, dtype=object)

    @property
    def classifier(self) -> Classifier:
        """The fitted classifier, taken apart; an error where it is absent, as after loading without it."""
        found: Classifier | None = getattr(self, "_classifier", None)
        if found is None:
            raise CalibrationError(
                "This was loaded without its classifier, which no file of vecuq holds. Load it with the classifier: "
                "vecuq.load(path, estimator=classifier)."
            )
        return found

    def give(self, classifier: Classifier, estimator: Any) -> None:
        """Take the classifier again, which no file holds."""
        self._classifier, self.estimator_, self.classes_ = classifier, estimator, classifier.classes

    def _measured(self, block: Any) -> Array:
        """Return the measures of a few rows, in the order of ``measures_``."""
        prepared = self.classifier.prepared(block)
        members = self.classifier.members(block, prepared) if self.n_members_ > 1 else None
        outputs = ClassifierOutputs(tuple(members or [self.classifier.probabilities(block)]), are_probabilities=True)
        plain = [name for name in self.measures_ if name not in self.densities_]
        found = measure(outputs, plain).by_name() if plain else {}
        if self.scale_ is not None:
            points = self.scale_.points(numbers_of(prepared))
            found |= {name: density.score(points) for name, density in self.densities_.items()}
        return np.column_stack([found[name] for name in self.measures_])

    def _settle_members(self, rows: Any, *, asked: bool) -> None:
        """Find out whether there are members, and whether their disagreement says anything that entropy does not."""
        some = some_rows(rows, slice(0, min(_TRIED, n_rows_of(rows))))
        found = self._classifier.members(some, self._classifier.prepared(some))
        self.left_out_: dict[str, str] = {}
        self.n_members_ = len(found)
        if len(found) == 1:
            if not asked:
                self.left_out_["mutual_information"] = "there is a single model, without members that could disagree"
            return
        mean = np.mean(found, axis=0)
        if np.abs(mean - self._classifier.probabilities(some)).max(initial=0.0) > _ALIKE:
            self.n_members_ = 1
            self.left_out_["mutual_information"] = "the classifier weights its members, or uses them in another way"
            warn_user(
                f"The probabilities of {type(self._classifier.last).__name__} are not the mean of its members, so "
                f"their disagreement is not measured. Give the members themselves, as a list.",
                CalibrationWarning,
            )
        elif not asked and np.mean(np.stack(found).max(axis=-1) > _SURE) > _NEARLY_ALL:
            self.left_out_["mutual_information"] = (
                "nearly every member is certain of every row, as trees with pure leaves are, so their disagreement is "
                "the entropy again; a forest with min_samples_leaf=5 has another one"
            )

    def _fit_distances(self, rows: Any, labels: NDArray[np.intp], wanted: tuple[str, ...] | None) -> None:
        """Fit the distances among the measures; leave out what the features do not allow, if nobody named it."""
        self.densities_, self.scale_ = {}, None
        names = DISTANCES if wanted is None else [one.name for one in found_measures(wanted) if one.needs == "training"]
        if not len(names):
            return
        try:
            prepared = self._classifier.prepared(rows)
            _refuse_wide(prepared)  # before sparse ones become dense
            features = numbers_of(prepared)
            _refuse_huge(features)
        except TableError as error:
            if wanted is not None:
                raise
            self.left_out_ |= dict.fromkeys(names, "the features allow no distance")
            warn_user(f"{one_line(error, most=400)} They are left out.", CalibrationWarning)
            return
        self.scale_ = FeatureScale.of(features)
        points = self.scale_.points(features)
        self.densities_ = {one.name: one.compute.fit(points, labels) for one in found_measures(tuple(names))}

    def _usual(self) -> tuple[str, ...]:
        """Return the measures where nobody named any; of two classes, the margin has the order of the entropy."""
        return ("entropy", *(("margin",) if len(self.classes_) > 2 else ()), "mutual_information", *DISTANCES)

    def __sklearn_tags__(self) -> Any:
        """State that labels are needed, and take what kinds of rows there may be from the classifier."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        inside = self.estimator[0] if isinstance(self.estimator, list | tuple) and self.estimator else self.estimator
        if isinstance(inside, BaseEstimator):
            tags.input_tags = get_tags(inside).input_tags
        return tags


def fitted(estimator: Any, X: Any, y: Any) -> Any:
    """Return a classifier as it came if it is fitted; a clone that is fitted to the rows if it is not."""
    if isinstance(estimator, list | tuple):
        return [fitted(one, X, y) for one in estimator]
    refuse_other(estimator)
    return (
        clone(estimator).fit(X, y)
        if isinstance(estimator, BaseEstimator) and not _is_fitted(estimator, X)
        else estimator
    )


def _is_fitted(estimator: Any, X: Any) -> bool:
    """Whether a classifier is fitted: by what scikit-learn sees, and for one of another package by its answer."""
    from sklearn.exceptions import NotFittedError

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return not type(estimator).__module__.startswith("sklearn.") and _answers(estimator, X)
    return True


def _answers(estimator: Any, X: Any) -> bool:
    """Whether a classifier gives probabilities: what it learned may stand in attributes without an underscore."""
    try:
        estimator.predict_proba(some_rows(X, slice(0, 1)))
    except Exception:  # of any package, each with its own
        return False
    return True


def _named(measures: str | Sequence[str]) -> tuple[str, ...]:
    """Return the named measures, compositions by their columns."""
    return tuple(one.name for one in found_measures([measures] if isinstance(measures, str) else measures))


def found_measures(names: Sequence[str]) -> list[Measure]:
    """Return measures by name, in this order, each once; the Euclidean distance is known here alone."""
    found = [one for name in names for one in ((NEAREST,) if name == NEAREST.name else find_measures([name]))]
    if not found:
        raise SettingError("At least one measure is needed; got none.")
    return list({one.name: one for one in found}.values())


def _rows_of(X: Any) -> Any:
    """Return rows as they came; what is neither a frame nor an array becomes one. One row by itself is refused."""
    rows = _compressed(X) if hasattr(X, "tocsr") else X if hasattr(X, "shape") else np.asarray(X)
    if len(rows.shape) == 1 and len(rows) and isinstance(rows[0], str):
        raise TableError(
            "Rows of features are needed, and texts came. Encode them first, X = pipeline[:-1].transform(texts), and "
            "give the classifier that takes the result, pipeline[-1]."
        )
    if len(rows.shape) != 2:
        raise TableError(
            f"Rows of features must have shape (rows, features); got {shape_of(rows)}. Reshape your data: one row by "
            f"itself is X.reshape(1, -1)."
        )
    return rows


def _compressed(X: Any) -> Any:
    """Return sparse rows of any format so that rows can be taken of them, with the short numbers that trees need."""
    rows = X.tocsr(copy=True)
    if rows.nnz < np.iinfo(np.int32).max:
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows


def _class_numbers(y: Any, classes: NDArray[Any], n_rows: int) -> NDArray[np.intp]:
    """Return the number of each row's class; raise for labels that the classifier does not know, or a single class."""
    labels = np.asarray(y).ravel() if y is not None else np.empty(0)
    if len(labels) != n_rows:
        raise TableError(f"y_train must name the class of each of {n_rows:,} training rows; got {len(labels):,}.")
    places = {value: place for place, value in enumerate(classes.tolist())}
    known = np.array([value in places for value in labels.tolist()])
    if not known.all():
        strange = one_line(repr(labels[~known][0]), most=40)
        raise TableError(
            f"{int((~known).sum()):,} of {n_rows:,} labels are none of the classes of the classifier, the first "
            f"{strange}; it knows {one_line(classes.tolist(), most=120)}. Give the labels that it was fitted to."
        )
    if len(np.unique(labels)) < 2:
        raise CalibrationError("The training rows have only one class; a classifier of at least two is needed.")
    return np.array([places[value] for value in labels.tolist()], dtype=np.intp)


def _refuse_wide(features: Any) -> None:
    n_features = np.shape(features)[-1]
    if n_features > MOST_FEATURES:
        raise TableError(
            f"Distances in {n_features:,} features say little; {MOST_FEATURES:,} is the most. Reduce them in a "
            f"scikit-learn Pipeline with the classifier, or leave distances out: measures=['entropy', 'margin']."
        )


def _refuse_huge(features: Array) -> None:
    furthest = float(np.abs(features[np.isfinite(features)]).max(initial=0.0))
    if furthest > MODERATE_FEATURE:
        raise TableError(
            f"Distances between features as large as {furthest:.1g} overflow. Scale them in a scikit-learn Pipeline "
            f"with the classifier, or leave distances out: measures=['entropy', 'margin']."
        )
