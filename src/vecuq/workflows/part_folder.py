"""Where a job over part files writes: a new folder beside the output, which takes its place in the end.

Nothing outside these two folders is written, and no file is removed that this job does not write itself.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from vecuq._check import real_path
from vecuq._files import is_temporary, locked, made_folder, put_folder, write_atomic
from vecuq.errors import SettingError, TableError
from vecuq.table import PathLike, is_table_name
from vecuq.workflows.part_files import Made, PartJob
from vecuq.workflows.part_inputs import address_of, without_scheme
from vecuq.workflows.part_list import LIST, PartList, read_list

_BESIDE = ".vecuq-part"


def job_folder(out: PathLike) -> Path:
    """Return the folder beside an output in which a job makes it."""
    final = real_path(without_scheme(out))
    return final.parent / f"{final.name}{_BESIDE}"


@dataclass(frozen=True)
class PartFolder:
    """The output of one job, and the folder beside it."""

    shown: str
    out: Path
    job: PartJob

    @staticmethod
    def of(out: PathLike, job: PartJob) -> PartFolder:
        """Return the place of a job; refuse one that is not a folder of this machine."""
        address = address_of(out)
        if address is not None:
            raise SettingError(
                f"{address} cannot be written: part files go into a folder of this machine. For object storage give "
                f"vecuq.cluster.dask.score a Dask DataFrame, and write its result with to_parquet."
            )
        final = real_path(without_scheme(out))
        if final.exists() and not final.is_dir():
            raise TableError(f"{out} cannot be made: it is a file; the name of a folder was expected.")
        if final.is_mount():  # nothing can be renamed from beside it
            raise SettingError(f"{out} is a disk of its own; name a new folder in it, such as {final / 'scored'}.")
        place = PartFolder(str(out).rstrip("/"), final, job)
        if place.path.is_symlink():
            raise SettingError(_odd(place.path))
        return place

    @property
    def path(self) -> Path:
        """Where the job writes."""
        return job_folder(self.out)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset((LIST, *(part.name for part in self.job.parts)))

    @cached_property
    def _folders(self) -> list[str]:
        """The folder and those below it, outermost first."""
        above = {str(one) for name in self._names for one in PurePosixPath(name).parents}
        return sorted(above, key=lambda name: (name != ".", name.count("/")))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold both folders against other jobs; folders above them that stay empty go again."""
        with made_folder(self.out.parent, shown=self.shown), locked(self.path):
            yield

    def finished(self, *, resume: bool) -> PartList | None:
        """Return the list of a finished job that is resumed, None for an empty folder; refuse any other."""
        there = sorted(os.listdir(self.out)) if self.out.exists() else []
        if resume and LIST in there:
            return read_list(self.out, self.job)
        if LIST in there:
            raise SettingError(
                f"{self.shown} holds the output of an earlier job; choose another folder, or replace it with "
                f"force=True."
            )
        visible = [name for name in there if not name.startswith(".")]
        if visible:
            raise SettingError(
                f"{self.shown} is not empty (it holds {visible[0]}); choose another folder, or write into it with "
                f"force=True."
            )
        return None

    def begin(self, *, resume: bool, force: bool) -> PartList | None:
        """Make the folder, or go on in it; return the list of what is finished. Refuse all that does not fit."""
        left = os.path.lexists(self.path)
        if left and not (resume or force):
            raise SettingError(
                f"{self.path} is there: a run was stopped. Go on with resume=True, start again with force=True, or "
                f"delete that folder."
            )
        self._refuse_in_the_way()
        if not left:
            self.path.mkdir()
        unfinished = self._unfinished(self.path)
        found = read_list(self.path, self.job) if resume else None
        for path in unfinished:
            path.unlink()
        for name in self._folders:
            (self.path / name).mkdir(exist_ok=True)
        return found

    def kept(self, made: Made) -> Made | None:
        """Return a part that an earlier run finished, if its output is still what it was."""
        for path in (self.path / made.name, self.out / made.name):
            if path.is_file() and not path.is_symlink() and path.stat().st_size == made.size:
                with path.open("rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() == made.sha256:
                        return replace(made, time=path.stat().st_mtime_ns)
        return None

    def write(self, content: bytes) -> None:
        """Write the list."""
        write_atomic(self.path / LIST, content)

    def publish(self, made: Sequence[Made]) -> None:
        """Give the folder its name; if that is there, move the files into it. May be stopped and done again."""
        self._refuse_changed(made)
        for path in self._unfinished(self.path):  # of a worker that died
            path.unlink(missing_ok=True)
        if self.out.exists():
            (self.out / LIST).unlink(missing_ok=True)  # it says that all files are there
        put_folder(self.path, self.out, [*(one.name for one in made), LIST])
        self._remove_empty(self.path)

    def leave(self, made: Sequence[Made]) -> None:
        """Stop: nothing stays but finished parts and their list, and not even the folder if there are none."""
        finished = {LIST, *(one.name for one in made)} if made else set()
        with suppress(OSError, SettingError):
            folder = self.path
            if not made:  # under another name first, where no late worker finds it
                folder = self.path.rename(self.path.with_name(f".{self.path.name}-{os.getpid()}"))
            for path in (*self._unfinished(folder), *(folder / name for name in self._names - finished)):
                path.unlink(missing_ok=True)
            self._remove_empty(folder)

    def _remove_empty(self, folder: Path) -> None:
        with suppress(OSError):
            for name in reversed(self._folders):
                (folder / name).rmdir()

    def _unfinished(self, folder: Path) -> list[Path]:
        """Return temporary files in the folder of the job; refuse a folder with anything that the job never writes."""
        found = []
        for name, path in self._inside(folder):
            regular = path.is_file() and not path.is_symlink()
            if regular and is_temporary(path.name):
                found.append(path)
            elif name not in (self._names if regular else self._folders):
                raise SettingError(_odd(path))
        return found

    def _refuse_in_the_way(self) -> None:
        """Raise if files cannot be moved into an output that is there, or would lie among tables of others."""
        if self.out.exists() and not os.access(self.out, os.W_OK):
            raise TableError(f"{self.shown} cannot be written: permission denied.")
        for name, path in self._inside(self.out):
            if name in self._names and (path.is_symlink() or not path.is_file()):
                raise SettingError(_odd(path))
            if name not in self._names and is_table_name(path) and not path.name.startswith((".", "_")):
                raise SettingError(
                    f"{path} is none of the outputs of this job and would lie among them; move it away, or choose "
                    f"another folder."
                )

    def _inside(self, folder: Path) -> Iterator[tuple[str, Path]]:
        """Yield what lies where outputs lie, with its name below a folder; refuse what is in place of a folder."""
        for inner in self._folders:
            place = folder / inner
            if os.path.lexists(place):
                if place.is_symlink() or not place.is_dir():
                    raise SettingError(_odd(place))
                yield from ((path.relative_to(folder).as_posix(), path) for path in sorted(place.iterdir()))

    def _refuse_changed(self, made: Sequence[Made]) -> None:
        for one in made:
            paths = [path for path in (self.path / one.name, self.out / one.name) if path.is_file()]
            facts = paths[0].stat() if paths else None
            if facts is None or (facts.st_size, facts.st_mtime_ns) != (one.size, one.time):
                raise TableError(
                    f"{self.path / one.name} {'was changed' if paths else 'is gone'} since it was made; does something "
                    f"else write to this folder? Go on with resume=True."
                )


def _odd(path: Path) -> str:
    return (
        f"{path} is nothing that this job writes, or no regular file. Nothing was changed; delete it, or choose "
        f"another folder for the outputs."
    )
