"""What killed jobs left behind is removed by the next job that writes there; what belongs to a living one stays."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

from vecuq._files.locks import lock_now
from vecuq._files.moves import undo_moves
from vecuq._files.parts import claimed, new_name, this_machine

_NAME = re.compile(r"\.vecuq-(?:(?P<machine>[0-9a-f]{8})-)?\w+\.part")
# A lock may not be seen from another machine. What one left there is taken for dead after this time.
_SECONDS = 7 * 24 * 3600
_LOCK = "lock"


@contextmanager
def part_folder(folder: Path) -> Iterator[Path]:
    """Yield a new hidden folder; in the end moves that were not finished are undone, and it is removed."""
    path, lock = _claimed_folder(folder)
    with lock:
        try:
            yield path
        finally:
            _discard_folder(path, lock)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a private folder among the system's temporary files, after those of our dead jobs were removed."""
    place = Path(tempfile.gettempdir())
    sweep(place)
    with part_folder(place) as path:
        (path / "new").mkdir()
        yield path / "new"


def sweep(folder: Path) -> None:
    """Remove the temporary files and folders of dead jobs, after undoing what they left half done.

    Those of other users are not touched. What cannot be removed stays: a job does not fail for what others left.
    """
    with suppress(OSError):
        found = [Path(entry.path) for entry in os.scandir(folder) if _NAME.fullmatch(entry.name)]
        for path in found:
            with suppress(OSError, ValueError, LookupError, TypeError):
                _sweep_one(path)


def _claimed_folder(folder: Path) -> tuple[Path, IO[bytes]]:
    while True:
        path = new_name(folder)
        path.mkdir(mode=0o700)
        with suppress(FileNotFoundError):  # a sweep took the folder while it was empty
            lock = claimed(path / _LOCK)
            if lock is not None:
                return path, lock


def _sweep_one(path: Path) -> None:
    facts = path.lstat()
    if path.is_symlink() or (hasattr(os, "geteuid") and facts.st_uid != os.geteuid()):
        return
    if path.is_dir() and not any(path.iterdir()):
        path.rmdir()  # killed before it had a lock, or after it had none any more
        return
    found = _NAME.fullmatch(path.name)
    seen = found is not None and found["machine"] == this_machine()
    old = time.time() - facts.st_mtime > _SECONDS
    with _opened(path / _LOCK if path.is_dir() else path) as lock:
        free = _is_free(lock)
        if free is not False and (old or (free and seen)):
            _discard_folder(path, lock) if path.is_dir() else path.unlink()


def _opened(lock: Path) -> IO[bytes] | nullcontext[None]:
    try:
        return lock.open("rb+")
    except OSError:
        return nullcontext()


def _is_free(lock: IO[bytes] | None) -> bool | None:
    """Whether a lock is free, and take it; None if that cannot be known."""
    try:
        return None if lock is None else lock_now(lock.fileno())
    except OSError:
        return None


def _discard_folder(path: Path, lock: IO[bytes] | None) -> None:
    """Undo what was half done, then remove the folder; its lock goes last, for this may be stopped anywhere too."""
    undo_moves(path)
    with suppress(OSError):
        for inner in path.iterdir():
            if inner.is_dir() and not inner.is_symlink():
                shutil.rmtree(inner)
            elif inner.name != _LOCK:
                inner.unlink()
        if sys.platform == "win32" and lock is not None:  # where an open file cannot be removed
            lock.close()
        (path / _LOCK).unlink(missing_ok=True)
        path.rmdir()
