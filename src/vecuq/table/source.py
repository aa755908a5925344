"""What the name of a table means: a file, several, a folder of part files, a pattern, or ``-`` for standard input."""

from __future__ import annotations

import os
import shutil
import sys
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fnmatch import fnmatch
from glob import glob, has_magic
from pathlib import Path

from vecuq._check import existing_file, real_path
from vecuq._files import temporary_folder
from vecuq.errors import TableError

PathLike = str | os.PathLike[str]
STDIO = "-"
_STDIN = "standard input"
# Most rows of a batch that is read or written at once.
BATCH_ROWS = 65_536
# How a file is read and written, by its ending; gz is unpacked and packed on the way.
_FORMATS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".npz": "npz",
    ".jsonl": "jsonl",
    ".jsonl.gz": "jsonl",
}
EXTENSIONS = tuple(_FORMATS)


def kind_of(path: PathLike) -> str:
    """Return the ending that says how to read or write a table file."""
    name = Path(path).name.lower()
    kind = next((ending for ending in reversed(EXTENSIONS) if name.endswith(ending)), None)
    if kind is None and name.endswith(".vecuq"):
        raise TableError(f"{path} has the name of a model or a state, and a table is needed here.")
    if kind is None:
        raise TableError(f"{path} must end in one of {', '.join(EXTENSIONS)}, which says how to read or write it.")
    return kind


def format_of(kind: str) -> str:
    """Return the format behind an ending: csv, parquet, arrow, npz or jsonl."""
    return _FORMATS[kind]


def is_table_name(path: PathLike) -> bool:
    """Whether a path ends like a table file."""
    return Path(path).name.lower().endswith(EXTENSIONS)


def is_text_table(path: PathLike) -> bool:
    """Whether a path ends like a csv or tsv file, whose cells are text."""
    return is_table_name(path) and format_of(kind_of(path)) == "csv"


def is_stdio(path: object) -> bool:
    """Whether a path means standard input or output."""
    return isinstance(path, str | os.PathLike) and os.fspath(path) == STDIO


@dataclass(frozen=True)
class PartFile:
    """One file of a table, and what messages call it."""

    path: Path
    kind: str
    shown: str

    def __str__(self) -> str:
        return self.shown

    @property
    def format(self) -> str:
        """How the file is read: csv, parquet, arrow, npz or jsonl."""
        return format_of(self.kind)

    @property
    def is_packed(self) -> bool:
        """Whether the file is packed by gzip."""
        return self.kind.endswith(".gz")


@dataclass(frozen=True)
class TableSource:
    """The files that hold one table, in the order in which they are read."""

    shown: str
    parts: tuple[PartFile, ...]

    def __str__(self) -> str:
        return self.shown

    @staticmethod
    def of(where: PathLike | Sequence[PathLike] | TableSource) -> TableSource:
        """Find the files that one path, or several, stand for.

        A folder stands for the files in it and a pattern such as ``parts/*.csv`` for those that match, by name; hidden
        files and markers such as ``_SUCCESS`` are left out. ``-`` is standard input, jsonl or Arrow by its first
        bytes, kept in a temporary file for as long as the source lives.
        """
        if isinstance(where, TableSource):
            return where
        paths = [where] if isinstance(where, str | os.PathLike) else list(where)
        if [is_stdio(path) for path in paths] == [True]:
            return _standard_input()
        if not paths or any(map(is_stdio, paths)):
            raise TableError("A table is one or more files, or - alone for standard input.")
        parts = tuple(_part(file) for path in paths for file in _files_of(path))
        # Parallel writers leave empty parts of text behind; of any other format, an empty file was cut off.
        filled = tuple(part for part in parts if part.format not in ("csv", "jsonl") or part.path.stat().st_size)
        return TableSource(_shown(paths), filled or parts)

    @property
    def kind(self) -> str:
        """The ending of the first file."""
        return self.parts[0].kind

    @property
    def is_stdin(self) -> bool:
        """Whether it came through standard input."""
        return self.shown == _STDIN

    @property
    def n_bytes(self) -> int:
        """How large the files are together."""
        return sum(part.path.stat().st_size for part in self.parts)

    def each(self) -> list[TableSource]:
        """Return every file as a source of its own."""
        return [TableSource(part.shown, (part,)) for part in self.parts]

    def holds(self, path: PathLike) -> bool:
        """Whether a path is one of the files."""
        return Path(path).exists() and any(os.path.samefile(path, part.path) for part in self.parts)


def stands_for(where: PathLike | Sequence[PathLike] | TableSource, path: PathLike) -> bool:
    """Whether a path is, or would be, one of the files of a table, which need not be there."""
    if isinstance(where, TableSource):
        return where.holds(path)
    if not isinstance(where, str | os.PathLike):
        return any(stands_for(one, path) for one in where)
    if is_stdio(where) or is_stdio(path):
        return False
    found, final = Path(where), real_path(path)
    if found.is_dir():
        return final.parent == found.resolve()
    if not found.exists() and has_magic(str(where)):
        return fnmatch(str(final), str(found.absolute())) or any(
            stands_for(match, path) for match in glob(str(where), recursive=True)
        )
    return final == real_path(found) or (final.exists() and found.exists() and final.samefile(found))


def _shown(paths: Sequence[PathLike]) -> str:
    more = len(paths) - 1
    return str(paths[0]) if not more else f"{paths[0]} and {more:,} more file{'' if more == 1 else 's'}"


def _part(file: Path) -> PartFile:
    return PartFile(file, kind_of(file), str(file))


def _files_of(path: PathLike) -> Iterator[Path]:
    """Yield the files that one path stands for."""
    found = Path(path)
    if found.is_dir():
        yield from _files_in(found)
    elif found.exists() or not has_magic(str(path)):
        yield existing_file(found)
    else:
        matches = [Path(match) for match in sorted(glob(str(path), recursive=True))]
        files = [file for match in _unmarked(matches) for file in (_files_in(match) if match.is_dir() else [match])]
        if not files:
            raise TableError(f"No file matches {path}.")
        yield from map(existing_file, dict.fromkeys(files))


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the part files of a folder by name."""
    files = list(_unmarked(sorted(folder.iterdir())))
    inner = next((file for file in files if file.is_dir()), None)
    if inner is not None:
        raise TableError(f"{folder} has folders inside, such as {inner.name}; name the files, as in '{folder}/*/*'.")
    if not files:
        raise TableError(f"{folder} is a folder without table files.")
    yield from map(existing_file, files)


def _unmarked(files: Iterable[Path]) -> Iterator[Path]:
    return (file for file in files if not file.name.startswith((".", "_")))


def _standard_input() -> TableSource:
    """Keep standard input in a temporary file, since types are known only after all rows were seen."""
    with ExitStack() as stack:
        path = stack.enter_context(temporary_folder()) / "stdin"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, 2**20)
        part = PartFile(path, _sniffed(path), _STDIN)
        weakref.finalize(part, stack.pop_all().close)
    return TableSource(part.shown, (part,))


def _sniffed(path: Path) -> str:
    """Return the kind of what came in, by its first bytes: an Arrow stream or file, otherwise jsonl."""
    with path.open("rb") as file:
        first = file.read(2**10)
    if first.startswith((b"\xff\xff\xff\xff", b"ARROW1")):
        return ".arrows"
    if first.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b""):
        raise TableError("Standard input must be JSON lines or an Arrow stream. Save other formats as a file first.")
    return ".jsonl"
