"""Files that appear whole or not at all: written under a temporary name, flushed, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from vecuq._check import real_path
from vecuq._files.moves import move_all, sync
from vecuq._files.parts import part_file
from vecuq._files.sweeping import part_folder, sweep
from vecuq.errors import TableError

Name = str | os.PathLike[str]
_Made = TypeVar("_Made")


@contextmanager
def atomic_path(path: Name) -> Iterator[Path]:
    """Yield a temporary name beside ``path``; rename it to ``path`` on success, remove it on any failure."""
    final = replaceable(path)
    with ExitStack() as stack:
        temporary = _made(stack, part_file(final.parent), final.parent, shown=path)
        if final.exists():  # from the beginning, for the old file may be private
            temporary.path.chmod(final.stat().st_mode & 0o777)
        yield temporary.path
        sync(temporary.path)
        temporary.become(final)
        sync(final.parent)


def write_atomic(path: Name, content: bytes) -> None:
    """Write bytes to ``path``, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def atomic_files(*paths: Name) -> Iterator[tuple[Path, ...]]:
    """Yield one temporary name per path, with its ending; on success all of the files are replaced, otherwise none."""
    finals = [replaceable(path) for path in paths]
    with ExitStack() as stack:
        part = _made(stack, part_folder(finals[0].parent), finals[0].parent, shown=paths[0])
        new = tuple(part / f"{number}{final.suffix}" for number, final in enumerate(finals))
        yield new
        sync(*new)
        move_all(list(zip(new, finals, strict=True)), part)


@contextmanager
def atomic_folder(path: Name) -> Iterator[Path]:
    """Yield a temporary folder; on success all of its files move into ``path``, which is made if need be, or none."""
    final = real_path(path)
    nearest = next(folder for folder in (final, *final.parents) if folder.exists())
    if not nearest.is_dir():
        raise TableError(f"{path} cannot be made: {nearest} is a file; the name of a folder was expected.")
    with ExitStack() as stack:
        part = _made(stack, part_folder(nearest), nearest, shown=path)
        staged = part / "new" / final.relative_to(nearest)
        staged.mkdir(parents=True)
        yield staged
        files = sorted(staged.iterdir())
        sync(*files, staged)
        if not _appeared(part / "new", final, nearest):
            move_all([(file, replaceable(final / file.name)) for file in files], part)


def _appeared(new: Path, final: Path, nearest: Path) -> bool:
    """Give a folder that was not there its name, with all that is in it; False if there is one."""
    if final == nearest:
        return False
    first = final.relative_to(nearest).parts[0]
    try:
        (new / first).rename(nearest / first)
    except OSError:  # somebody else has made it meanwhile
        final.mkdir(parents=True, exist_ok=True)
        return False
    sync(nearest)
    return True


def refuse_unwritable(path: Name) -> None:
    """Raise now what :func:`atomic_path` would raise after long work."""
    final = replaceable(path)
    with ExitStack() as stack:
        _made(stack, part_file(final.parent), final.parent, shown=path)


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


def _made(stack: ExitStack, part: AbstractContextManager[_Made], folder: Path, *, shown: Name) -> _Made:
    """Enter what makes a temporary file or folder, after what dead jobs left was removed; raise if it cannot be."""
    sweep(folder)
    try:
        return stack.enter_context(part)
    except OSError as error:
        missing = f"there is no folder {folder}; make it first"
        reason = (error.strerror or str(error)).lower() if folder.exists() else missing
        raise TableError(f"{shown} cannot be written: {reason}.") from None
