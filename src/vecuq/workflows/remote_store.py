"""A folder behind an address that fsspec knows, such as a bucket: outputs are put there whole, then renamed.

Promised is what the file system behind the address keeps: an upload that appears whole or not at all (S3, GCS, Azure:
yes), and a rename. A job that was stopped cannot be resumed there, for there is no journal; it is done again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vecuq._files import temporary_folder
from vecuq.errors import SettingError
from vecuq.workflows.part_inputs import address_of, file_system, without_scheme
from vecuq.workflows.part_store import STAGING, LocalStore, PartStore


def store_of(out: Any, *, resume: bool = False) -> PartStore:
    """Return where outputs go: a folder, which all machines of the job must reach, or one behind an address."""
    address = address_of(out)
    if address is None:
        return LocalStore.of(Path(without_scheme(out)).absolute())
    if resume:
        raise SettingError(f"A job that writes to {address} cannot be resumed; leave out resume=True and start again.")
    return RemoteStore(address.rstrip("/"))


@dataclass(frozen=True)
class RemoteStore:
    """A folder behind an address; see this module for what is promised."""

    address: str

    @property
    def shown(self) -> str:
        """What messages call the folder."""
        return self.address

    @property
    def resumable(self) -> bool:
        """Whether a job that was stopped can go on here: no journal is kept."""
        return False

    @contextmanager
    def held(self) -> Iterator[None]:
        """There are no locks behind an address: two jobs must not write to one folder at once."""
        yield

    def names(self) -> list[str]:
        """Return what lies in the folder, but for hidden names."""
        system, path = self._at("")
        with suppress(FileNotFoundError):
            found = [one.rstrip("/").rsplit("/", 1)[-1] for one in system.ls(path, detail=False)]
            return sorted(name for name in found if not name.startswith("."))
        return []

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none."""
        system, path = self._at(name)
        with suppress(FileNotFoundError):
            return bytes(system.cat_file(path))
        return None

    def write(self, name: str, content: bytes) -> None:
        """Write a file in one upload."""
        system, path = self._at(name)
        system.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        system.pipe_file(path, content)

    def size(self, name: str) -> int | None:
        """Return how large a file is; None if there is none."""
        system, path = self._at(name)
        with suppress(FileNotFoundError):
            return int(system.size(path))
        return None

    def append(self, name: str, line: str) -> None:
        """Keep no journal: most systems cannot add to a file."""

    @contextmanager
    def draft(self, ending: str) -> Iterator[Path]:
        """Yield a path on the disk of this machine."""
        with temporary_folder() as folder:
            yield folder / f"draft{ending}"

    def keep(self, draft: Path, name: str) -> None:
        """Upload a finished draft under a name of its own, then rename it."""
        system, path = self._at(name)
        _, passing = self._at(f"{STAGING}/drafts/{secrets.token_hex(8)}")
        for place in (path, passing):
            system.makedirs(place.rsplit("/", 1)[0], exist_ok=True)
        system.put_file(str(draft), passing)
        if self.size(name) == draft.stat().st_size:  # of a retry: the same bytes, which must never be gone
            system.rm(passing)
        else:
            _renamed(system, passing, path)

    def move(self, name: str, new: str) -> None:
        """Rename a file."""
        system, path = self._at(name)
        _, final = self._at(new)
        system.makedirs(final.rsplit("/", 1)[0], exist_ok=True)
        _renamed(system, path, final)

    def remove(self, name: str) -> None:
        """Remove a file or a folder with all that is in it, if it is there."""
        system, path = self._at(name)
        with suppress(FileNotFoundError):
            system.rm(path, recursive=True)

    def _at(self, name: str) -> tuple[Any, str]:
        return file_system(f"{self.address}/{name}".rstrip("/"))


def _renamed(system: Any, path: str, final: str) -> None:
    if system.exists(final):
        system.rm(final)
    system.mv(path, final)
