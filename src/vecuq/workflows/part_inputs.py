"""What the inputs of a job over parts are: files of this machine, or parquet behind an address that fsspec knows."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from vecuq._check import one_line
from vecuq._files import temporary_folder
from vecuq.errors import SettingError, TableError
from vecuq.table import PartFile, PathLike, TableLike, TableReader, TableSource, count_rows, kind_of
from vecuq.workflows.part_files import BadPartError, Part, local_parts, output_names

# An address, also after pathlib has taken one of its slashes; a drive has one letter.
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/{1,2}(.*)", re.DOTALL)


def address_of(path: Any) -> str | None:
    """Return a path as an address such as ``s3://bucket/key``; None if it is a file of this machine.

    Examples
    --------
    >>> address_of(Path("s3://bucket/key"))
    's3://bucket/key'
    """
    found = _ADDRESS.fullmatch(os.fspath(path)) if isinstance(path, str | os.PathLike) else None
    if found is None or found[1] == "file":
        return None
    return f"{found[1]}://{found[2]}"


def without_scheme(path: PathLike) -> PathLike:
    """Return the file behind ``file://``; everything else as it is."""
    found = _ADDRESS.fullmatch(os.fspath(path))
    return f"/{found[2].lstrip('/')}" if found is not None and found[1] == "file" else path


def file_system(address: str) -> tuple[Any, str]:
    """Return what reads and writes behind an address, and the path there."""
    try:
        import fsspec
    except ImportError:
        raise SettingError(f"{address} needs fsspec: pip install 'vecuq[dask]'.") from None
    try:
        found: tuple[Any, str] = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise SettingError(f"{address} cannot be reached: {one_line(error)}") from None
    return found


@dataclass(frozen=True)
class PartInputs:
    """The parts of a job, and files that have their columns: the parts themselves, or stand-ins without rows."""

    parts: tuple[Part, ...]
    source: TableSource
    counts: tuple[int, ...] | None = None  # rows of each part, if they were seen on the way

    @staticmethod
    def of(where: TableLike, *, format: str | None = None) -> PartInputs:
        """Find the parts that paths or addresses stand for."""
        paths = [where] if isinstance(where, str | os.PathLike) else where
        addresses = [] if isinstance(paths, TableSource) else [address_of(path) for path in paths]
        if any(addresses):
            if not all(addresses):
                raise SettingError("Give either addresses or files of this machine, not both.")
            return _behind(list(map(str, addresses)), format)
        source = TableSource.of(paths if isinstance(paths, TableSource) else [without_scheme(path) for path in paths])
        if source.is_stdin:
            raise SettingError("Part files come from files; standard input (-) is one table, so write it to one file.")
        return PartInputs(local_parts([part.path for part in source.parts], format=format), source)

    @cached_property
    def n_rows(self) -> tuple[int, ...] | None:
        """How many rows each part has, where the files say so; 0 for one that cannot be read."""
        if self.counts is not None:
            return self.counts
        if {part.format for part in self.source.parts} != {"parquet"}:
            return None
        return tuple(_count(one) for one in self.source.each())


def common_reader(source: TableSource, columns: Sequence[str], *, typed: bool) -> tuple[TableReader, dict[str, str]]:
    """Return the reader with the columns that all files share, and the files that cannot be opened, with the reason."""
    try:
        return TableReader(source, columns=columns, typed=typed), {}
    except TableError:
        bad = dict(_unreadable(source, columns, typed=typed))
        good = tuple(part for part in source.parts if part.shown not in bad)
        if not bad or not good:  # the files do not go together, or none can be opened
            raise
    return TableReader(TableSource(source.shown, good), columns=columns, typed=typed), bad


@contextmanager
def rows_of(reader: TableReader, part: Part) -> Iterator[Iterator[Any]]:
    """Yield the batches of one part, with the columns that all share; a broken file raises BadPartError."""
    with ExitStack() as stack:
        try:
            path = Path(part.path) if address_of(part.path) is None else stack.enter_context(_copied(part))
        except (FileNotFoundError, PermissionError) as error:
            raise BadPartError(f"{part.source} cannot be read: {one_line(error)}") from None
        except OSError as error:  # a full disk, a lost connection: the file may be good
            raise TableError(f"{part.source} cannot be copied to this machine: {one_line(error)}") from None
        yield _readable(reader.of_file(PartFile(path, kind_of(part.path), part.source)))


def _readable(reader: TableReader) -> Iterator[Any]:
    try:
        yield from reader.batches()
    except TableError as error:
        raise BadPartError(str(error)) from None


@contextmanager
def _copied(part: Part) -> Iterator[Path]:
    """Yield a copy of what lies behind an address, for as long as it is read."""
    system, path = file_system(part.path)
    with temporary_folder() as folder:
        copy = folder / f"part{kind_of(part.path)}"
        system.get_file(path, str(copy))
        yield copy


def _unreadable(source: TableSource, columns: Sequence[str], *, typed: bool) -> Iterator[tuple[str, str]]:
    for one in source.each():
        try:
            TableReader(one, columns=columns, typed=typed)
        except TableError as error:
            yield one.shown, str(error)


def _count(one: TableSource) -> int:
    try:
        return count_rows(one) or 0
    except TableError:
        return 0


def _behind(addresses: Sequence[str], format: str | None) -> PartInputs:
    """Return parquet files behind addresses; stand-ins on disk have their columns."""
    found = [file for address in addresses for file in _listed(address)]
    names = output_names([path for _, path, _, _ in found], format=format)
    stack = ExitStack()
    folder = stack.enter_context(temporary_folder())
    parts, stand_ins, counts = [], [], []
    for number, ((system, path, size, stamp), name) in enumerate(zip(found, names, strict=True)):
        shown = str(system.unstrip_protocol(path))
        parts.append(Part(shown, shown, name, size, stamp))
        stand_in = folder / f"{number}.parquet"
        counts.append(_stand_in(system, path, stand_in))
        stand_ins.append(PartFile(stand_in, ".parquet", shown))
    source = TableSource(addresses[0], tuple(stand_ins))
    weakref.finalize(stand_ins[0], stack.close)
    return PartInputs(tuple(parts), source, tuple(counts))


def _stand_in(system: Any, path: str, target: Path) -> int:
    """Write a parquet file without rows and with the columns of another one; return how many rows that has.

    Of a broken one the first bytes are copied, which cannot be read either.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with system.open(path, "rb") as file:
        try:
            there = pq.ParquetFile(file)
            pq.write_table(there.schema_arrow.empty_table(), target)
            return int(there.metadata.num_rows)
        except (pa.ArrowException, OSError):
            file.seek(0)
            target.write_bytes(file.read(2**10) or b"empty")
            return 0


def _listed(address: str) -> Iterator[tuple[Any, str, int, str]]:
    """Yield the files behind an address: one, a folder's, or those that match a pattern."""
    from glob import has_magic

    system, path = file_system(address)
    try:
        paths = (
            system.glob(path) if has_magic(path) else system.ls(path, detail=False) if system.isdir(path) else [path]
        )
        files = sorted(one for one in paths if not one.rsplit("/", 1)[-1].startswith((".", "_")) and system.isfile(one))
    except OSError as error:
        raise TableError(f"{address} cannot be read: {one_line(error)}") from None
    if not files:
        raise TableError(f"There are no files at {address}.")
    for one in files:
        if kind_of(one) != ".parquet":
            raise TableError(f"{one} is not parquet, and behind an address nothing else is read; copy it to a disk.")
        yield system, one, int(system.size(one) or 0), str(system.ukey(one))
