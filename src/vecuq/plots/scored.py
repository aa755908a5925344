"""Rows as a model sees them: its columns, their uncertainty and p-values, and where its threshold lies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vecuq._check import Array
from vecuq.errors import SettingError, TableError
from vecuq.gate import Gate, LiveGate
from vecuq.ranker import How, Ranker, Ranking


class Line(NamedTuple):
    """A threshold on the uncertainty, and what it is called; ``at`` is infinite where there is none."""

    at: float
    name: str
    beyond: str = "flagged"  # what rows above it are called


def ranker_in(model: Any) -> Ranker:
    """Return the ranker inside a gate, an estimator or a pipeline; anything else is an error."""
    inside = model_in(model)
    found = getattr(inside, "ranker_", inside)
    if isinstance(found, Ranker):
        return found
    raise TableError(
        f"A plot of a model needs a fitted VecUQ, Ranker, pipeline, or a Gate around one; got {type(model).__name__}. "
        f"Fit it first, or read a saved one with vecuq.load."
    )


def model_in(model: Any) -> Any:
    """Return the model inside a gate, or the model itself."""
    found = model.gate if isinstance(model, LiveGate) else model
    return found.model if isinstance(found, Gate) else found


def columns_of(model: Any, rows: Any) -> Array:
    """Return the columns of rows, (rows, columns), in the direction in which higher is more uncertain."""
    inside = model_in(model)
    table = inside.measure(rows) if hasattr(inside, "measure") else rows
    return np.array(ranker_in(model).values_of(table, missing=missing_in(inside)), dtype=float)


def ranked(model: Any, rows: Any) -> Ranking:
    """Return the ranking of rows, without warnings; of rows that are ranked already, that ranking."""
    if isinstance(rows, Ranking):
        return rows
    ranker, how = ranker_in(model), How(warn=False)
    if missing_in(model_in(model)) == "marginal":
        how["missing"] = "marginal"
    return ranker.rank(ranker.as_table(columns_of(model, rows)), **how)


def missing_in(model: Any) -> str:
    """Return what an estimator or a pipeline does with missing values; a ranker itself scores no incomplete row."""
    return str(getattr(getattr(model, "estimator_", model), "missing", "nan"))


def threshold_of(model: Any, alpha: float | None) -> Line:
    """Return where rows are no longer accepted (a gate), or are flagged at ``alpha``; infinity where nothing says."""
    found = model.gate if isinstance(model, LiveGate) else model
    if isinstance(found, Gate) and alpha is None:
        return _accepted_up_to(found)
    ranker = ranker_in(model)
    try:
        at = ranker.threshold(alpha)
    except SettingError:
        if alpha is not None:
            raise
        return Line(np.inf, "")  # several maps have no one threshold
    word = "threshold" if ranker.diagnostics.n_held else "threshold, of the map's rows"
    return Line(at, word)


def _accepted_up_to(gate: Gate) -> Line:
    at = gate.threshold_
    if at is None or not np.isfinite(at) or not gate.scoring.is_of_model:
        return Line(np.inf, "")
    return Line(float(at), "accepted up to", "deferred")
