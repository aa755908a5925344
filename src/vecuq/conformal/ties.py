"""When two scores count as equal: other processors add in another order, and equal rows must stay equal there."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array

# Another order of additions changes the last digits of a score, and no more than these.
_TOLERANCE = 1e-9


def around(scores: Array) -> tuple[Array, Array]:
    """Return every score a little lower and a little higher, (rows,) each: what lies between counts as equal to it.

    The tolerance is 1e-9 of the size of the score.

    Examples
    --------
    >>> lower, higher = around(np.array([0.0, 2.0]))
    >>> lower < 2 - 1e-10, higher > 2 + 1e-10
    (array([ True,  True]), array([False,  True]))
    """
    with np.errstate(over="ignore"):
        return just_below(scores), scores * (1.0 + _TOLERANCE * np.sign(scores))


def just_below(scores: Array) -> Array:
    """Return every score a little lower: what lies below that counts as smaller."""
    factor = np.sign(scores)
    factor *= -_TOLERANCE
    factor += 1.0
    with np.errstate(over="ignore"):
        return np.asarray(scores * factor)


def last_equal(scores: Array) -> Array:
    """Return the largest number that counts as equal to each score: those above it, and no others, exceed it.

    Examples
    --------
    >>> top = last_equal(np.array([2.0]))
    >>> around(top)[0] <= 2.0, around(np.nextafter(top, np.inf))[0] <= 2.0
    (array([ True]), array([False]))
    """
    last = np.asarray(around(scores)[1], dtype=float)
    # The tolerance of the one is not quite that of the other: at most a few steps either way.
    while (far := around(last)[0] > scores).any():
        last = np.where(far, np.nextafter(last, -np.inf), last)
    while (near := (last < np.inf) & (around(after(last))[0] <= scores)).any():
        last = np.where(near, after(last), last)
    return last


def after(numbers: Array) -> Array:
    """Return the next larger number of each; infinity after the largest."""
    with np.errstate(over="ignore"):
        return np.nextafter(numbers, np.inf)
