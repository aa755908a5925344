"""Detection: how well an uncertainty separates two kinds of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.errors import TableError

__all__ = ["roc_auc"]


def roc_auc(uncertainty: Any, positive: Any) -> float:
    """Area under the ROC curve: the chance that a positive row is more uncertain than a negative one.

    Parameters
    ----------
    uncertainty
        One number per row, higher = more uncertain; no NaN.
    positive
        Which rows should be the more uncertain ones (errors, out-of-distribution rows), as booleans or 0 / 1.

    Returns
    -------
    float
        In [0, 1], 0.5 for chance; a tie counts one half. NaN when all rows are of one kind: no curve exists.

    Examples
    --------
    >>> roc_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    score, label = np.asarray(uncertainty, dtype=float), np.asarray(positive).astype(bool)
    if score.shape != label.shape or score.ndim != 1:
        raise TableError(f"uncertainty and positive must be two lists of one length; got {score.shape}, {label.shape}.")
    if np.isnan(score).any():
        raise TableError(f"{int(np.isnan(score).sum()):,} rows have no uncertainty (NaN); leave them out first.")
    n_positive = int(label.sum())
    n_negative = len(label) - n_positive
    if not n_positive or not n_negative:
        return float("nan")
    ranks = average_ranks(score)
    return float((ranks[label].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def average_ranks(values: Array) -> Array:
    """Ranks from 1; equal values share the mean of their ranks."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2.0)[place])
