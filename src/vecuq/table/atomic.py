"""Files that appear whole or not at all: written under a temporary name, flushed, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vecuq.errors import TableError

__all__ = ["atomic_path", "write_atomic"]


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name beside ``path``; rename it to ``path`` on success, remove it on any failure."""
    final = Path(path)
    if final.is_dir():
        raise TableError(f"{final} is a folder; a file name was expected.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{final.name}.", suffix=".part", dir=final.parent or ".")
    except OSError as error:
        raise TableError(f"{final} cannot be written: {error.strerror or error}.") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(final)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def write_atomic(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes to ``path``, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)
