"""From outputs to a score table: block by block, every column that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from vecuq._check import Array, one_of
from vecuq.errors import ColumnError, TableError
from vecuq.measures.density import embeddings_of
from vecuq.measures.registry import Measure, find_measures
from vecuq.measures.risk import Predictions, RuleOnBlock, risk
from vecuq.outputs import ClassifierOutputs
from vecuq.table import ScoreTable

__all__ = ["EMBEDDINGS", "fit_densities", "measure"]

EMBEDDINGS = ("auto", "embeddings", "logits")


def fit_densities(names: Sequence[str], train: ClassifierOutputs | None, *, embedding: str = "auto") -> dict[str, Any]:
    """Fit the densities among the named measures to training outputs."""
    wanted = [measure for measure in find_measures(names) if measure.needs == "training"]
    if not wanted:
        return {}
    listed = [measure.name for measure in wanted]
    if train is None or train.labels is None:
        lack = "training outputs" if train is None else "labels in the training outputs"
        raise TableError(f"The measures {listed} need {lack} (--train). Give them, or leave these measures out.")
    points = embedding_of(train, embedding)
    return {measure.name: measure.compute.fit(points, train.labels) for measure in wanted}


def embedding_of(outputs: ClassifierOutputs, embedding: str = "auto") -> Array:
    """Return what densities look at: the embeddings, or the logits (as the paper's authors do) where there are none."""
    one_of("embedding", embedding, EMBEDDINGS)
    if embedding == "embeddings" and outputs.embeddings is None:
        raise TableError("These outputs hold no `embeddings`. Add them, or use embedding='logits'.")
    if embedding != "logits" and outputs.embeddings is not None:
        return embeddings_of(outputs.embeddings)
    return np.concatenate([np.maximum(block, _LEAST) for _, block in outputs.blocks()], axis=1)


# The logarithm of a probability of zero would make every distance infinite.
_LEAST = -745.0


def measure(
    outputs: ClassifierOutputs,
    names: Sequence[str],
    densities: Mapping[str, Any] | None = None,
    *,
    embedding: str = "auto",
    progress: Callable[[int], None] | None = None,
) -> ScoreTable:
    """Compute the named measures (or a composition's) as a score table, one column each, in blocks of rows."""
    wanted = find_measures(names)
    fitted = dict(densities or {})
    _refuse_impossible(wanted, outputs, fitted)
    values = np.empty((outputs.n_rows, len(wanted)))
    plain = [(k, measure) for k, measure in enumerate(wanted) if measure.needs != "training"]
    for span, block in outputs.blocks() if plain else ():
        predictions = Predictions(block)
        rules: dict[str, RuleOnBlock] = {}
        for k, column in plain:
            values[span, k] = _column(column, block, predictions, rules)
        if progress is not None:
            progress(span.stop - span.start)
    points = embedding_of(outputs, embedding) if len(plain) < len(wanted) else None
    for k, column in enumerate(wanted):
        if column.needs == "training":
            values[:, k] = fitted[column.name].score(points)
    return ScoreTable(tuple(column.name for column in wanted), values)


def _column(column: Measure, block: Array, predictions: Predictions, rules: dict[str, RuleOnBlock]) -> Array:
    """Compute one column; risks of one rule share what they have in common."""
    compute = column.compute
    if isinstance(compute, partial) and compute.func is risk:
        wanted = {"kind": "total", "truth": 1, "prediction": 1, **compute.keywords}
        rule = rules.setdefault(wanted["rule"], RuleOnBlock(predictions, wanted["rule"]))
        return np.asarray(rule.risk(wanted["kind"], wanted["truth"], wanted["prediction"]))
    found = np.asarray(compute(block), dtype=float)
    if found.shape != (block.shape[1],):
        raise ColumnError(f"The measure {column.name!r} gave shape {found.shape}; one number per row was needed.")
    return found


def _refuse_impossible(wanted: Sequence[Measure], outputs: ClassifierOutputs, fitted: Mapping[str, Any]) -> None:
    raw = [measure.name for measure in wanted if measure.needs == "raw logits"]
    if raw and outputs.are_probabilities:
        raise TableError(f"The measures {raw} need logits; these outputs are probabilities. Leave them out.")
    absent = [measure.name for measure in wanted if measure.needs == "training" and measure.name not in fitted]
    if absent:
        raise TableError(f"The measures {absent} must be fitted to training outputs first (--train).")
