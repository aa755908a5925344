"""Selections of a batch at a false-discovery rate, and which rates so many held-back rows can deliver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, one_of
from vecuq.conformal.p_values import SLACK
from vecuq.errors import SettingError

SELECTIONS = ("bh", "by", "none")


def deliverable(alpha: object, n_held: int, *, method: str = "none", n_rows: int = 1, unit: str = "rows") -> float:
    """Return ``alpha`` if some p-value can be that small; otherwise say which alpha so many held-back rows allow.

    ``unit`` is what is held back: rows, or groups of rows.
    """
    wanted = in_range("alpha", alpha, 0.0, 1.0, ends="()")
    price = _price(method, n_rows)
    if wanted * (n_held + 1) >= price * (1 - 1e-9):
        return wanted
    least = price / (n_held + 1)
    of_batch = f" with method='by' over {n_rows:,} rows" if method == "by" else ""
    allowed = f"allow alpha={least:.4g} or more." if least < 1 else "allow none. Use method='bh'."
    raise SettingError(
        f"alpha={wanted:g}{of_batch} needs at least {np.ceil(price / wanted - 1 - 1e-9):,.15g} held-back {unit}; "
        f"this model has {n_held:,}, which {allowed}"
    )


def selected(p_values: Array, alpha: float, method: str = "bh") -> NDArray[np.bool_]:
    """Return which rows of a batch are selected, by the step-up rule; a row without a p-value is not.

    **Assumption.** As for :func:`conformal_p_values`, for every in-distribution row of the batch; these rows are also
    independent of each other. ``"by"`` needs no more than p-values that are valid one by one.

    **Promise.** Of the rows selected from one batch, a share of at most ``alpha`` is in-distribution, on average over
    batches and calibration sets. It is a promise about batches: rows selected from many small batches, taken together,
    may be wrong more often.

    **Theorem.** Conformal p-values that share a calibration set are positively dependent, so the rule of Benjamini and
    Hochberg (1995) holds: Bates, Candes, Lei, Romano and Sesia, *Testing for outliers with conformal p-values*,
    Annals of Statistics (2023), theorem 2. ``"by"``: Benjamini and Yekutieli (2001).

    Examples
    --------
    >>> selected(np.array([0.01, 0.04, 0.03, 0.9]), alpha=0.1)
    array([ True,  True,  True, False])
    """
    values, counts = np.unique(p_values[~np.isnan(p_values)], return_counts=True)
    return np.asarray(p_values <= largest_selected(values, counts, alpha, method))


def rows_needed(alpha: float, n_held: int, n_rows: int, method: str = "bh") -> int:
    """Return how many of ``n_rows`` rows must have the smallest possible p-value before any row is selected.

    The step-up rule selects k rows if k of them have p <= alpha k / n_rows, and no p-value is below 1 / (n_held + 1).

    Examples
    --------
    >>> rows_needed(0.05, 1_000, 5_000)
    100
    """
    if one_of("method", method, SELECTIONS) == "none":
        return 1
    return max(1, int(np.ceil(n_rows * _price(method, n_rows) / (alpha * (n_held + 1)) * (1 - SLACK))))


def largest_selected(values: Array, counts: NDArray[np.intp], alpha: float, method: str = "bh") -> float:
    """Return the largest p-value that the step-up rule selects, 0 if none; equal p-values are treated alike.

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
