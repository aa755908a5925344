"""Logs of Inspect AI in one archive (``.eval``): a header, and one JSON file for every sample and epoch."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vecuq._check import one_line
from vecuq.answers.lines import Entry, TornFileError, parsed
from vecuq.answers.slimming import ENTRY_BYTES, slim
from vecuq.errors import TableError

ENDING = ".eval"
# The list of its files is held in memory; 32 MiB name about 300,000 of them.
LIST_BYTES = 32 * 2**20
_END, _END_BYTES, _LONGEST_COMMENT = b"PK\x05\x06", 22, 65_535
_LONG_END = b"PK\x06\x06"
# Where the log keeps what holds for all samples; the second is there while it runs.
_HEADERS = ("header.json", "_journal/start.json")
_ZSTD = 93
_UNREADABLE = (
    *(OSError, EOFError, ValueError, KeyError, RuntimeError, NotImplementedError, struct.error),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)


def is_eval_file(path: Path) -> bool:
    """Whether a file has the name of an archive of Inspect AI."""
    return path.name.lower().endswith(ENDING)


def eval_entries(path: Path, keeps: tuple[str, ...]) -> Iterator[Entry]:
    """Yield the samples of an archive, each with ``eval``, of its header; at most ``keeps`` of a long one.

    A file in it is unpacked up to a limit, whatever size it claims.
    """
    _refuse_long_list(path)
    try:
        with zipfile.ZipFile(path) as archive:
            facts = _facts(path, archive)
            names = [name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")]
            if not names:
                raise TableError(f"{path} has no samples; is it a log of Inspect AI?")
            for number, name in enumerate(names, start=1):
                place = f"{path}, {one_line(name, most=60)}"
                yield Entry(number, place, slim(_unpacked(archive, name, path), keeps), facts=facts)
    except _UNREADABLE as error:
        if isinstance(error, TableError):
            raise
        raise TornFileError(f"{path} cannot be read ({one_line(error)}).") from None


def _facts(path: Path, archive: zipfile.ZipFile) -> Mapping[str, Any]:
    """Return what the header says of the whole log, where there is one."""
    known = set(archive.namelist())
    content = next((_unpacked(archive, name, path) for name in _HEADERS if name in known), None)
    small = slim(content, ("eval",)) if content else None
    header = parsed(small) if small else {}
    found = header.get("eval") if isinstance(header, Mapping) else None
    return {"eval": found} if isinstance(found, Mapping) else {}


def _unpacked(archive: zipfile.ZipFile, name: str, path: Path) -> bytes | None:
    """Return a file of the archive; None if it is longer than the limit."""
    if archive.getinfo(name).compress_type == _ZSTD and not hasattr(zipfile, "ZIP_ZSTANDARD"):
        raise TableError(
            f"{path} is packed with zstd, which Python before 3.14 cannot unpack. Write it as JSON first: "
            f"inspect log convert {path.name} --to json --output-dir converted"
        )
    with archive.open(name) as file:
        content = file.read(ENTRY_BYTES + 1)
    return None if len(content) > ENTRY_BYTES else content


def _refuse_long_list(path: Path) -> None:
    """Raise before an archive is opened that names too many files to hold."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _END_BYTES - _LONGEST_COMMENT))
        tail = file.read()
    at_end = tail[-_END_BYTES:].startswith(_END) and tail.endswith(b"\0\0")
    place = len(tail) - _END_BYTES if at_end else tail.rfind(_END)
    if place < 0 or len(tail) - place < _END_BYTES:
        raise TableError(f"{path} is no log of Inspect AI: an .eval file is a zip archive, and this is none.")
    (size,) = struct.unpack_from("<I", tail, place + 12)
    long_end = tail.rfind(_LONG_END, 0, place)
    if long_end >= 0 and len(tail) - long_end >= 48:
        size = max(size if size != 2**32 - 1 else 0, *struct.unpack_from("<Q", tail, long_end + 40))
    if size > LIST_BYTES:
        raise TableError(f"{path} names more files than the {LIST_BYTES // 2**20} MiB that are read of such a list.")
