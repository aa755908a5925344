"""From scores to decisions: conformal p-values, flags at a false-alarm rate, selections at a false-discovery rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, one_of
from vecuq.errors import SettingError

__all__ = ["SELECTIONS", "TIES", "conformal_p_values", "deliverable", "flagged", "luck_of", "selected", "threshold_at"]

TIES = ("conservative", "randomised")
SELECTIONS = ("bh", "by", "none")
# An alpha of 0.1 and a p-value of 5 / 50 must meet, although neither is a binary fraction.
_SLACK = 1e-12


def conformal_p_values(scores: Array, calibration: Array, luck: Array | None = None) -> Array:
    """Return ``p = (1 + #{calibration > score} + ties) / (n + 1)`` for every score; NaN for NaN.

    Parameters
    ----------
    scores
        Scores of new rows, (rows,).
    calibration
        Scores of held-back rows, increasing.
    luck
        One number in [0, 1) per row, which says how many of its ties count; None counts them all against the row.

    Examples
    --------
    >>> conformal_p_values(np.array([0.5, 2.0, 9.0]), np.array([1.0, 2.0, 3.0]))
    array([1.  , 0.75, 0.25])
    """
    n = len(calibration)
    above = n - np.searchsorted(calibration, scores, side="right")
    tied = n - np.searchsorted(calibration, scores, side="left") - above
    counted = above + (tied if luck is None else np.floor(luck * (tied + 1.0)))
    return np.where(np.isnan(scores), np.nan, (1.0 + counted) / (n + 1.0))


def luck_of(ties: str, n_rows: int, random_state: int | None) -> Array | None:
    """Return the draws that break ties at random, one per row in the order of the rows; None to count every tie."""
    if one_of("ties", ties, TIES) == "conservative":
        return None
    return np.random.default_rng(random_state or 0).random(n_rows)


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


def threshold_at(calibration: Array, alpha: float) -> float:
    """Return the score above which a p-value is at most ``alpha``, or as near to it as the rows allow."""
    n = len(calibration)
    above = int(np.floor(alpha * (n + 1) + 1e-9)) - 1
    return float(calibration[n - 1 - min(max(above, 0), n - 1)])


def flagged(p_values: Array, alpha: float) -> NDArray[np.bool_]:
    """Return which rows are flagged; one without a p-value is, for nothing says that it is in-distribution."""
    return np.asarray(~(p_values > alpha * (1 + _SLACK)))


def selected(p_values: Array, alpha: float, method: str = "bh") -> NDArray[np.bool_]:
    """Return which rows of a batch are selected, by the step-up rule; one without a p-value is no test and is not.

    Examples
    --------
    >>> selected(np.array([0.01, 0.04, 0.03, 0.9]), alpha=0.1)
    array([ True,  True,  True, False])
    """
    one_of("method", method, SELECTIONS)
    tests = np.flatnonzero(~np.isnan(p_values))
    order = tests[np.argsort(p_values[tests], kind="stable")]
    steps = np.ones(len(order)) if method == "none" else np.arange(1, len(order) + 1) / max(len(order), 1)
    passed = np.flatnonzero(p_values[order] <= alpha / _price(method, len(order)) * steps * (1 + _SLACK))
    chosen = np.zeros(len(p_values), dtype=bool)
    chosen[order[: passed[-1] + 1 if len(passed) else 0]] = True
    return chosen


def _price(method: str, n_rows: int) -> float:
    """Return by how much a method divides alpha: Benjamini and Yekutieli's harmonic sum, or 1."""
    return float((1.0 / np.arange(1, n_rows + 1)).sum()) if method == "by" and n_rows else 1.0
