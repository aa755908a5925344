"""Several files that replace others all together or not at all, also if the job is killed between two of them."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from vecuq._files.parts import part_file

_JOURNAL = "moves.json"
_OLD = "old"


def move_all(moves: Sequence[tuple[Path, Path]], part: Path) -> None:
    """Rename new files to their final names; ``part``, a folder, keeps until the end what :func:`undo_moves` needs.

    First every old file gets a second name in ``part``, then the journal says what will be moved, then the files are
    moved. They count from the moment at which the journal is gone.
    """
    (part / _OLD).mkdir()
    journal = [_prepared(number, new, final, part) for number, (new, final) in enumerate(moves)]
    draft = part / "draft"
    draft.write_text(json.dumps(journal))
    sync(draft, part / _OLD)
    draft.replace(part / _JOURNAL)
    sync(part)
    for new, final in moves:
        _move(new, final)
    sync(*{final.parent for _, final in moves})
    (part / _JOURNAL).unlink()


def undo_moves(part: Path) -> None:
    """Put the old files back in their places, as the journal says; without one there is nothing to undo.

    It may itself be stopped anywhere and done again. A file that somebody wrote since is left as it is.
    """
    with suppress(FileNotFoundError):
        for record in json.loads((part / _JOURNAL).read_text()):
            _undo(record, part)
        (part / _JOURNAL).unlink()


def sync(*paths: Path) -> None:
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


def _prepared(number: int, new: Path, final: Path, part: Path) -> dict[str, Any]:
    """Keep the old file under a second name, and return what is needed to undo the move."""
    old = part / _OLD / str(number) if final.exists() else None
    if old is not None:
        new.chmod(final.stat().st_mode & 0o777)
        _link(final, old)
    made = new.stat()
    return {
        "final": _seen_from(part.parent, final),
        "old": old and old.name,
        "size": made.st_size,
        "time": made.st_mtime_ns,
    }


def _undo(record: dict[str, Any], part: Path) -> None:
    final = part.parent / record["final"]
    old = part / _OLD / record["old"] if record["old"] is not None else None
    if not final.exists() or (final.stat().st_size, final.stat().st_mtime_ns) != (record["size"], record["time"]):
        return  # not moved yet, undone already, or written by somebody else since
    if old is None:
        final.unlink()
    elif old.exists():
        _move(old, final)


def _link(old: Path, second: Path) -> None:
    """Give a file a second name; where there are no such names, or not across two disks, make a copy."""
    try:
        os.link(old, second)
    except OSError:
        shutil.copy2(old, second)
        sync(second)


def _move(new: Path, final: Path) -> None:
    """Rename a file; to another disk it is copied under a name beside the final one first."""
    try:
        new.replace(final)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with part_file(final.parent) as beside:
            shutil.copy2(new, beside.path)
            sync(beside.path)
            beside.become(final)


def _seen_from(folder: Path, path: Path) -> str:
    """Return a path that survives if the folder is moved; on another drive it is the whole path."""
    try:
        return os.path.relpath(path, folder)
    except ValueError:
        return str(path)
