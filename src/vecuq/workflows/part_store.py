"""Where the outputs of a job lie while it runs and afterwards: hidden until all are finished, then in their places."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vecuq._files import locked, write_atomic
from vecuq.errors import TableError
from vecuq.table import PathLike

MANIFEST = "_vecuq_manifest.json"
# Below the folder, out of sight of everything that reads tables: what `--resume` needs.
STAGING = ".vecuq-job"


class PartStore(Protocol):
    """A folder for outputs, on a disk or behind an address; names are below the folder, with slashes."""

    @property
    def shown(self) -> str:
        """What messages call the folder."""

    @property
    def resumable(self) -> bool:
        """Whether a job that was stopped can go on here."""

    def held(self) -> AbstractContextManager[None]:
        """Return a context in which no other job writes here; the folder is made, and goes again if it stays empty."""

    def names(self) -> list[str]:
        """Return what lies in the folder, but for hidden names."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all."""

    def size(self, name: str) -> int | None:
        """Return how large a file is; None if there is none."""

    def append(self, name: str, line: str) -> None:
        """Add a line to a file."""

    def draft(self, ending: str) -> AbstractContextManager[Path]:
        """Return a context with a path to write to, which nobody else has and which is gone afterwards."""

    def keep(self, draft: Path, name: str) -> None:
        """Give a finished draft its name, in one step; whatever had that name is replaced."""

    def move(self, name: str, new: str) -> None:
        """Rename a file in one step."""

    def remove(self, name: str) -> None:
        """Remove a file or a folder with all that is in it, if it is there."""


@dataclass(frozen=True)
class LocalStore:
    """A folder on a disk that all processes of the job can reach."""

    path: Path

    @staticmethod
    def of(path: PathLike) -> LocalStore:
        """Return the store for a folder, which need not be there."""
        final = Path(path)
        nearest = next(one for one in (final.absolute(), *final.absolute().parents) if one.exists())
        if not nearest.is_dir():
            raise TableError(f"{path} cannot be made: {nearest} is a file; the name of a folder was expected.")
        return LocalStore(final)

    @property
    def shown(self) -> str:
        """What messages call the folder."""
        return str(self.path)

    @property
    def resumable(self) -> bool:
        """Whether a job that was stopped can go on here: a journal is kept."""
        return True

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder against other jobs."""
        made = _made_folders(self.path)
        try:
            with locked(self.path / MANIFEST):
                for left in self.path.glob(f"{STAGING}-*"):  # by a job that was killed while it removed something
                    shutil.rmtree(left, ignore_errors=True)
                yield
        finally:
            for folder in made:  # those that are still empty
                with suppress(OSError):
                    folder.rmdir()

    def names(self) -> list[str]:
        """Return what lies in the folder, but for hidden names."""
        return sorted(name for name in os.listdir(self.path) if not name.startswith("."))

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none."""
        with suppress(FileNotFoundError):
            return (self.path / name).read_bytes()
        return None

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all."""
        final = self.path / name
        final.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(final, content)

    def size(self, name: str) -> int | None:
        """Return how large a file is; None if there is none."""
        with suppress(FileNotFoundError):
            return (self.path / name).stat().st_size
        return None

    def append(self, name: str, line: str) -> None:
        """Add a line to a file."""
        final = self.path / name
        final.parent.mkdir(exist_ok=True)
        with final.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    @contextmanager
    def draft(self, ending: str) -> Iterator[Path]:
        """Yield a path of our own in a folder that holds only drafts, on the same disk as the final place."""
        folder = self.path / STAGING / "drafts"
        path = folder / f"{secrets.token_hex(8)}{ending}"
        try:
            folder.mkdir(exist_ok=True)
            yield path
        finally:
            path.unlink(missing_ok=True)

    def keep(self, draft: Path, name: str) -> None:
        """Give a finished draft its name, in one step."""
        final = self.path / name
        # Not its parents: when the job was given up, the folder is gone, and a late worker must not make it again.
        if not final.parent.is_dir():
            final.parent.mkdir(parents=(self.path / STAGING).is_dir(), exist_ok=True)
        draft.replace(final)

    def move(self, name: str, new: str) -> None:
        """Rename a file in one step."""
        final = self.path / new
        final.parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).replace(final)

    def remove(self, name: str) -> None:
        """Remove a file or a folder with all that is in it, if it is there."""
        found = self.path / name
        if not found.is_dir() or found.is_symlink():
            found.unlink(missing_ok=True)
            return
        # Under another name first: a worker that does not know yet that the job is over finds no folder to write to.
        going = self.path / f"{STAGING}-{secrets.token_hex(8)}"
        found.rename(going)
        shutil.rmtree(going, ignore_errors=True)


def _made_folders(path: Path) -> list[Path]:
    """Make a folder and those above it; return the new ones, innermost first."""
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TableError(f"{path} cannot be made: {(error.strerror or str(error)).lower()}.") from None
    return new
