"""Which of many methods differ by more than chance explains: all pairs judged at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.evaluation.bootstrap import MIN_DEFINED

# A smaller standard deviation is rounding.
_STILL = 1e-12
# Rows of the rarer kind with which a difference that never moves is no chance.
_ENOUGH = 10


def shared_level(level: float, tables: int) -> float:
    """Return the level of each of several tables at which all of them together keep ``level`` (Bonferroni).

    Examples
    --------
    >>> round(shared_level(0.95, 2), 6)
    0.975
    """
    return 1.0 - (1.0 - level) / max(tables, 1)


def separated_pairs(values: Array, draws: Array, level: float, *, counted: int) -> NDArray[np.bool_]:
    """Whether each two methods differ by more than chance explains, all pairs judged at once.

    The max-T test: with d the differences of all pairs, D* those of a resample and se the standard deviation of D*
    over the resamples, q is the ``level`` quantile over the resamples of ``max |D* - d| / se``. A pair differs if
    ``|d| / se`` is larger than q. So a table in which all methods are equal shows a pair that differs with
    probability 1 - ``level``, however many methods there are (Westfall and Young 1993; Romano and Wolf 2005). With few
    rows se is uncertain, so q is moved from the normal law to Student's with ``counted`` - 1 degrees of freedom.

    Parameters
    ----------
    values
        A metric of each method, shape (methods,); NaN where it does not exist.
    draws
        The metric on each resample, shape (methods, resamples), the same resamples for all.
    level
        In (0, 1).
    counted
        How many rows, or groups of rows, there are of the rarer kind.

    Returns
    -------
    array of bool
        Shape (methods, methods), symmetric. A pair whose difference is the same on every resample differs if at least
        10 rows were counted.
    """
    apart = np.zeros((len(values), len(values)), dtype=bool)
    kept = np.flatnonzero(~np.isnan(values))
    complete = draws[kept][:, ~np.isnan(draws[kept]).any(axis=0)]
    if len(kept) < 2 or complete.shape[1] < max(2.0, MIN_DEFINED * draws.shape[1]):
        return apart
    one, two = np.triu_indices(len(kept), k=1)
    found = _separated(values[kept][one] - values[kept][two], complete[one] - complete[two], level, counted)
    apart[kept[one], kept[two]] = apart[kept[two], kept[one]] = found
    return apart


def _separated(gaps: Array, moved: Array, level: float, counted: int) -> NDArray[np.bool_]:
    """Return which differences are larger than the largest of all by chance."""
    spread = moved.std(axis=1)
    still = spread <= _STILL
    found: NDArray[np.bool_] = still & (np.abs(gaps) > _STILL) & (counted >= _ENOUGH)
    if not still.all():
        largest = (np.abs(moved - gaps[:, None])[~still] / spread[~still, None]).max(axis=0)
        limit = _widened(float(np.quantile(largest, level, method="higher")), counted - 1)
        found[~still] = np.abs(gaps[~still]) / spread[~still] > limit
    return found


def _widened(limit: float, freedom: int) -> float:
    """Return the quantile of Student's law that is as rare as ``limit`` is in the normal law."""
    from scipy.special import ndtr, stdtrit

    return float(-stdtrit(max(freedom, 1), ndtr(-limit)))
