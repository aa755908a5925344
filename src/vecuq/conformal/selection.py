"""Selections of a batch at a false-discovery rate, and which rates so many held-back rows can deliver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, one_of
from vecuq.conformal.p_values import SLACK
from vecuq.errors import SettingError

SELECTIONS = ("bh", "by", "none")


def deliverable(alpha: object, n_held: int, *, method: str = "none", n_rows: int = 1) -> float:
    """Return ``alpha`` if some p-value can be that small; otherwise say which alpha can be had from so many rows."""
    asked = in_range("alpha", alpha, 0.0, 1.0, ends="()")
    price = _price(method, n_rows)
    if asked * (n_held + 1) >= price * (1 - 1e-9):
        return asked
    least = price / (n_held + 1)
    of_batch = f" with method='by' over {n_rows:,} rows" if method == "by" else ""
    allowed = f"allow alpha={least:.4g} or more." if least < 1 else "allow none. Use method='bh'."
    raise SettingError(
        f"alpha={asked:g}{of_batch} needs at least {int(np.ceil(price / asked - 1 - 1e-9)):,} held-back rows; "
        f"this ranker has {n_held:,}, which {allowed}"
    )


def selected(p_values: Array, alpha: float, method: str = "bh") -> NDArray[np.bool_]:
    """Return which rows of a batch are selected, by the step-up rule; one without a p-value is no test and is not.

    Examples
    --------
    >>> selected(np.array([0.01, 0.04, 0.03, 0.9]), alpha=0.1)
    array([ True,  True,  True, False])
    """
    values, counts = np.unique(p_values[~np.isnan(p_values)], return_counts=True)
    return np.asarray(p_values <= largest_selected(values, counts, alpha, method))


def largest_selected(values: Array, counts: NDArray[np.intp], alpha: float, method: str = "bh") -> float:
    """Return the largest p-value that the step-up rule selects, 0 if none; equal p-values share one fate.

    Parameters
    ----------
    values
        The different p-values of a batch, increasing.
    counts
        How many rows have each of them.
    alpha
        Wanted false-discovery rate; with ``method="none"``, false-alarm rate.
    method
        ``"bh"``, ``"by"`` or ``"none"``; see :meth:`vecuq.Ranker.select`.

    Examples
    --------
    >>> largest_selected(np.array([0.01, 0.04, 0.9]), np.array([1, 2, 1]), alpha=0.1)
    0.04
    """
    one_of("method", method, SELECTIONS)
    through = np.cumsum(counts)
    n_rows = int(through[-1]) if len(through) else 0
    steps = np.ones(len(through)) if method == "none" else through / max(n_rows, 1)
    passed = np.flatnonzero(values <= alpha / _price(method, n_rows) * steps * (1 + SLACK))
    return float(values[passed[-1]]) if len(passed) else 0.0


def _price(method: str, n_rows: int) -> float:
    """Return by how much a method divides alpha: Benjamini and Yekutieli's harmonic sum, or 1."""
    return float((1.0 / np.arange(1, n_rows + 1)).sum()) if method == "by" and n_rows else 1.0
