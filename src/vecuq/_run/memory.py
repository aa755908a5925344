"""Memory that the allocator keeps while we work, whatever the environment makes it give back.

Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_=65536``. Then every array of more than 128 KiB is fresh memory,
which the system clears again and again: scoring takes twice the CPU. Here the limits are raised for as long as somebody
works, and set back afterwards. On other allocators than glibc's nothing happens.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

# Names and defaults of glibc's <malloc.h>.
_TRIM, _MMAP = -1, -3
_MMAP_DEFAULT = 128 * 2**10
# As far as glibc raises them by itself where nobody has set a limit.
_MMAP_MOST = 32 * 2**20
_TRIM_MOST = 2 * _MMAP_MOST
_VARIABLE = "MALLOC_TRIM_THRESHOLD_"


class _Count:
    """How many are at work; threads come and go."""

    lock = Lock()
    inside = 0


@contextmanager
def memory_kept() -> Iterator[None]:
    """Let arrays use memory again inside, where the environment makes the allocator give it back at once."""
    allocator = _allocator()
    if allocator is None:
        yield
        return
    with _Count.lock:
        _Count.inside += 1
        allocator.mallopt(_MMAP, _MMAP_MOST)
        allocator.mallopt(_TRIM, _TRIM_MOST)
    try:
        yield
    finally:
        with _Count.lock:
            _Count.inside -= 1
            if not _Count.inside:
                allocator.mallopt(_MMAP, _MMAP_DEFAULT)
                allocator.mallopt(_TRIM, int(os.environ[_VARIABLE]))
                allocator.malloc_trim(0)


@cache
def _allocator() -> Any:
    """Return glibc, if it is here and the environment has lowered its limit; otherwise None."""
    if not os.environ.get(_VARIABLE, "").isdecimal():
        return None
    try:
        found = ctypes.CDLL(None)
        return found if hasattr(found, "mallopt") and hasattr(found, "malloc_trim") else None
    except OSError:
        return None
