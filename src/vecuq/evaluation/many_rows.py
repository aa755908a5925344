"""A tally of any number of rows: sums in whole numbers up to 2^53, harmonic numbers in closed form."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.evaluation.tally import Tally, harmonic_numbers

# Up to here harmonic numbers are added up; beyond, the series below is exact to the last digit.
_FIRST = 4_096
_TABLE = harmonic_numbers(_FIRST)


class ManyRows(Tally):
    """A tally whose metrics cost time and memory by the number of groups, not of rows."""

    @cached_property
    def rows_through(self) -> Array:
        """Rows at most as uncertain as each group; whole numbers as float64."""
        return np.cumsum(self.rows, axis=0)

    @cached_property
    def target_through(self) -> Array:
        """Sum of the target over rows at most as uncertain as each group."""
        return np.cumsum(self.target, axis=0)

    def harmonic_steps(self, places: NDArray[np.intp], start: NDArray[np.intp] | int) -> Array:
        """Return how much H grows from ``start``, then from group to group, to H at ``places``, (groups, resamples)."""
        first = np.broadcast_to(np.asarray(start), places.shape[1:])[None]
        ends = np.concatenate([first, places])
        return harmonic_growth(ends[:-1], ends[1:])


def harmonic_growth(first: NDArray[np.intp], last: NDArray[np.intp]) -> Array:
    """Return H_last - H_first without the cancellation that a difference of two large sums has.

    ``H_k = log k + gamma + 1 / 2k - 1 / 12k^2 + ...``; the next term is below 1e-16 from k = 4096 on.

    Examples
    --------
    >>> harmonic_growth(np.array([0, 10**12]), np.array([3, 10**12 + 1]))
    array([1.83333333e+00, 1.00000000e-12])
    """
    small = _TABLE[np.minimum(last, _FIRST)] - _TABLE[np.minimum(first, _FIRST)]
    one, two = (np.maximum(end, _FIRST).astype(float) for end in (first, last))
    ratio = (two - one) / one
    halves = 0.5 * (1.0 / two - 1.0 / one) * (1.0 - (1.0 / one + 1.0 / two) / 6.0)
    return np.asarray(small + np.log1p(ratio) + halves)
