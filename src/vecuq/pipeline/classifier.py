"""VecUQPipeline: raw outputs of a classifier in, one uncertainty per row out; saved as one file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from vecuq._check import Array, keywords_only, one_of
from vecuq._files import checked_header, tensor_bytes, under, write_tensors
from vecuq.errors import TableError
from vecuq.measures import (
    EMBEDDINGS,
    compositions,
    find_measures,
    fit_densities,
    measure,
    settled_embedding,
    warn_idle,
)
from vecuq.outputs import ClassifierOutputs
from vecuq.pipeline.sense import PipelineHeader, densities_of
from vecuq.pipeline.verbs import RankedMeasures
from vecuq.ranker import Ranker, VecUQ, card_of, parts_of, ranker_of
from vecuq.table import ScoreTable


class VecUQPipeline(RankedMeasures, BaseEstimator):  # type: ignore[misc]
    """Measures, densities and ranker in one scikit-learn estimator.

    Wherever outputs are needed, a :class:`vecuq.ClassifierOutputs` or an array of logits will do, (rows, classes) or
    (members, rows, classes).

    Parameters
    ----------
    measures
        Names of measures and compositions; by default the paper's four.
    estimator
        The :class:`vecuq.VecUQ` that ranks the measures, unfitted; by default ``VecUQ()``.
    embedding
        What densities look at: ``"embeddings"``, ``"logits"`` or ``"auto"``, the first where there are any.

    Attributes
    ----------
    measures_ : tuple of str
        The measures, which are the columns of the ranker.
    ranker_ : Ranker
        The fitted, frozen ranker of the measures; ``estimator_`` is the :class:`vecuq.VecUQ` around it.
    temperature_, shape_ : float, tuple of int
        The temperature of the calibration outputs, and their members and classes, which new outputs must share.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> train, calibration = (rng.normal(size=(3, 300, 4)) for _ in range(2))
    >>> known = ClassifierOutputs.of(logits=train, labels=train.mean(axis=0).argmax(axis=1))
    >>> pipeline = VecUQPipeline().fit(calibration, train=known)
    >>> pipeline.uncertainty(rng.normal(size=(3, 5, 4))).shape
    (5,)
    """

    measures_: tuple[str, ...]
    embedding_: str  # what the densities look at
    temperature_: float
    shape_: tuple[int, int] | None  # members and classes; not kept by vecuq 0.1.0
    densities_: dict[str, Any]
    estimator_: VecUQ
    ranker_: Ranker
    offset_: float

    @keywords_only
    def __init__(
        self, *, measures: str | Sequence[str] | None = None, estimator: VecUQ | None = None, embedding: str = "auto"
    ) -> None:
        self.measures = measures
        self.estimator = estimator
        self.embedding = embedding

    def set_params(self, **params: Any) -> VecUQPipeline:
        """Set parameters by name; ``estimator__alpha`` and its like also where the estimator is the default one."""
        nested = any(name.startswith("estimator__") for name in params)
        if nested and params.get("estimator", self.estimator) is None:
            params["estimator"] = VecUQ()
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: Any = None, *, train: Any = None, groups: Any = None) -> VecUQPipeline:
        """Fit the ranker to calibration outputs, and the densities, if any are measured, to training outputs.

        Parameters
        ----------
        X
            Outputs of in-distribution rows that the classifier was not trained on; they need no labels.
        y
            Ignored.
        train
            Outputs of training rows with labels; needed by densities such as ``mahalanobis``, part of the default.
        groups
            The group of each calibration row, where rows come together; see :func:`vecuq.fit_ranker`.
        """
        _refuse_old_form(y)
        one_of("embedding", self.embedding, EMBEDDINGS)
        named = compositions["eat_m"] if self.measures is None else self.measures
        self.measures_ = tuple(found.name for found in find_measures([named] if isinstance(named, str) else named))
        held, known = self._outputs(X, reset=True), None if train is None else _as_outputs(train)
        if known is not None and known.temperature != held.temperature:
            raise TableError(_other_temperature("the calibration outputs", held.temperature, known.temperature))
        self.temperature_ = held.temperature
        self.shape_ = len(held.members), held.n_classes
        self.embedding_ = settled_embedding(self.embedding, self.measures_, known, held)
        self.densities_ = fit_densities(self.measures_, known, embedding=self.embedding_)
        table = measure(held, self.measures_, self.densities_, embedding=self.embedding_)
        warn_idle(table, len(held.members))
        self.estimator_ = clone(self.estimator or VecUQ()).fit(table, groups=groups)
        self.ranker_ = self.estimator_.ranker_
        self.offset_ = self.estimator_.offset_
        return self

    def measure(self, X: Any) -> ScoreTable:
        """Return the measures of new outputs as a score table."""
        check_is_fitted(self)
        given = self._outputs(X, reset=False)
        if given.temperature != self.temperature_:
            raise TableError(_other_temperature("these outputs", given.temperature, self.temperature_))
        if self.shape_ is not None and (len(given.members), given.n_classes) != self.shape_:
            raise TableError(
                f"This pipeline was fitted on {self.shape_[0]} members and {self.shape_[1]} classes; these outputs "
                f"have {len(given.members)} and {given.n_classes}. Give outputs of the same ensemble, or fit again."
            )
        return measure(given, self.measures_, self.densities_, embedding=self.embedding_)

    @property
    def ranking_(self) -> VecUQ:
        """The fitted estimator that ranks the measures."""
        return self.estimator_

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pipeline to one file, whole or not at all; :func:`vecuq.load` reads it."""
        write_tensors(path, *self._parts())

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write; :func:`vecuq.load` reads it too."""
        return tensor_bytes(*self._parts())

    def describe(self) -> dict[str, Any]:
        """Return the measures, what densities look at, the temperature, and what the ranker says of itself."""
        check_is_fitted(self)
        own = {"measures": list(self.measures_), "embedding": self.embedding_, "temperature": self.temperature_}
        return own | self.ranker_.describe()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Show a fitted pipeline as a card in notebooks, an unfitted one as scikit-learn does."""
        if not hasattr(self, "ranker_"):
            return dict(super()._repr_mimebundle_(**kwargs))
        facts = {"densities": ", ".join(self.densities_) or "none", "temperature": f"{self.temperature_:g}"}
        return {"text/plain": repr(self), "text/html": card_of(self.ranker_, "VecUQPipeline", facts)}

    def _parts(self) -> tuple[str, dict[str, Any], dict[str, Array]]:
        check_is_fitted(self)
        _, model, kept = parts_of(self.ranker_)
        arrays = {f"ranker/{name}": array for name, array in kept.items()}
        for density, fitted in self.densities_.items():
            arrays |= {f"density/{density}/{part}": array for part, array in fitted.arrays().items()}
        header = {"measures": list(self.measures_), "embedding": self.embedding_, "temperature": self.temperature_}
        return "pipeline", {**header, "shape": self.shape_, "ranker": model}, arrays

    def _outputs(self, X: Any, *, reset: bool) -> ClassifierOutputs:
        """Return outputs; a plain table of logits is checked with scikit-learn's own messages."""
        if not isinstance(X, ClassifierOutputs) and _n_axes(X) != 3:
            floats, fewest = [np.float64, np.float32], 2 if reset else 1
            X = validate_data(self, X, reset=reset, dtype=floats, ensure_all_finite=False, ensure_min_features=fewest)
        return _as_outputs(X, temperature=1.0 if reset else self.temperature_)


def pipeline_of(header: dict[str, Any], arrays: dict[str, Array]) -> VecUQPipeline:
    """Put a saved pipeline together again; raise if a part of it makes no sense, by itself or beside the others."""
    known = checked_header(header, PipelineHeader)
    ranker = ranker_of(known.ranker, under("ranker/", arrays))
    estimator = VecUQ.from_ranker(ranker)
    made = VecUQPipeline(measures=list(known.measures), estimator=estimator, embedding=known.embedding)
    made.measures_, made.temperature_, made.shape_ = known.measures, known.temperature, known.shape
    made.embedding_ = known.embedding
    made.densities_ = densities_of(known, ranker, arrays)
    made.estimator_, made.ranker_, made.offset_ = estimator, ranker, estimator.offset_
    return made


def _refuse_old_form(y: Any) -> None:
    """Raise where training outputs come first and calibration outputs second, as they did in vecuq 0.1."""
    if isinstance(y, ClassifierOutputs) or _n_axes(y) == 3:
        raise TableError(
            "fit takes the calibration outputs first and the training outputs by name: fit(calibration, train=train)."
        )


def _n_axes(data: Any) -> int:
    """Return the number of axes of anything like an array; 0 for what has none."""
    return np.ndim(data) if isinstance(data, list | tuple) else int(getattr(data, "ndim", 0))


def _as_outputs(data: Any, *, temperature: float = 1.0) -> ClassifierOutputs:
    if isinstance(data, ClassifierOutputs):
        return data
    return ClassifierOutputs.of(logits=data, temperature=temperature)


def _other_temperature(what: str, got: float, needed: float) -> str:
    return f"All outputs of a pipeline need one temperature: {needed:g} was used so far, and {what} have {got:g}."
