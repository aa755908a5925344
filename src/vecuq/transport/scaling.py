"""Bringing columns of any size to one scale, fitted on calibration rows only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecuq._check import Array, one_of
from vecuq.errors import CalibrationError, SettingError

SCALINGS = ("featurewise", "global", "identity", "quantile")

# Scaled values are kept below this, so that a norm over ten columns stays finite.
SCALED_LIMIT = 1e300
_LEVELS = 1001


@dataclass(frozen=True)
class Scaler:
    """An increasing map per column: ``(s - lower) / span``, or through quantile knots between the extremes.

    Calibration rows land in [0, 1] (in [-1, 1] when ``signed``), except under ``identity``. Beyond the
    calibration range every kind goes on linearly, so that order is never lost. Weights multiply what is scaled.
    """

    kind: str
    signed: bool
    lower: Array  # (columns,)
    span: Array  # (columns,)
    knots: Array  # (levels, columns) for "quantile", otherwise (0, columns)
    weights: Array | None = None  # (columns,), positive, the largest 1; None where all are 1

    def transform(self, values: Array) -> Array:
        """Scale rows, shape (rows, columns); increasing in every column, never infinite."""
        scaled = np.array(values, dtype=float, order="F")  # every column in one piece: loops over rows are long then
        with np.errstate(over="ignore"):
            scaled -= self.lower
            scaled /= self.span
        np.minimum(np.maximum(scaled, -SCALED_LIMIT, out=scaled), SCALED_LIMIT, out=scaled)
        if len(self.knots):
            for k in range(scaled.shape[1]):
                _through_knots(values[:, k], *self.levels(k), scaled[:, k])
        if self.signed and self.kind != "identity":
            scaled = 2.0 * scaled - 1.0
        return scaled if self.weights is None else scaled * self.weights

    def levels(self, k: int) -> tuple[Array, Array]:
        """Return the different knots of a column and the level at each; equal knots share their mean level."""
        places, first, count = np.unique(self.knots[:, k], return_index=True, return_counts=True)
        levels = (first + 0.5 * (count - 1)) / (len(self.knots) - 1)
        return places, (levels - levels[0]) / (levels[-1] - levels[0])


def fit_scaler(
    lower: Array, upper: Array, kind: str = "featurewise", *, signed: bool = False, rows: Array | None = None
) -> Scaler:
    """Fit a scaler to the smallest and largest calibration values of columns that all vary.

    Parameters
    ----------
    lower, upper
        Smallest and largest value per column.
    kind
        ``"featurewise"``: min-max per column. ``"global"``: one min-max over all columns. ``"identity"``: none.
        ``"quantile"``: the column's empirical distribution function, which needs the rows.
    signed
        Map to [-1, 1] instead of [0, 1], for references that are symmetric about the origin.
    rows
        Calibration rows, for ``"quantile"``.

    Examples
    --------
    >>> import numpy as np
    >>> fit_scaler(np.array([0.0, 10.0]), np.array([4.0, 30.0])).transform(np.array([[2.0, 50.0]]))
    array([[0.5, 2. ]])
    """
    one_of("scaling", kind, SCALINGS)
    if kind == "identity":
        lower, upper = np.zeros_like(lower), np.ones_like(upper)
    elif kind == "global":
        lower, upper = np.full_like(lower, lower.min()), np.full_like(upper, upper.max())
    with np.errstate(over="ignore"):
        span = upper - lower
    if not np.isfinite(span).all():
        raise CalibrationError("A score column spans more than a float64 can hold; divide it by a constant first.")
    return Scaler(kind, signed, lower, span, _knots(rows, kind, len(lower)))


def _knots(rows: Array | None, kind: str, n_columns: int) -> Array:
    if kind != "quantile":
        return np.empty((0, n_columns))
    if rows is None:
        raise SettingError("scaling='quantile' needs the calibration rows themselves; a sketch does not keep them.")
    return np.asarray(np.quantile(rows, np.linspace(0.0, 1.0, min(_LEVELS, max(2, len(rows)))), axis=0))


def _through_knots(values: Array, places: Array, levels: Array, out: Array) -> None:
    """Replace scaled values inside the calibration range by their level."""
    inside = (values >= places[0]) & (values <= places[-1])
    out[inside] = np.interp(values[inside], places, levels)
