r"""Proof that the length of the rank image grows with every column, everywhere, from the fitted potentials alone.

On a grid with even axes the sums over targets are polynomials in :math:`x_k = e^{2 h_k z_k / \epsilon}`, up to a power:

.. math:: F = \sum_t w_t x^t, \quad F_l = \sum_t t_l w_t x^t, \quad F_{lk} = \sum_t t_l t_k w_t x^t,

and :math:`R_l = F_l / F`. The slope of :math:`|R|^2` along column k is

.. math:: \frac{4}{\epsilon F^3} \sum_l F_l (F_{lk} F - F_l F_k).

The numerator is a polynomial too. If none of its coefficients is negative, it is at least 0 for every x > 0, that is
for every row there is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vecuq._check import Array
from vecuq._run import one_blas_thread
from vecuq.ranker.ranker import Ranker
from vecuq.transport import GridMap, OneMap, maps_in

# Multiplications that a proof may take: half a second.
_MOST_WORK = 2_000_000_000
# Weights further apart than this would vanish when three are multiplied.
_MOST_NATS = 200.0
# Rounding of a coefficient. What it could hide lowers no score by more than about 1e-10.
_ROUNDING = 1e-13


def is_proven_monotone(ranker: Ranker) -> bool:
    """Return whether raising a column can be proven never to lower the score, at any row.

    False says nothing: the axes may be uneven, the grid too large, or the condition, which is sufficient, not met. The
    overshoot keeps what the length of the image has: it grows with every column.

    Examples
    --------
    >>> from vecuq import fit_ranker
    >>> is_proven_monotone(fit_ranker(np.random.default_rng(0).gamma(2.0, size=(200, 2))))
    True
    """
    # Of two levels, the second grows with the lengths of the first, and these with their columns.
    return not ranker.scaler.signed and all(map(_is_proven, maps_in(ranker.rank_map)))


def _is_proven(found: OneMap) -> bool:
    if not isinstance(found, GridMap) or not all(map(_is_even, found.axes)):
        return False
    weights = _weights(found) if _work(found.log_v.shape) <= _MOST_WORK else None
    with one_blas_thread():
        return weights is not None and slopes_are_positive(found.axes, weights)


def _is_even(axis: Array) -> bool:
    """Whether the targets of a column have equal distances, and none is negative."""
    return bool(axis[0] >= 0 and np.allclose(np.diff(axis), axis[1] - axis[0], rtol=1e-9, atol=0.0))


def _work(shape: tuple[int, ...]) -> float:
    """Return about how many multiplications it takes: those of the last products, two per column."""
    front = (len(shape) + 1) // 2
    shifts = math.prod(n * (2.0 * n - 1.0) for n in shape[:front])
    return 2.0 * len(shape) * shifts * math.prod((2.0 * n - 1.0) * (3.0 * n - 2.0) for n in shape[front:])


def _weights(found: GridMap) -> Array | None:
    """Return the weights of the targets at some row, where they are most alike; None if they are too far apart."""
    mesh = np.meshgrid(*found.axes, indexing="ij")
    level = found.log_v - sum(t**2 for t in mesh) / found.epsilon
    # Another row is another linear tilt, which changes every coefficient by a positive factor.
    tilts = np.stack([np.ones(level.size), *(t.ravel() for t in mesh)], axis=1)
    level = level - (tilts @ np.linalg.lstsq(tilts, level.ravel(), rcond=None)[0]).reshape(level.shape)
    return None if np.ptp(level) > _MOST_NATS else np.asarray(np.exp(level - level.max()))


def slopes_are_positive(axes: Sequence[Array], weights: Array) -> bool:
    """Whether every numerator, (sum_l F_l F_lk) F - (sum_l F_l F_l) F_k, has coefficients of at least 0."""
    mesh = np.meshgrid(*axes, indexing="ij")
    first = [t * weights for t in mesh]
    squares = np.sum([polynomial_product(one, one) for one in first], axis=0)
    for place, moment in zip(mesh, first, strict=True):
        crossed = np.sum([polynomial_product(one, place * one) for one in first], axis=0)
        if (polynomial_product(squares, moment) > polynomial_product(crossed, weights) * (1.0 + _ROUNDING)).any():
            return False
    return True


def polynomial_product(a: Array, b: Array) -> Array:
    """Multiply two polynomials given by their coefficients: shifts along the first axes, a matrix along the others.

    All coefficients are positive here, so that sums lose no digits.
    """
    front = (a.ndim + 1) // 2
    shape = [n + k - 1 for n, k in zip(a.shape, b.shape, strict=True)]
    matrix = np.zeros((*b.shape[:front], *a.shape[front:], *shape[front:]))
    for place in np.ndindex(a.shape[front:]):
        matrix[(..., *place, *_spans(place, b.shape[front:]))] = b
    rows, out = a.reshape(*a.shape[:front], -1), np.zeros((*shape[:front], math.prod(shape[front:])))
    for shift in np.ndindex(b.shape[:front]):
        out[tuple(_spans(shift, a.shape[:front]))] += rows @ matrix[shift].reshape(rows.shape[-1], -1)
    return out.reshape(shape)


def _spans(starts: Sequence[int], lengths: Sequence[int]) -> list[slice]:
    return [slice(start, start + length) for start, length in zip(starts, lengths, strict=True)]
