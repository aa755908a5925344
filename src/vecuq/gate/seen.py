"""Labelled rows that the model has seen before: they must not certify what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import warn_user
from vecuq.errors import CalibrationError, CalibrationWarning
from vecuq.gate.scoring import inner, values_in


@dataclass(frozen=True)
class Seen:
    """Which labelled rows may certify, and whether thresholds must come from other rows than those held back."""

    usable: NDArray[np.bool_]
    among_held_back: bool


def unseen_rows(model: Any, rows: Any, n_rows: int) -> Seen:
    """Leave out labelled rows that fitted the map, where more match it than chance explains; refuse the weights' rows.

    Discrete scores match honestly: the held-back rows of the model show how often.
    """
    everything = np.ones(n_rows, dtype=bool)
    inside = inner(model)
    if not hasattr(inside, "kept"):
        return Seen(everything, among_held_back=False)
    values = values_in(model, rows)
    if not hasattr(inside, "overlap"):
        return Seen(everything, among_held_back=_among(values, inside.kept.held))
    found = inside.overlap(inside.as_table(values))
    if found.weight_rows.mean() > found.usual + 0.02 and found.weight_rows.sum() >= 3:
        raise CalibrationError(
            f"{int(found.weight_rows.sum()):,} of {n_rows:,} labelled rows have learned the model's weights, so they "
            f"cannot certify it as well. Give other labelled rows."
        )
    usable = everything
    if found.share > found.usual + max(0.02, 3 * np.sqrt(found.usual / max(n_rows, 1))):
        usable = ~found.map_rows
        warn_user(
            f"{int(found.map_rows.sum()):,} of {n_rows:,} labelled rows have fitted the model and are left out: they "
            f"cannot certify it. Label rows that it has not seen.",
            CalibrationWarning,
        )
    return Seen(usable, among_held_back=_among(values, inside.kept.held))


def _among(values: NDArray[np.float64], held: NDArray[np.float64]) -> bool:
    """Whether more than a few of the labelled rows are rows that were held back."""
    if not len(held) or not len(values):
        return False
    known = {row.tobytes() for row in np.ascontiguousarray(held)}
    return sum(row.tobytes() in known for row in np.ascontiguousarray(values)) > 0.02 * len(values)
