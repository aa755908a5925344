"""Temporary files that show whether their owner lives: each is locked for as long as somebody works on it."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from vecuq._files.locks import is_open_file, lock_now


@dataclass(frozen=True)
class Temporary:
    """A temporary file and its lock, which is held as long as the file is open."""

    path: Path
    lock: IO[bytes]

    def become(self, final: Path) -> None:
        """Take the place of another file, or a free one; the lock goes along, so that no sweep comes between."""
        if sys.platform == "win32":  # where an open file cannot be renamed
            self.lock.close()
        self.path.replace(final)


@contextmanager
def part_file(folder: Path) -> Iterator[Temporary]:
    """Yield a new empty file with a hidden name of its own; whatever has that name in the end is removed."""
    temporary = _claimed_file(folder)
    try:
        yield temporary
    finally:
        if sys.platform == "win32":
            temporary.lock.close()
        temporary.path.unlink(missing_ok=True)
        temporary.lock.close()


def new_name(folder: Path) -> Path:
    """Return a hidden name that nobody has; it says on which machine it was made."""
    return folder / f".vecuq-{this_machine()}-{secrets.token_hex(8)}.part"


@cache
def this_machine() -> str:
    """Return what distinguishes this machine, as far as locks reach, from others that share its disks.

    On Linux that is the running kernel, which containers share; elsewhere the name of the host.
    """
    try:
        name = Path("/proc/sys/kernel/random/boot_id").read_bytes()
    except OSError:
        name = socket.gethostname().encode()
    return hashlib.sha256(name).hexdigest()[:8]


def claimed(path: Path) -> IO[bytes] | None:
    """Make a file and lock it; None if a sweep came between the two. On a disk without locks it is only open."""
    file = os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666), "rb")
    try:
        ours = lock_now(file.fileno())
    except OSError:
        ours = True
    if ours and is_open_file(file.fileno(), path):
        return file
    file.close()
    return None


def _claimed_file(folder: Path) -> Temporary:
    while True:
        path = new_name(folder)
        lock = claimed(path)
        if lock is not None:
            return Temporary(path, lock)
