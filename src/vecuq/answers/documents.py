"""A JSON file that is one document: its entries, in a list or at a path inside it, without holding it as a whole."""

from __future__ import annotations

import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from vecuq._check import one_line
from vecuq.answers.cutting import Cut, Steps
from vecuq.answers.lines import LINE_BYTES, Entry, TornFileError, opened

_FIRST_BYTES = 2**20
_OF_LINES = (".jsonl", ".ndjson")


def is_document(path: Path) -> bool:
    """Whether a file is one JSON document, perhaps spread over many lines, and not one document per line."""
    first, second = _first_lines(path)
    if first == b"{":
        return second[:1] in (b'"', b"}")
    return first == b"[" or (first[:1] == b"[" and not _is_of_lines(path) and not (second and first.endswith(b"]")))


def is_object(path: Path) -> bool:
    """Whether a file is one JSON object, on one line or on many, and not one object per line."""
    first, second = _first_lines(path)
    if first == b"{":
        return second[:1] in (b'"', b"}")
    return first[:1] == b"{" and not _is_of_lines(path) and not (second and first.endswith(b"}"))


def _is_of_lines(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(_OF_LINES)


def _first_lines(path: Path) -> tuple[bytes, bytes]:
    """Return the first two lines that are not blank, or their beginnings."""
    try:
        with opened(path) as file:
            return _next_line(file).removeprefix(BOM_UTF8).strip(), _next_line(file).strip()
    except TornFileError:
        return b"", b""


def _next_line(file: IO[bytes]) -> bytes:
    """Return the next line that is not blank, or its beginning; nothing at the end of the file or at a tear."""
    try:
        return next((line for line in iter(lambda: file.readline(_FIRST_BYTES), b"") if line.strip()), b"")
    except (OSError, EOFError, zlib.error):
        return b""


def document_entries(
    path: Path, at: Steps | None = None, *, most: int = LINE_BYTES, piece_bytes: int = 2**20
) -> Iterator[Entry]:
    """Yield the entries of a JSON list, the only object, or the objects at a path, as bytes.

    The file is read in pieces of ``piece_bytes``; besides one piece, at most ``most`` bytes are held at once. A longer
    entry comes without content.
    """
    with opened(path) as file:
        yield from entries_in(iter(lambda: file.read(piece_bytes), b""), Cut(path, at, most=most), path)


def entries_in(pieces: Iterable[bytes], cut: Cut, path: Path) -> Iterator[Entry]:
    """Yield the entries of a document that comes in pieces; where it is damaged, raise."""
    try:
        for piece in pieces:
            yield from cut.feed(piece)
    except (OSError, EOFError, zlib.error) as error:
        raise TornFileError(f"{path}, after entry {cut.number}: cannot be read ({one_line(error)}).") from None
    if cut.depth:
        raise TornFileError(f"{path}, after entry {cut.number}: brackets that were opened are not closed.")
    yield from cut.stray()
