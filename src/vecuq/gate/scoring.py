"""What a gate knows of a model: the uncertainty of rows, and, where the model has them, p-values and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, finite_rows, one_of
from vecuq.errors import SettingError, TableError

# The order of the model itself, and the sum of scaled columns with weights from labels; columns are called by their
# names.
MODEL, WEIGHTED = "model", "weighted sum"


@runtime_checkable
class GivesUncertainty(Protocol):
    """Anything that gives rows an uncertainty: VecUQ, Ranker, VecUQPipeline, Conformal, a combiner, or yours."""

    def uncertainty(self, data: Any, /) -> Array:
        """Return one number per row, higher = more uncertain; NaN for a row without a score."""


@dataclass(frozen=True)
class Scoring:
    """How rows are scored for a decision: by which order, and which of them the guard turns away."""

    model: Any
    order: str = MODEL
    guard: float | None = None
    weights: Mapping[str, float] | None = None  # of the columns, for the order "weighted sum"

    @property
    def is_of_model(self) -> bool:
        """Whether the order is that of the model, and not of a single column."""
        return self.order == MODEL

    def scores(self, rows: Any) -> Array:
        """Return the uncertainty of every row; NaN where it has none or its p-value is below the guard."""
        values = None if self.is_of_model else values_in(self.model, rows)
        uncertainty = self.model.uncertainty(rows) if values is None else values[:, 0]
        return self.settled(uncertainty, values, None if self.guard is None else self.model.p_values(rows))

    def settled(self, uncertainty: Array, values: Array | None, p_values: Array | None) -> Array:
        """Return the scores that decide, of rows whose uncertainty, columns and p-values are known."""
        if self.is_of_model or values is None:
            found = np.array(uncertainty, dtype=float)
        else:
            complete = finite_rows(values)
            found = np.where(complete, self._of_columns(np.where(complete[:, None], values, 0.0)), np.nan)
        if self.guard is not None and p_values is not None:
            found[~(np.asarray(p_values) >= self.guard)] = np.nan
        return found

    def guarded(self, p_values: Array | None) -> NDArray[np.bool_] | None:
        """Return which rows have a p-value below the guard; None where there is no guard."""
        return None if self.guard is None or p_values is None else np.asarray(p_values) < self.guard

    def unlabelled(self) -> Array:
        """Return scores of rows that the model keeps, for thresholds; empty where it keeps none."""
        inside = inner(self.model)
        if self.is_of_model:
            return np.asarray(getattr(inside, "calibration_scores", np.empty(0)), dtype=float)
        kept = getattr(inside, "kept", None)
        return self._of_columns(kept.held) if kept is not None else np.empty(0)

    def _of_columns(self, values: Array) -> Array:
        """Return one column of complete rows, or the weighted sum of all that vary, each on its calibration scale."""
        names = columns_in(self.model)
        if self.weights is None:
            return np.asarray(values[:, names.index(self.order)], dtype=float)
        inside = inner(self.model)
        active = list(inside.active)
        weights = np.array([self.weights[names[k]] for k in active])
        return np.asarray(inside.scaler.transform(np.asarray(values[:, active], dtype=float)) @ weights)


def inner(model: Any) -> Any:
    """Return the ranker inside an estimator or pipeline, or the model itself."""
    return getattr(model, "ranker_", model)


def columns_in(model: Any) -> list[str]:
    """Return the score columns of a model; none where it does not name them."""
    return list(getattr(inner(model), "columns", None) or []) if hasattr(inner(model), "values_of") else []


def values_in(model: Any, rows: Any) -> Array:
    """Return the score columns of rows, in the direction in which higher is more uncertain."""
    table = model.measure(rows) if hasattr(model, "measure") else rows
    return np.asarray(inner(model).values_of(table), dtype=float)


def usable_model(model: Any) -> Any:
    """Return the model if it gives an uncertainty and is fitted; otherwise say what is needed."""
    if isinstance(model, type) or not isinstance(model, GivesUncertainty):
        raise TableError(
            f"A gate needs a fitted model that gives an uncertainty: VecUQ, Ranker, VecUQPipeline or Conformal; got "
            f"{model if isinstance(model, type) else type(model).__name__}."
        )
    if hasattr(model, "get_params") and not [name for name in vars(model) if name.endswith("_")]:
        raise TableError(f"This {type(model).__name__} is not fitted. Fit it first: the gate only needs labelled rows.")
    return model


def can_weigh(model: Any) -> bool:
    """Whether the columns of a model have a scale on which they can be weighted and added."""
    return len(columns_in(model)) > 1 and hasattr(inner(model), "scaler") and hasattr(inner(model), "active")


def usable_order(model: Any, order: str, choices: tuple[str, ...] = ()) -> str:
    """Return the order if the model has it."""
    known = (MODEL, *choices, *columns_in(model))
    if order == "best" and order not in known:
        raise SettingError("order='best' was removed: choose the order with other labels, and name a score column.")
    return one_of("order", order, known)


def usable_guard(model: Any, guard: float) -> None:
    """Raise if the model has no p-values, or none so small."""
    kept = np.asarray(getattr(inner(model), "calibration_scores", np.empty(0)))
    if not hasattr(model, "p_values") or not len(kept):
        raise SettingError("guard needs a model with p-values, that is one fitted with held-back rows.")
    if guard * (len(kept) + 1) <= 1.0:
        raise SettingError(
            f"guard={guard:g} turns no row away: with {len(kept):,} held-back rows the smallest p-value is "
            f"{1 / (len(kept) + 1):.2g}. Give a larger guard, or fit on more rows."
        )
