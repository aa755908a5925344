"""Where a score stands among the calibration rows: percentiles from the rows that a model keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vecuq._check import Array, finite_rows
from vecuq.report.subject import Subject


@dataclass(frozen=True, eq=False)
class Known:
    """Calibration rows with which a cell can be compared, in the direction in which higher is more uncertain."""

    rows: Array  # (rows, columns)
    weights: Array  # (rows,), adding up to one
    words: str

    def percentiles(self, values: Array) -> list[list[float | None]]:
        """Return the percentile of every cell, ties counting half; None where a value is missing or infinite."""
        columns = [self._column(known, new) for known, new in zip(self.rows.T, values.T, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)] if len(values) else []

    def _column(self, known: Array, new: Array) -> list[float | None]:
        order = np.argsort(known, kind="stable")
        below = np.concatenate([[0.0], np.cumsum(self.weights[order])])
        left, right = (np.searchsorted(known[order], new, side=side) for side in ("left", "right"))
        found = 50.0 * (below[left] + below[right])
        return [round(float(p), 1) if math.isfinite(x) else None for p, x in zip(found, new, strict=True)]


def known_rows(subject: Subject) -> Known | None:
    """Return the rows that cells are compared with: those the model holds back, or else a calibration table.

    None where neither is there: medians and ranges, which every model keeps, give no percentiles.
    """
    kept = subject.ranker.kept
    if len(kept.held):
        weights = np.ones(len(kept.held)) if kept.weights is None else kept.weights
        return Known(kept.held, weights / weights.sum(), f"{len(kept.held):,} held-back calibration rows")
    if subject.beside.calibration is None:
        return None
    values = subject.ranker.values_of(subject.beside.calibration)
    complete = values[finite_rows(values)]
    if not len(complete):
        return None
    return Known(complete, np.full(len(complete), 1.0 / len(complete)), f"{len(complete):,} calibration rows")
