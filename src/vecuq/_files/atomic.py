"""Files that appear whole or not at all: written under a temporary name, flushed, then renamed."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vecuq.errors import TableError


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name beside ``path``; rename it to ``path`` on success, remove it on any failure."""
    # The file behind a link is replaced, not the link.
    final = Path(path).resolve()
    mode = _mode_of(final, shown=path)
    temporary = _temporary_beside(final, shown=path)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(final)
    finally:
        temporary.unlink(missing_ok=True)


def refuse_unwritable(path: str | os.PathLike[str]) -> None:
    """Raise now what :func:`atomic_path` would raise after long work."""
    final = Path(path).resolve()
    _mode_of(final, shown=path)
    _temporary_beside(final, shown=path).unlink()


def _temporary_beside(final: Path, *, shown: str | os.PathLike[str]) -> Path:
    temporary = final.parent / f".vecuq-{secrets.token_hex(8)}.part"
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as error:
        raise TableError(f"{shown} cannot be written: {_reason(error, final.parent)}.") from None
    return temporary


def _mode_of(final: Path, *, shown: str | os.PathLike[str]) -> int | None:
    """Return the permissions of the file that will be replaced; refuse what must not be."""
    if final.is_dir():
        raise TableError(f"{shown} is a folder; a file name was expected.")
    if not final.exists():
        return None
    if not final.is_file():
        raise TableError(f"{shown} is not a regular file; it would be lost.")
    if not os.access(final, os.W_OK):
        raise TableError(f"{shown} cannot be written: permission denied.")
    return final.stat().st_mode & 0o777


def _reason(error: OSError, folder: Path) -> str:
    if not folder.exists():
        return f"there is no folder {folder}; make it first"
    return (error.strerror or str(error)).lower()


def write_atomic(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes to ``path``, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder; on success move its files into ``path``, which is made if need be."""
    final = Path(path).resolve()
    nearest = next(folder for folder in (final, *final.parents) if folder.exists())
    if not nearest.is_dir():
        raise TableError(f"{path} cannot be made: {nearest} is a file; the name of a folder was expected.")
    try:
        part = tempfile.TemporaryDirectory(prefix=".vecuq-", suffix=".part", dir=nearest)
    except OSError as error:
        raise TableError(f"The folder {path} cannot be written: {_reason(error, nearest)}.") from None
    with part as temporary:
        yield Path(temporary)
        final.mkdir(parents=True, exist_ok=True)
        for file in sorted(Path(temporary).iterdir()):
            with atomic_path(final / file.name) as place:
                file.replace(place)
