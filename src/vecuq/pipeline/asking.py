"""What a fitted classifier says of rows of features: its probabilities, those of its members, and its features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, one_line, shape_of
from vecuq.errors import SettingError, TableError

# Numbers of one block of (members, rows, classes): a forest of 500 trees on 10 classes is asked for 4,000 rows at once.
_BLOCK_ENTRIES = 20_000_000
_MOST_ROWS = 16_384


@dataclass(frozen=True)
class Classifier:
    """A fitted classifier, or several that make an ensemble, taken apart.

    Attributes
    ----------
    parts
        What was given: one estimator, or several.
    steps
        What prepares the rows for the last step of a scikit-learn Pipeline, of the first part; empty without one.
    last
        What gives the probabilities of the first part: a forest, say, without what stands before or around it.
    classes
        The classes, in the order of the probabilities.
    """

    parts: tuple[Any, ...]
    steps: tuple[Any, ...]
    last: Any
    classes: NDArray[Any]

    @staticmethod
    def of(estimator: Any, y: Any = None) -> Classifier:
        """Take a fitted estimator, or a list of them, apart; ``y`` names the classes where it does not itself."""
        parts = tuple(estimator) if isinstance(estimator, list | tuple) else (estimator,)
        if not parts:
            raise SettingError("At least one fitted classifier is needed; the list is empty.")
        for part in parts:
            refuse_other(part)
        classes = [_classes_of(part, y) for part in parts]
        if any(not np.array_equal(np.sort(one), np.sort(classes[0])) for one in classes):
            raise SettingError("All estimators of a list must know the same classes; these differ. Fit them to one y.")
        steps, last = _taken_apart(parts[0])
        return Classifier(parts, steps, last, classes[0])

    def blocks(self, X: Any) -> Iterator[tuple[slice, Any]]:
        """Yield spans of rows, so many that the probabilities of all members fit into memory."""
        size = max(1, min(_MOST_ROWS, _BLOCK_ENTRIES // (self.n_members * len(self.classes))))
        n_rows = n_rows_of(X)
        for start in range(0, n_rows, size):
            span = slice(start, min(start + size, n_rows))
            yield span, (X if size >= n_rows else some_rows(X, span))

    @property
    def n_members(self) -> int:
        """How many members give probabilities: several estimators, or the members of one that is an ensemble."""
        return len(self.parts) if len(self.parts) > 1 else len(self.last.estimators_) if is_ensemble(self.last) else 1

    def prepared(self, X: Any) -> Any:
        """Return rows as the last step gets them: what a Pipeline makes of them, or the rows themselves."""
        for step in self.steps:
            X = step.transform(X)
        return X

    def probabilities(self, X: Any) -> Array:
        """Return the probabilities that the classifier itself gives, (rows, classes): the mean of several."""
        return np.asarray(np.mean([self._of_part(part, X) for part in self.parts], axis=0))

    def members(self, X: Any, prepared: Any) -> list[Array]:
        """Return the probabilities of every member, (rows, classes) each; of a single model, its own."""
        if len(self.parts) > 1:
            return [self._of_part(part, X) for part in self.parts]
        return member_probabilities(self.last, prepared, len(self.classes)) or [self._of_part(self.parts[0], X)]

    @property
    def kind(self) -> str:
        """What it is, by the name of its type; several by how many there are."""
        name = type(self.last).__name__
        return name if len(self.parts) == 1 else f"{len(self.parts)} classifiers, the first of them {name}"

    @property
    def prepared_by(self) -> tuple[str, ...]:
        """What prepares the rows for the last step, by the names of the types."""
        return tuple(type(one).__name__ for step in self.steps for _, one in step.steps)

    def at(self, points: Any, *, whole: bool = False) -> Array | None:
        """Return the probabilities at points in the space of the prepared features; None if that cannot be had.

        With ``whole``, points are in the space of the rows, and all that prepares them takes part.

        The same classifier gives the same ones for ever, which is how another one is recognised.
        """
        import warnings

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of feature names, which points do not have
                asked = self.parts if whole else [_taken_apart(part)[1] for part in self.parts]
                found = [np.asarray(one.predict_proba(points)) for one in asked]
            mean = np.asarray(np.mean(found, axis=0), dtype=float)
        except Exception:  # classifiers of any package, which may need frames, categories or anything else
            return None
        return mean if mean.shape == (len(points), len(self.classes)) and np.isfinite(mean).all() else None

    def _of_part(self, part: Any, X: Any) -> Array:
        """Return the probabilities of one estimator, its classes in the order of the first one's."""
        found = _checked(part.predict_proba(X), n_rows_of(X), len(self.classes), part)
        own = np.asarray(getattr(part, "classes_", self.classes))
        rising = np.argsort(own)
        return np.asarray(found[:, rising[np.searchsorted(own, self.classes, sorter=rising)]])


def refuse_other(estimator: Any) -> None:
    """Raise for what gives no probabilities of classes, and say what to do."""
    from sklearn.base import is_regressor

    name = type(estimator).__name__
    if isinstance(estimator, type):
        raise SettingError(f"A fitted classifier is needed; got the class {estimator.__name__}. Make one and fit it.")
    if hasattr(estimator, "predict_proba"):
        return
    if hasattr(estimator, "fit") and is_regressor(estimator):
        raise SettingError(
            f"{name} is a regressor, and the measures here are of probabilities of classes. Compute scores of its rows "
            f"yourself (the spread of its trees, a distance), and give these columns to VecUQ."
        )
    raise SettingError(
        f"A classifier with predict_proba is needed; {name} has none. scikit-learn's CalibratedClassifierCV gives one "
        f"to a classifier that has only decisions; SVC and voting='hard' have one with other settings."
    )


def _classes_of(estimator: Any, y: Any) -> NDArray[Any]:
    found = getattr(estimator, "classes_", None)
    if isinstance(found, list) and found and np.ndim(found[0]):  # one array per target
        raise SettingError(f"{type(estimator).__name__} predicts {len(found)} targets at once; give one with a single.")
    if found is None and y is None:
        raise SettingError(f"{type(estimator).__name__} names no classes (classes_), and no y_train came that does.")
    return np.unique(np.asarray(y)) if found is None else np.asarray(found)


def _taken_apart(estimator: Any) -> tuple[tuple[Any, ...], Any]:
    """Return the steps that prepare rows, and the classifier inside searches, frozen estimators and Pipelines."""
    from sklearn.pipeline import Pipeline

    steps: tuple[Any, ...] = ()
    while True:
        inside = getattr(estimator, "best_estimator_", None)
        if inside is None and type(estimator).__name__ == "FrozenEstimator":
            inside = estimator.estimator
        if isinstance(estimator, Pipeline):
            before, inside = estimator[:-1], estimator[-1]
            steps = (*steps, before) if len(before) else steps
        if inside is None or isinstance(inside, str):
            return steps, estimator
        estimator = inside


def is_ensemble(last: Any) -> bool:
    """Whether a classifier is the mean of members that can be asked one by one."""
    from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier, VotingClassifier

    return isinstance(last, RandomForestClassifier | ExtraTreesClassifier | BaggingClassifier | VotingClassifier)


def member_probabilities(last: Any, prepared: Any, n_classes: int) -> list[Array] | None:
    """Return the probabilities of the members of a forest, a bagging or a soft vote; None for a single model."""
    from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier, VotingClassifier

    if isinstance(last, RandomForestClassifier | ExtraTreesClassifier):
        rows = _as_numbers_for(prepared, np.float32)
        return [np.asarray(tree.predict_proba(rows)) for tree in last.estimators_]
    if isinstance(last, BaggingClassifier):
        rows = _as_numbers_for(prepared, None)
        pairs = zip(last.estimators_, last.estimators_features_, strict=True)
        return [_aligned(member, rows[:, features], n_classes) for member, features in pairs]
    if isinstance(last, VotingClassifier):
        return [_aligned(member, prepared, n_classes) for member in last.estimators_]
    return None


def _as_numbers_for(prepared: Any, dtype: Any) -> Any:
    """Return rows as members get them from their ensemble: an array without names, or sparse rows."""
    from sklearn.utils import check_array

    return check_array(prepared, accept_sparse="csr", dtype=dtype, ensure_all_finite=False)


def _aligned(member: Any, rows: Any, n_classes: int) -> Array:
    """Return the probabilities of one member in the columns of its ensemble, whose classes it knows by number."""
    known = np.asarray(member.classes_).astype(np.intp)
    found = np.zeros((n_rows_of(rows), n_classes))
    if hasattr(member, "predict_proba"):
        found[:, known] = member.predict_proba(rows)
    else:  # a member without probabilities votes
        found[np.arange(len(found)), np.asarray(member.predict(rows)).astype(np.intp)] = 1.0
    return found


def _checked(found: Any, n_rows: int, n_classes: int, estimator: Any) -> Array:
    """Return probabilities as an array (rows, classes); anything else is an error."""
    array = np.asarray(found, dtype=float) if not isinstance(found, list) else np.empty(0)
    if array.shape != (n_rows, n_classes):
        raise TableError(
            f"predict_proba of {type(estimator).__name__} must give one probability per class, ({n_rows:,}, "
            f"{n_classes}); got {'a list' if isinstance(found, list) else shape_of(array)}."
        )
    return array


def n_rows_of(X: Any) -> int:
    """Return how many rows there are, of arrays, frames, sparse rows and lists."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape is not None and len(shape) else len(X)


def some_rows(X: Any, rows: Any) -> Any:
    """Return some rows, by a slice or by numbers, as the kind of table that they are in."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows)


def numbers_of(prepared: Any) -> Array:
    """Return features as a dense array, (rows, features); raise if one of them is no number."""
    dense = prepared.toarray() if hasattr(prepared, "toarray") else prepared
    dense = _array_of(dense) if hasattr(dense, "to_numpy") else np.asarray(dense)
    if dense.ndim != 2:
        raise TableError(f"Features must have shape (rows, features); got {shape_of(dense)}.")
    try:
        if dense.dtype.kind not in "biufO":
            raise ValueError(f"they are of type {dense.dtype}")
        return np.ascontiguousarray(dense, dtype=float)
    except (ValueError, TypeError) as error:
        raise TableError(
            f"Distances to the training rows need numbers, and these features are not all numbers "
            f"({one_line(error, most=80)}). Put what encodes them into a scikit-learn Pipeline with the classifier, or "
            f"leave distances out: measures=['entropy', 'margin']."
        ) from None


def _array_of(frame: Any) -> NDArray[Any]:
    """Return a frame as an array; what pandas marks as missing, in columns of any type, is NaN."""
    found = np.asarray(frame.to_numpy())
    return np.where(frame.isna(), np.nan, found) if found.dtype == object and hasattr(frame, "isna") else found
