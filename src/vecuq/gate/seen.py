"""Labelled rows that the model has seen before: they must not certify what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import warn_user
from vecuq.errors import CalibrationError, CalibrationWarning
from vecuq.gate.scoring import inner, values_in

# A few equal rows among the held-back ones are no reason to look for other thresholds.
_FEW = 0.02


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
    if not hasattr(inside, "overlap"):
        return Seen(everything, among_held_back=False)
    found = inside.overlap(inside.as_table(values_in(model, rows)))
    if found.weights.unusual:
        raise CalibrationError(
            f"{int(found.weight_rows.sum()):,} of {n_rows:,} labelled rows have learned the model's weights, so they "
            f"cannot certify it as well. Give other labelled rows."
        )
    if found.map.unusual:
        warn_user(
            f"{int(found.map_rows.sum()):,} of {n_rows:,} labelled rows have fitted the model and are left out: they "
            f"cannot certify it. Label rows that it has not seen.",
            CalibrationWarning,
        )
    usable = ~found.map_rows if found.map.unusual else everything
    if not usable.any():
        raise CalibrationError("All labelled rows have fitted the model, so none can certify it. Label other rows.")
    return Seen(usable, among_held_back=bool(found.held.mean() > _FEW))
