"""The share of rows that have something in common, with an interval; rows may come in groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range
from vecuq.conformal import error_rate_lower, error_rate_upper, group_codes


def share_interval(hits: Any, *, level: float = 0.95, groups: Any = None) -> tuple[float, float, float]:
    """Return the share of rows that are hit, and the ends of its interval (Clopper and Pearson, 1934).

    Where rows come in groups, they count as many as independent rows would be needed for the variance that they have
    (Korn and Graubard, 1998).

    Parameters
    ----------
    hits
        Booleans or 0 / 1, at least one.
    level
        Of the interval, in (0, 1).
    groups
        Which rows come together, one name per row; None if the rows are independent.

    Examples
    --------
    >>> [round(end, 3) for end in share_interval([1, 0, 0, 0])]
    [0.25, 0.006, 0.806]
    """
    was = np.asarray(hits, dtype=float)
    codes = np.arange(len(was)) if groups is None else group_codes(groups, len(was))
    delta = (1.0 - in_range("level", level, 0.0, 1.0, ends="()")) / 2.0
    share, counted = float(was.mean()), rows_counted(was, codes)
    low, high = (float(bound(share * counted, counted, delta)) for bound in (error_rate_lower, error_rate_upper))
    return share, low, high


def rows_counted(was: Array, codes: NDArray[np.intp]) -> float:
    """Return how many independent rows would have the variance that rows in groups have; at most as many as they are.

    Where all rows are right, or all wrong, no variance is seen, and each group counts as one row.
    """
    n, share = len(was), was.mean()
    names, place = np.unique(codes, return_inverse=True)
    if len(names) == n:
        return float(n)
    if share in (0.0, 1.0) or len(names) == 1:
        return float(len(names))
    variance = len(names) / (len(names) - 1) * (np.bincount(place, was - share) ** 2).sum() / n**2
    return float(min(n, share * (1.0 - share) / variance)) if variance > 0 else float(n)
