"""One lock for every file that outlives a run: held by one job at a time, gone with the process that held it."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from vecuq._check import real_path, warn_user
from vecuq.errors import TableError, VecuqWarning

# The files that this thread or task has locked, so that a job may save what it has locked.
_HELD: ContextVar[frozenset[Path]] = ContextVar("_HELD", default=frozenset())
_PAUSE = 0.05
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# Windows locks bytes, and forbids others to write them: a byte that no file of ours reaches.
_BEYOND = 2**40
# File systems allow names of 255 bytes.
_LONGEST = 240


@contextmanager
def locked(
    path: str | os.PathLike[str],
    *,
    wait: float = 0.0,
    waiting: Callable[[str], None] | None = None,
    nested: bool = False,
) -> Iterator[None]:
    """Hold the lock of a file, which need not be there, against all other jobs; what is read inside stays the newest.

    The lock is a hidden file beside it, because the file itself is replaced when it is written. It is removed in the
    end; after a kill it stays until the next job, whom it does not hinder.

    Parameters
    ----------
    path
        The file; the same one under another name has the same lock.
    wait
        For how many seconds to wait while another job holds it; after that, and by default at once, it is an error.
    waiting
        Called with one sentence when it has to wait.
    nested
        Whether a lock that this very thread or task holds already will do.
    """
    final = real_path(path)
    if nested and final in _HELD.get():
        yield
        return
    lock = final.parent / f".{os.fsdecode(os.fsencode(final.name)[:_LONGEST])}.lock"
    descriptor = _patiently_taken(lock, path, wait, waiting)
    before = _HELD.set(_HELD.get() | {final})
    try:
        yield
    finally:
        _HELD.reset(before)
        _release(lock, descriptor)


def lock_now(descriptor: int) -> bool:
    """Lock an open file, until it is closed or the process ends; False if somebody else has."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _BEYOND, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def is_open_file(descriptor: int, path: Path) -> bool:
    """Whether a path still leads to an open file: it may have been removed between opening and locking."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _patiently_taken(
    lock: Path, shown: str | os.PathLike[str], wait: float, waiting: Callable[[str], None] | None
) -> int:
    """Return the open lock file once it is ours; raise when the time is over."""
    end = time.monotonic() + wait
    while (descriptor := _taken(lock, shown)) is None:
        if time.monotonic() >= end:
            raise TableError(_too_late(shown, wait))
        if waiting is not None:
            waiting(f"{shown} is being written by another process; waiting up to {wait:g} s for it.")
            waiting = None
        time.sleep(_PAUSE)
    return descriptor


def _too_late(shown: str | os.PathLike[str], wait: float) -> str:
    if wait:
        return f"{shown} is still being written by another process after {wait:g} s; run again later."
    return f"{shown} is being written by another process; wait for it, or choose another name."


def _taken(lock: Path, shown: str | os.PathLike[str]) -> int | None:
    """Return the open lock file if it is free; one that holds something, or is a link, was never ours."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | _NO_LINKS, 0o666)
    except OSError as error:
        raise TableError(f"{shown} cannot be written: {(error.strerror or str(error)).lower()}.") from None
    facts = os.fstat(descriptor)
    if facts.st_size or not stat.S_ISREG(facts.st_mode):
        os.close(descriptor)
        raise TableError(f"{shown} cannot be written: {lock} must be an empty file; remove it, or choose another name.")
    try:
        if lock_now(descriptor) and is_open_file(descriptor, lock):
            return descriptor
    except OSError:
        warn_user(
            f"The file system of {shown} knows no locks: make sure that no two jobs use the file at once.", VecuqWarning
        )
        return descriptor
    os.close(descriptor)
    return None


def _release(lock: Path, descriptor: int) -> None:
    # Removed while it is locked: whoever waits finds that the file is gone, and makes a new one.
    with suppress(OSError):
        lock.unlink()
    os.close(descriptor)
    if sys.platform == "win32":  # where an open file cannot be removed
        with suppress(OSError):
            lock.unlink()
