"""What comes in, checked, and what makes a metric impossible, in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecuq._check import Array, shape_of
from vecuq.errors import TableError
from vecuq.evaluation.tally import Order, Tally

# Returns one number for each resample of a tally.
Kernel = Callable[[Tally], Array]
ONE_KIND = ("all labels are 0", "all labels are 1")


def scores_of(values: Any, name: str = "uncertainty") -> Array:
    """Return one number per row; infinities have their place in the order, NaN has none."""
    scores = numbers_of(values, name)
    if np.isnan(scores).any():
        raise TableError(f"{int(np.isnan(scores).sum()):,} rows have no {name} (NaN); leave them out first.")
    return scores


def methods_of(uncertainties: Any) -> dict[str, Array]:
    """Return the uncertainties by the name of their method, all of one length; unknown ones are NaN."""
    if not hasattr(uncertainties, "items"):
        raise TableError(f"Uncertainties must come by name, as a dict; got a {type(uncertainties).__name__}.")
    methods = {str(name): numbers_of(one, f"uncertainty of {name!r}") for name, one in uncertainties.items()}
    lengths = {name: len(one) for name, one in methods.items()}
    if not methods:
        raise TableError("There is no uncertainty to evaluate. Give at least one method.")
    if len(set(lengths.values())) > 1:
        raise TableError(f"All methods must have the same rows; got {lengths}.")
    return methods


def labels_of(values: Any, n_rows: int, name: str) -> Array:
    """Return labels as 0.0 and 1.0; anything else, unknown included, is refused."""
    labels = of_length(numbers_of(values, name), n_rows, name)
    if np.isnan(labels).any():
        raise TableError(f"{int(np.isnan(labels).sum()):,} rows have no {name} (NaN); leave them out first.")
    wrong = labels[(labels != 0.0) & (labels != 1.0)]
    if len(wrong):
        raise TableError(f"{name} must be 0 or 1, or false or true; got {wrong[0]:g}.")
    return labels


def qualities_of(values: Any, n_rows: int) -> Array:
    """Return one finite quality per row."""
    quality = of_length(scores_of(values, "quality"), n_rows, "quality")
    if np.isinf(quality).any():
        raise TableError(f"quality must be finite; {int(np.isinf(quality).sum()):,} rows are infinite.")
    return quality


def numbers_of(values: Any, name: str) -> Array:
    """Return a list of numbers as floats; unknown ones are NaN."""
    try:
        masked = np.ma.isMaskedArray(values)
        numbers = np.asarray(values.astype(float).filled(np.nan) if masked else values, dtype=float)
    except (TypeError, ValueError):
        raise TableError(f"{name} must be one number per row; got something that is no number.") from None
    if numbers.ndim != 1:
        raise TableError(f"{name} must be one number per row; got {shape_of(numbers)}.")
    return numbers


def of_length(values: Array, n_rows: int, name: str) -> Array:
    """Return ``values`` if there is one for each row."""
    if len(values) != n_rows:
        raise TableError(
            f"uncertainty and {name} must be two lists of one length; got {n_rows:,} and {len(values):,} rows."
        )
    return values


def defect(uncertainty: Array, target: Array, one_kind: tuple[str, ...] = ONE_KIND) -> str | None:
    """Return why no order can be judged on these rows, in one line; None if it can.

    ``one_kind`` says what it means that all targets are 0, and that all are something else.
    """
    if len(target) < 2:
        return "there is only one row" if len(target) else "there are no rows"
    if (target == target[0]).all():
        return f"{one_kind[int(target[0] != 0)]} ({len(target):,} rows)"
    if (uncertainty == uncertainty[0]).all():
        return f"the uncertainty is the same on all rows ({len(target):,} rows)"
    return None


def measured(kernel: Kernel, uncertainty: Array, target: Array) -> float:
    """Return what a kernel gives on the rows as they are; NaN where no order can be judged."""
    if defect(uncertainty, target) is not None:
        return float("nan")
    return float(kernel(one_resample(uncertainty, target))[0])


def one_resample(uncertainty: Array, target: Array) -> Tally:
    """Count every row once."""
    once = np.ones((len(target), 1))
    order, best = Order.of(uncertainty), Order.of(-target)
    weighted = target[:, None]
    ideal = Tally(best.grouped(once), best.grouped(weighted))
    return Tally(order.grouped(once), order.grouped(weighted), ideal)
