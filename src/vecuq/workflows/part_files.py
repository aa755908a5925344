"""The part files of a job: what is read, under which name each output lies, and what was made of it."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, NamedTuple, Protocol

from vecuq._run import Tick
from vecuq.errors import SettingError, TableError
from vecuq.table import EXTENSIONS, PathLike, is_table_name, kind_of


@dataclass(frozen=True)
class Part:
    """One file that is read, and the name of the file that is made of it."""

    source: str  # the file or its address, as messages name it
    path: str  # where it can be opened
    name: str  # of the output, below the folder, with slashes
    size: int
    stamp: str  # changes when the file does

    @property
    def facts(self) -> dict[str, Any]:
        """What says whether the file is still the same."""
        return {"input": self.source, "output": self.name, "size": self.size, "stamp": self.stamp}


@dataclass(frozen=True)
class Made:
    """A finished output file."""

    name: str
    counts: dict[str, int]
    size: int
    sha256: str
    notes: tuple[str, ...] = ()  # warnings about this file
    time: int = 0  # when it was written, in nanoseconds


@dataclass(frozen=True)
class Bad:
    """A file that cannot be read, and why."""

    source: str
    reason: str


class BadPartError(TableError):
    """What is read is broken; anything else, such as a full disk, stops the whole job."""


class Counted(NamedTuple):
    """What a part came to: counts, ``rows`` among them, and warnings about it."""

    counts: dict[str, int]
    notes: tuple[str, ...] = ()


class Maker(Protocol):
    """Makes the output of one part from ``part.path``."""

    def __call__(self, part: Part, target: Path, tick: Tick) -> Counted:
        """Write ``target``, calling ``tick`` on the way; raise BadPartError for a broken input."""


@dataclass(frozen=True)
class PartJob:
    """What is done with every part, and what makes this job another one than others."""

    verb: str
    parts: tuple[Part, ...]
    make: Maker
    options: dict[str, Any]
    model: dict[str, str] | None = None  # name and checksum
    shared: str = ""  # a checksum of what was found in all inputs together and matters for every part
    bad: dict[str, str] = field(default_factory=dict)  # sources that cannot be read, and why, as far as known

    def total(self, made: Sequence[Made]) -> Counter[str]:
        """Return the counts of all parts together."""
        counts: Counter[str] = Counter()
        for one in made:
            counts.update(one.counts)
        return counts


def local_parts(files: Sequence[PathLike], *, format: str | None = None) -> tuple[Part, ...]:
    """Return files of this machine as parts, named as they lie below their common folder."""
    paths = [Path(file).absolute() for file in files]
    names = output_names([path.as_posix() for path in paths], format=format)
    return tuple(_local_part(file, path, name) for file, path, name in zip(files, paths, names, strict=True))


def _local_part(file: PathLike, path: Path, name: str) -> Part:
    facts = path.stat()
    return Part(str(file), str(path), name, facts.st_size, str(facts.st_mtime_ns))


def output_names(paths: Sequence[str], *, format: str | None = None) -> list[str]:
    """Return the name of every output below its folder: that of the input below the folder that all inputs share.

    Examples
    --------
    >>> output_names(["/d/2024/a.csv", "/d/2025/a.csv"], format="parquet")
    ['2024/a.parquet', '2025/a.parquet']
    """
    plain = [PurePosixPath(posixpath.normpath(path)) for path in paths]
    above = posixpath.commonpath([str(path.parent) for path in plain])
    ending = _ending_of(format)
    names = [_renamed(path.relative_to(above).as_posix(), ending) for path in plain]
    odd = [name for name in names if not is_inside(name)]
    if odd:
        raise SettingError(f"{odd[0]!r} cannot be the name of an output; rename that input.")
    doubled = [name for name, times in Counter(names).items() if times > 1]
    if doubled:
        raise SettingError(f"Two inputs would be written as {doubled[0]}; give each input once, or score them apart.")
    return names


def is_inside(name: str) -> bool:
    """Whether a name with slashes stays below its folder, whatever the folder.

    Examples
    --------
    >>> [is_inside(name) for name in ("a.csv", "2024/a.csv", "../a.csv", "/a.csv", "")]
    [True, True, False, False, False]
    """
    return not any(part in ("", ".", "..") or PurePath(part).name != part or "\0" in part for part in name.split("/"))


def _ending_of(format: str | None) -> str | None:
    if format is None:
        return None
    ending = f".{format.removeprefix('.')}"
    if ending not in EXTENSIONS:
        raise SettingError(f"format must be one of {', '.join(one[1:] for one in EXTENSIONS)}; got {format!r}.")
    return ending


def _renamed(name: str, ending: str | None) -> str:
    if ending is None:
        return name
    old = kind_of(name) if is_table_name(name) else PurePosixPath(name).suffix
    return name[: len(name) - len(old)] + ending


def without(parts: Sequence[Part], bad: Mapping[str, str]) -> tuple[Part, ...]:
    """Return the parts that can be read, as far as known."""
    return tuple(part for part in parts if part.source not in bad)
