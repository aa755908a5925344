"""Blocks of one fixed shape, so that a row's score has the same bits whatever stands beside it.

A matrix product rounds differently for different shapes. Rows are therefore always multiplied in blocks of
``BLOCK`` rows, the last one padded, on one BLAS thread. ``BLOCK`` is a multiple of the tile heights that BLAS
kernels use (4, 6, 8, 12, 16, 24, 32, 48), so that no row falls into a ragged tile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from vecuq.transport.targets import Array

__all__ = ["BLOCK", "in_blocks", "one_blas_thread", "spans"]

BLOCK = 192


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread: small products are faster, and round alike on every machine of a kind."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


def spans(length: int, size: int) -> Iterator[slice]:
    """Cut ``range(length)`` into slices of at most ``size``."""
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def in_blocks(function: Callable[[Array], Array], rows: Array) -> Array:
    """Apply a row-wise function to ``rows`` in padded blocks of ``BLOCK`` rows; returns (rows, columns)."""
    out = np.empty((len(rows), rows.shape[1]))
    block = np.empty((BLOCK, rows.shape[1]))
    for span in spans(len(rows), BLOCK):
        filled = span.stop - span.start
        block[:filled] = rows[span]
        block[filled:] = rows[span.start]
        out[span] = function(block)[:filled]
    return out
