"""Files that appear whole or not at all: written under a temporary name, flushed, then renamed."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from vecuq._check import real_path
from vecuq.errors import TableError

Name = str | os.PathLike[str]
_TEMPORARY = re.compile(r"\.vecuq-[0-9a-f]{16}\.part-.*", re.DOTALL)
# So many last characters of a name say its format, and whose temporary file it is.
_ENDING = 20


@contextmanager
def atomic_path(path: Name) -> Iterator[Path]:
    """Yield a temporary name beside ``path``; rename it to ``path`` on success, remove it on any failure."""
    final = replaceable(path)
    temporary = _new_file(final, shown=path)
    try:
        if final.exists():  # from the beginning, for the old file may be private
            temporary.chmod(final.stat().st_mode & 0o777)
        yield temporary
        _sync(temporary)
        temporary.replace(final)
        _sync(final.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomic(path: Name, content: bytes) -> None:
    """Write bytes to ``path``, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def atomic_files(*paths: Name) -> Iterator[tuple[Path, ...]]:
    """Yield one temporary name per path, with its ending; when all are written, they are renamed in this order."""
    with ExitStack() as stack:  # which ends in reverse
        new = [stack.enter_context(atomic_path(path)) for path in reversed(paths)]
        yield tuple(reversed(new))


@contextmanager
def atomic_folder(path: Name) -> Iterator[Path]:
    """Yield a temporary folder, which becomes ``path``; if that is there, the files are moved into it one by one."""
    final = real_path(path)
    temporary = _temporary_name(final / "new" if final.exists() else final)
    with made_folder(temporary.parent, shown=path):
        with _explained(path, temporary.parent):
            temporary.mkdir()
        try:
            yield temporary
            _sync(*temporary.iterdir())
            put_folder(temporary, final, sorted(file.name for file in temporary.iterdir()))
        finally:
            shutil.rmtree(temporary, ignore_errors=True)  # it was made above


def put_folder(new: Path, final: Path, names: Sequence[str]) -> None:
    """Give a new folder its final name; if that is there, move files into it in their order, as far as there are any.

    ``names`` are those of all files below the folder, which are on disk already.
    """
    folders = sorted({folder for name in names for folder in PurePath(name).parents})
    _sync(*(new / folder for folder in folders))
    if not os.path.lexists(final):
        with suppress(OSError):  # somebody else has made it meanwhile
            new.rename(final)
            _sync(final.parent)
            return
    moves = [(new / name, replaceable(final / name)) for name in names if (new / name).exists()]
    for file, place in moves:
        if place.exists():
            file.chmod(place.stat().st_mode & 0o777)
        place.parent.mkdir(parents=True, exist_ok=True)
        file.replace(place)
    _sync(*(final / folder for folder in folders))


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a private folder among the system's temporary files, which is removed in the end."""
    with TemporaryDirectory(prefix="vecuq-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def made_folder(path: Path, *, shown: Name) -> Iterator[None]:
    """Make a folder and those above it, as far as they are missing; in the end those that stayed empty go again."""
    folders = (path, *path.parents)
    nearest = next(folder for folder in folders if folder.exists())
    if not nearest.is_dir():
        raise TableError(f"{shown} cannot be made: {nearest} is a file; the name of a folder was expected.")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TableError(f"{shown} cannot be made: {_reason(error)}.") from None
    try:
        yield
    finally:
        with suppress(OSError):
            for folder in folders[: folders.index(nearest)]:
                folder.rmdir()


def refuse_unwritable(path: Name) -> None:
    """Raise now what :func:`atomic_path` would raise after long work."""
    _new_file(replaceable(path), shown=path).unlink(missing_ok=True)


def replaceable(path: Name) -> Path:
    """Return the file behind a path and its links, which need not be there; refuse what must not be replaced."""
    final = real_path(path)
    if final.is_dir():
        raise TableError(f"{path} is a folder; a file name was expected.")
    if final.exists() and not final.is_file():
        raise TableError(f"{path} is not a regular file; it would be lost.")
    if final.exists() and not os.access(final, os.W_OK):
        raise TableError(f"{path} cannot be written: permission denied.")
    return final


def _temporary_name(final: Path) -> Path:
    """Return a hidden name beside a path that nobody has, with its ending."""
    return final.parent / f".vecuq-{secrets.token_hex(8)}.part-{final.name[-_ENDING:]}"


def is_temporary(name: str) -> bool:
    """Whether a file has a name of :func:`temporary_name`."""
    return _TEMPORARY.fullmatch(name) is not None


def _sync(*paths: Path) -> None:
    """Return when files are on disk, and folders where the system can do that."""
    for path in paths:
        if path.is_dir():
            with suppress(OSError):
                _sync_one(path, os.O_RDONLY)
        else:
            _sync_one(path, os.O_RDWR)


def _sync_one(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _new_file(final: Path, *, shown: Name) -> Path:
    path = _temporary_name(final)
    with _explained(shown, final.parent):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
    return path


@contextmanager
def _explained(shown: Name, folder: Path) -> Iterator[None]:
    """Say of an error of the system what cannot be written, and why."""
    try:
        yield
    except OSError as error:
        reason = _reason(error) if folder.exists() else f"there is no folder {folder}; make it first"
        raise TableError(f"{shown} cannot be written: {reason}.") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
