"""z-scores that neither overflow nor divide by zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq.transport import Scaler, fit_scaler

# Scaled values are kept below this, so that their squares stay finite.
FARTHEST = 1e100


@dataclass(frozen=True, eq=False)
class Standard:
    """``(s - mean) / standard deviation`` per column, both taken over the calibration rows."""

    minmax: Scaler
    mean: Array  # (columns,), of the min-max scaled calibration rows
    deviation: Array  # (columns,), never 0 since every column varies

    def __call__(self, rows: Array) -> Array:
        """Return z-scores, shape (rows, columns); a row beyond 1e100 deviations counts as there."""
        # By way of the unit interval: the moments of raw scores near the ends of float64 would overflow.
        return np.clip((self.minmax.transform(rows) - self.mean) / self.deviation, -FARTHEST, FARTHEST)


def minmax_of(rows: Array) -> Scaler:
    """Return the map that takes the calibration range of every column to [0, 1], and goes on linearly beyond."""
    return fit_scaler(rows.min(axis=0), rows.max(axis=0))


def standard_of(rows: Array) -> Standard:
    """Return the z-scores of calibration rows whose columns all vary; the deviation divides by n."""
    minmax = minmax_of(rows)
    unit = minmax.transform(rows)
    return Standard(minmax, unit.mean(axis=0), unit.std(axis=0))
