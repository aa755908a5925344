"""VecUQPipeline: raw outputs of a classifier in, one uncertainty per row out; saved as one file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, one_of
from vecuq._files import read_tensors, write_tensors
from vecuq.errors import ModelFileError, TableError, VecuqError
from vecuq.measures import EMBEDDINGS, compositions, find_measures, fit_densities, measure
from vecuq.outputs import ClassifierOutputs
from vecuq.ranker import How, Ranker, Ranking, Settings, arrays_of, fit_ranker, header_of, ranker_of
from vecuq.table import ScoreTable


class VecUQPipeline:
    """Measures, densities and ranker in one object.

    Wherever outputs are asked for, a :class:`vecuq.ClassifierOutputs` or an array of logits will do, (rows, classes) or
    (members, rows, classes).

    Parameters
    ----------
    measures
        Names of measures and compositions; by default the paper's four.
    settings
        The choices of the ranker.
    embedding
        What densities look at: ``"embeddings"``, ``"logits"`` or ``"auto"``, the first where there are any.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> train, calibration = (rng.normal(size=(3, 300, 4)) for _ in range(2))
    >>> known = ClassifierOutputs.of(logits=train, labels=train.mean(axis=0).argmax(axis=1))
    >>> pipeline = VecUQPipeline().fit(known, calibration)
    >>> pipeline.uncertainty(rng.normal(size=(3, 5, 4))).shape
    (5,)
    """

    def __init__(
        self, measures: Sequence[str] | None = None, settings: Settings | None = None, embedding: str = "auto"
    ) -> None:
        named = compositions["eat_m"] if measures is None else [measures] if isinstance(measures, str) else measures
        self.measures = tuple(found.name for found in find_measures(named))
        self.settings = settings or Settings()
        self.embedding = one_of("embedding", embedding, EMBEDDINGS)
        self.temperature = 1.0
        self._densities: dict[str, Any] = {}
        self._ranker: Ranker | None = None

    def fit(self, train: Any, calibration: Any) -> VecUQPipeline:
        """Fit the densities to training outputs with labels (None if no measure needs them), the ranker to others.

        Calibration outputs are of in-distribution rows that the classifier was not trained on; they need no labels.
        """
        known, held = None if train is None else _as_outputs(train), _as_outputs(calibration)
        if known is not None and known.temperature != held.temperature:
            raise TableError(_other_temperature("the calibration outputs", held.temperature, known.temperature))
        self._densities = fit_densities(self.measures, known, embedding=self.embedding)
        self.temperature = held.temperature
        table = measure(held, self.measures, self._densities, embedding=self.embedding)
        self._ranker = fit_ranker(table, self.settings)
        return self

    @property
    def ranker(self) -> Ranker:
        """The fitted ranker."""
        if self._ranker is None:
            raise VecuqError("This pipeline is not fitted yet; call fit(train_outputs, calibration_outputs) first.")
        return self._ranker

    def measure(self, outputs: Any) -> ScoreTable:
        """Return the measures of new outputs as a score table."""
        self.ranker  # noqa: B018 - refuse before any work
        given = _as_outputs(outputs, temperature=self.temperature)
        if given.temperature != self.temperature:
            raise TableError(_other_temperature("these outputs", given.temperature, self.temperature))
        return measure(given, self.measures, self._densities, embedding=self.embedding)

    def rank(self, outputs: Any, **how: Unpack[How]) -> Ranking:
        """Return score, rank image and p-value of every row; for ``missing`` and more see :meth:`vecuq.Ranker.rank`."""
        return self.ranker.rank(self.measure(outputs), **how)

    def uncertainty(self, outputs: Any, **how: Unpack[How]) -> Array:
        """Return one number per row; higher is more uncertain, NaN where an output is unless ``missing="marginal"``."""
        return self.rank(outputs, **how).uncertainty

    def p_values(self, outputs: Any, **how: Unpack[How]) -> Array:
        """Return conformal p-values; see :meth:`vecuq.Ranker.p_values`."""
        return self.ranker.p_values(self.measure(outputs), **how)

    def threshold(self, alpha: float | None = None) -> float:
        """Return the score above which rows are flagged at rate ``alpha``; see :meth:`vecuq.Ranker.threshold`."""
        return self.ranker.threshold(alpha)

    def flag(self, outputs: Any, alpha: float | None = None, **how: Unpack[How]) -> NDArray[np.bool_]:
        """Return which rows are flagged at false-alarm rate ``alpha``; see :meth:`vecuq.Ranker.flag`."""
        return self.ranker.flag(self.measure(outputs), alpha, **how)

    def select(
        self, outputs: Any, alpha: float | None = None, *, method: str = "bh", **how: Unpack[How]
    ) -> NDArray[np.bool_]:
        """Return the foreign rows of a batch at false-discovery rate ``alpha``; see :meth:`vecuq.Ranker.select`."""
        return self.ranker.select(self.measure(outputs), alpha, method=method, **how)

    def explain(
        self, outputs: Any, *, method: str = "shapley", missing: str = "nan", n_jobs: int | None = None
    ) -> Array:
        """Return the contribution of every measure, (rows, measures); see :meth:`vecuq.Ranker.explain`."""
        return self.ranker.explain(self.measure(outputs), method=method, missing=missing, n_jobs=n_jobs)

    def why(self, outputs: Any, *, missing: str = "nan", n_jobs: int | None = None) -> list[str]:
        """Return one short sentence per row: which measure did it; see :meth:`vecuq.Ranker.why`."""
        return self.ranker.why(self.measure(outputs), missing=missing, n_jobs=n_jobs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pipeline to one file, whole or not at all."""
        header = {
            "measures": list(self.measures),
            "embedding": self.embedding,
            "temperature": self.temperature,
            "ranker": header_of(self.ranker),
        }
        arrays = {f"ranker/{name}": array for name, array in arrays_of(self.ranker).items()}
        for density, fitted in self._densities.items():
            arrays |= {f"density/{density}/{part}": array for part, array in fitted.arrays().items()}
        write_tensors(path, "pipeline", header, arrays)


def load_pipeline(path: str | os.PathLike[str]) -> VecUQPipeline:
    """Read a pipeline that :meth:`VecUQPipeline.save` wrote; refuse anything else with one clear line."""
    header, arrays = read_tensors(path, "pipeline")
    try:
        ranker = ranker_of(header["ranker"], _under("ranker/", arrays))
        made = VecUQPipeline(header["measures"], ranker.settings, header["embedding"])
        made.temperature = float(header["temperature"])
        made._ranker = ranker
        for found in find_measures(made.measures):
            if found.needs == "training":
                made._densities[found.name] = found.compute(**_under(f"density/{found.name}/", arrays))
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ModelFileError(f"{path} is damaged: its parts do not fit together ({error}).") from None
    return made


def _under(prefix: str, arrays: dict[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _as_outputs(data: Any, *, temperature: float = 1.0) -> ClassifierOutputs:
    if isinstance(data, ClassifierOutputs):
        return data
    if data is None:
        raise TableError("Outputs or an array of logits were expected; got None.")
    return ClassifierOutputs.of(logits=data, temperature=temperature)


def _other_temperature(what: str, got: float, needed: float) -> str:
    return f"All outputs of a pipeline need one temperature: {needed:g} was used so far, and {what} have {got:g}."
