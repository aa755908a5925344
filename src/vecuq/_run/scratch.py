"""Arrays that a thread uses again and again, so that no block of rows asks the system for fresh memory.

Blocks need a few hundred kilobytes each. An allocator that hands such memory back after every block makes the system
clear it again for the next one, which takes longer than the arithmetic.
"""

from __future__ import annotations

from math import prod
from threading import local

import numpy as np

from vecuq._check import Array


class _Shelf(local):
    """One buffer per name and thread; it only grows."""

    def __init__(self) -> None:
        self.buffers: dict[str, Array] = {}


_SHELF = _Shelf()
# What is larger is not kept: it is rare, and then the arithmetic takes longer than clearing memory.
_MOST_NUMBERS = 2**20


def scratch(name: str, *shape: int) -> Array:
    """Return an array whose content is undefined; the next call with this name in this thread overwrites it.

    Examples
    --------
    >>> one = scratch("doctest", 2, 3)
    >>> one.shape, np.shares_memory(one, scratch("doctest", 3))
    ((2, 3), True)
    """
    size = prod(shape)
    if size > _MOST_NUMBERS:
        return np.empty(shape)
    buffer = _SHELF.buffers.get(name)
    if buffer is None or buffer.size < size:
        buffer = _SHELF.buffers[name] = np.empty(size)
    return buffer[:size].reshape(shape)
