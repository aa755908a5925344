"""From outputs to a score table: block by block, every column that is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, one_of, warn_user
from vecuq._run import one_blas_thread
from vecuq.errors import CalibrationWarning, ColumnError, TableError
from vecuq.measures.registry import Measure, find_measures, is_risk
from vecuq.measures.risk import Predictions, RuleOnBlock
from vecuq.outputs import ClassifierOutputs
from vecuq.table import ScoreTable

EMBEDDINGS = ("auto", "embeddings", "logits")


def fit_densities(
    measures: Sequence[str], train: ClassifierOutputs | None, *, embedding: str = "auto"
) -> dict[str, Any]:
    """Fit the densities among the named measures to training outputs.

    ``embedding`` says what they look at: the embeddings, the logits (as the paper's authors do), or, with ``"auto"``,
    the embeddings where there are any.
    """
    wanted = [measure for measure in find_measures(measures) if measure.needs == "training"]
    if not wanted:
        return {}
    listed = [measure.name for measure in wanted]
    if train is None or train.labels is None:
        if train is None:
            raise TableError(f"The measures {listed} need training outputs. Give them as train=, or leave these out.")
        raise TableError(
            f"The measures {listed} need the true classes of the training outputs. Add them as `labels`, or leave "
            f"these measures out."
        )
    points = _points(train, embedding)
    with one_blas_thread():  # on a busy machine several threads have been twenty times slower
        return {measure.name: measure.compute.fit(points, train.labels) for measure in wanted}


def settled_embedding(
    embedding: str, measures: Sequence[str], train: ClassifierOutputs | None, outputs: ClassifierOutputs
) -> str:
    """Return what densities look at in all outputs; ``"auto"`` is settled by the training outputs.

    Otherwise a density of embeddings could be applied to logits.
    """
    needed = any(one.needs == "training" for one in find_measures(measures))
    if one_of("embedding", embedding, EMBEDDINGS) != "auto" or train is None or not needed:
        return embedding
    if train.embeddings is None and outputs.embeddings is not None:
        raise TableError(
            "The training outputs hold no `embeddings`, and these outputs do. Add them to the training outputs, or use "
            "embedding='logits'."
        )
    return "logits" if train.embeddings is None else "embeddings"


def warn_idle(table: ScoreTable, n_members: int) -> None:
    """Warn of measures that are the same in every row, and of those that repeat another one."""
    if len(table) < 2:
        return
    idle = _idle_columns(table.by_name())
    if idle:
        said = ", and ".join(f"{name!r} {what}" for name, what in idle.items())
        why = "With a single model, " if n_members == 1 else ""
        rest = [name for name in table.columns if name not in idle]
        remedy = f" Leave them out: measures={rest}." if rest else ""
        warn_user(f"{why}{said}, which adds nothing.{remedy}", CalibrationWarning)


def _idle_columns(columns: Mapping[str, Array]) -> dict[str, str]:
    """Return the columns that have one value, or those of an earlier column, with words that say so."""
    seen: dict[bytes, str] = {}
    found = {}
    for name, column in columns.items():
        if (column == column[0]).all():
            found[name] = f"is {column[0]:g} in every row"
        elif (other := seen.setdefault(blake2b(column.tobytes()).digest(), name)) != name:
            found[name] = f"equals {other!r}"
    return found


def measure(
    outputs: ClassifierOutputs,
    measures: Sequence[str],
    densities: Mapping[str, Any] | None = None,
    *,
    embedding: str = "auto",
    progress: Callable[[int], None] | None = None,
) -> ScoreTable:
    """Compute the named measures (or a composition's) as a score table, one column each, in blocks of rows.

    Parameters
    ----------
    outputs
        What the model said of the rows.
    measures
        Measures and compositions, see :func:`list_measures`.
    densities
        What :func:`fit_densities` made of the training outputs, with the same ``embedding``.
    embedding
        What densities look at: ``"auto"``, ``"embeddings"`` or ``"logits"``.
    progress
        Called after each block with its number of rows.

    Examples
    --------
    >>> outputs = ClassifierOutputs.of(logits=np.zeros((2, 1, 4)))
    >>> measure(outputs, ["entropy", "mutual_information"]).values.round(6)
    array([[1.386294, 0.      ]])
    """
    wanted, fitted = find_measures(measures), dict(densities or {})
    _refuse_impossible(wanted, outputs, fitted)
    values = np.empty((outputs.n_rows, len(wanted)))
    dense = [k for k, column in enumerate(wanted) if column.needs == "training"]
    plain = [k for k in range(len(wanted)) if k not in dense]
    points = _points(outputs, embedding) if dense else None
    with one_blas_thread():
        for k in dense:  # a density reads what it needs, block by block
            values[:, k] = fitted[wanted[k].name].score(points)
    for span, block in outputs.blocks() if plain else ():
        values[span, plain] = _columns([wanted[k] for k in plain], block)
        if progress is not None:
            progress(span.stop - span.start)
    return ScoreTable(tuple(column.name for column in wanted), values)


def predicted_classes(outputs: ClassifierOutputs) -> NDArray[np.intp]:
    """Return the number of the most probable class of the mean prediction, per row."""
    found = np.empty(outputs.n_rows, dtype=np.intp)
    for span, block in outputs.blocks():
        found[span] = Predictions(block).mean.argmax(axis=-1)
    return found


def _points(outputs: ClassifierOutputs, embedding: str) -> list[Any]:
    """Return what densities look at, one (rows, d) array per member, read when it is needed."""
    one_of("embedding", embedding, EMBEDDINGS)
    if embedding == "embeddings" and outputs.embeddings is None:
        raise TableError(
            "These outputs hold no `embeddings`, which the densities look at. Add them, or use embedding='logits' for "
            "all outputs."
        )
    if embedding == "logits" or outputs.embeddings is None:
        return outputs.logits_as_embeddings()
    return [outputs.embeddings] if outputs.embeddings.ndim == 2 else list(outputs.embeddings)


def _columns(wanted: Sequence[Measure], block: Array) -> Array:
    """Compute every column on one block; the risks share what they have in common."""
    rules: dict[str, RuleOnBlock] = {}
    shared: list[Predictions] = []
    columns = np.empty((block.shape[1], len(wanted)))
    # A logit that is NaN or +inf makes its own row NaN, and needs no further words.
    with np.errstate(invalid="ignore"):
        for k, column in enumerate(wanted):
            columns[:, k] = _one_number_per_row(column, _plain(column, block, shared, rules), len(columns))
    return columns


def _plain(column: Measure, block: Array, shared: list[Predictions], rules: dict[str, RuleOnBlock]) -> Any:
    if not is_risk(column):
        return column.compute(block)
    chosen = {"prediction": 1, **column.compute.keywords}
    if not shared:
        shared.append(Predictions(block))
    rule = rules.setdefault(chosen["rule"], RuleOnBlock(shared[0], chosen["rule"]))
    return rule.risk(chosen["kind"], chosen["truth"], chosen["prediction"])


def _one_number_per_row(column: Measure, found: Any, n_rows: int) -> Array:
    array = np.asarray(found, dtype=float)
    if array.shape != (n_rows,):
        raise ColumnError(f"The measure {column.name!r} gave shape {array.shape}; one number per row was needed.")
    return array


def _refuse_impossible(wanted: Sequence[Measure], outputs: ClassifierOutputs, fitted: Mapping[str, Any]) -> None:
    raw = [measure.name for measure in wanted if measure.needs == "raw logits"]
    if raw and outputs.are_probabilities:
        raise TableError(f"The measures {raw} need logits; these outputs are probabilities. Leave them out.")
    absent = [measure.name for measure in wanted if measure.needs == "training" and measure.name not in fitted]
    if absent:
        raise TableError(f"The measures {absent} must be fitted to training outputs first: give train=.")
