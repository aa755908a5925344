r"""Moments on a larger box: a polynomial in one variable stays one of the same degree.

With x the row in units of the old box and x' = s x + t in units of a larger one,

.. math:: T_a(s x + t) = \sum_{b \le a} C_{ab}\, T_b(x),

so the moments on the larger box follow from those on the smaller one, column by column, without the rows. As
|x'| <= 1, all of C is bounded: what rounding adds does not grow.
"""

from __future__ import annotations

import numpy as np

from vecuq._check import Array
from vecuq.transport.moments import low_places
from vecuq.transport.projection import chebyshev_basis, chebyshev_nodes, chebyshev_values


def widened_moments(moments: Array, old: tuple[Array, Array], new: tuple[Array, Array]) -> Array:
    """Return the moments of the same rows on a box that holds the old one; each box is (lows, highs).

    A column whose old box has no width lies at the lower end of its units, as rows of a constant column do.
    """
    for k, (low, high, new_low, new_high) in enumerate(zip(*old, *new, strict=True)):
        if (low, high) != (new_low, new_high):
            change = _change_of_units(low, high, new_low, new_high, moments.shape[k])
            moments = np.moveaxis(np.tensordot(change, moments, axes=(1, k)), 0, k)
    return np.where(low_places(moments.shape[0], moments.ndim), moments, 0.0)


def _change_of_units(low: float, high: float, new_low: float, new_high: float, q: int) -> Array:
    """Return C, (q, q), lower triangular."""
    width = new_high - new_low
    shrink = (high - low) / width
    shift = 2.0 * ((low - new_low) / width) + shrink - 1.0
    nodes = np.clip(shrink * chebyshev_nodes(q) + shift, -1.0, 1.0)
    # Above the diagonal there is only rounding. Without it, no moment depends on one that is left out.
    return np.tril(chebyshev_values(nodes, q) @ chebyshev_basis(q).T)
