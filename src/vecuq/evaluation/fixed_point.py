"""Numbers in [0, 1] as whole numbers, whose sums do not depend on the order of the rows: forty bits, in two halves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array

_BITS, _HALF = 40, 20
_ONE = float(1 << _BITS)
# The most rows whose halves are added up: each half is at most 2^20, so that sums stay below 2^61.
MOST_SUMMED = 1 << 40
# How far a number may lie from what is counted for it.
ROUNDED = 0.5 / _ONE


def fixed(values: Array) -> NDArray[np.int64]:
    """Return numbers in [0, 1] as high and low halves, (rows, 2); halves of 2^40 rows add up within 64 bits.

    Examples
    --------
    >>> fixed(np.array([0.0, 0.5, 1.0]))
    array([[      0,       0],
           [ 524288,       0],
           [1048576,       0]])
    """
    whole = np.rint(np.asarray(values, dtype=float) * _ONE).astype(np.int64)
    return np.stack([whole >> _HALF, whole & ((1 << _HALF) - 1)], axis=1)


def rounded(values: Array) -> Array:
    """Return the numbers that are counted for these: multiples of 2^-40."""
    return np.asarray(np.rint(np.asarray(values, dtype=float) * _ONE) / _ONE)


def floating(sums: NDArray[np.int64]) -> Array:
    """Return sums of halves, (..., 2), as numbers.

    Examples
    --------
    >>> floating(fixed(np.array([0.25, 0.75])).sum(axis=0))
    array(1.)
    """
    return np.asarray(sums[..., 0] / float(1 << (_BITS - _HALF)) + sums[..., 1] / _ONE)
