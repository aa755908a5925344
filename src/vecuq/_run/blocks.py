"""Blocks of one fixed shape, so that a row's score has the same bits whatever stands beside it.

A matrix product rounds differently for different shapes. Rows are therefore always multiplied in blocks of
``BLOCK`` rows, the last one padded, on one BLAS thread. ``BLOCK`` is a multiple of the tile sizes that BLAS
kernels use (4, 6, 8, 12, 16, 24, 32, 48), so that no row falls into a ragged tile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from vecuq._check import Array
from vecuq._run.blas import one_blas_thread
from vecuq._run.pools import resolve_jobs
from vecuq._run.scratch import scratch

BLOCK = 576
# Below this many rows the threads cost more than they save.
_ROWS_PER_TASK = 32 * BLOCK


def spans(length: int, size: int) -> Iterator[slice]:
    """Cut ``range(length)`` into slices of at most ``size``."""
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def in_blocks(
    function: Callable[[Array], Array], rows: Array, n_jobs: int | None = None, *, block: int = BLOCK
) -> Array:
    """Apply a row-wise function to ``rows`` in padded blocks of ``block`` rows; returns (rows, columns).

    Blocks, which the function may not keep, and the result have every column in one piece, whatever ``rows`` have.
    Many rows are shared among ``n_jobs`` threads, see :func:`resolve_jobs`; the bits do not depend on it.
    """
    out = np.empty((len(rows), rows.shape[1]), order="F")
    tasks = list(spans(len(rows), _ROWS_PER_TASK))
    threads = min(resolve_jobs(n_jobs), len(tasks))
    with one_blas_thread():
        if threads <= 1:
            _fill(function, rows, out, block)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda span: _fill_alone(function, rows[span], out[span], block), tasks))
    return out


def _fill_alone(function: Callable[[Array], Array], rows: Array, out: Array, size: int) -> None:
    """Fill on one BLAS thread: some libraries keep a number for each thread, and this is a new one."""
    with one_blas_thread():
        _fill(function, rows, out, size)


def _fill(function: Callable[[Array], Array], rows: Array, out: Array, size: int) -> None:
    for span in spans(len(rows), size):
        filled = span.stop - span.start
        block = scratch("block of rows", rows.shape[1], size).T
        block[:filled], block[filled:] = rows[span], rows[span.start]
        out[span] = function(block)[:filled]
