"""A JSON file that is one document, a list of answers or a single one, split without being held as a whole."""

from __future__ import annotations

import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from vecuq._check import one_line
from vecuq.answers.lines import LINE_BYTES, Entry, TornFileError, opened

_FIRST_BYTES = 2**20
_BETWEEN = b" \t\r\n,[]"
_OF_LINES = (".jsonl", ".ndjson")


def is_document(path: Path) -> bool:
    """Whether a file is one JSON document, perhaps spread over many lines, and not one document per line."""
    try:
        with opened(path) as file:
            first = _next_line(file).removeprefix(BOM_UTF8).strip()
            second = _next_line(file).strip()
    except TornFileError:
        return False
    if first == b"{":
        return second[:1] in (b'"', b"}")
    of_lines = path.name.lower().removesuffix(".gz").endswith(_OF_LINES)
    return first == b"[" or (first[:1] == b"[" and not of_lines and not (second and first.endswith(b"]")))


def _next_line(file: IO[bytes]) -> bytes:
    """Return the next line that is not blank, or its beginning; nothing at the end of the file or at a tear."""
    try:
        return next((line for line in iter(lambda: file.readline(_FIRST_BYTES), b"") if line.strip()), b"")
    except (OSError, EOFError, zlib.error):
        return b""


def document_entries(path: Path, *, piece_bytes: int = 2**20) -> Iterator[Entry]:
    """Yield the entries of a JSON list, or the only object, as bytes; one longer than ``LINE_BYTES`` without content.

    The file is read in pieces of ``piece_bytes``; besides one piece, at most ``LINE_BYTES`` are held at once.
    """
    cut = _Cut(path)
    with opened(path) as file:
        try:
            for piece in iter(lambda: file.read(piece_bytes), b""):
                yield from cut.feed(piece)
        except (OSError, EOFError, zlib.error) as error:
            raise TornFileError(f"{path}, after entry {cut.number}: cannot be read ({one_line(error)}).") from None
    if cut.depth:
        raise TornFileError(f"{path}, after entry {cut.number}: brackets that were opened are not closed.")
    yield from cut.stray()


class _Cut:
    """Cuts a stream of bytes where entries begin and end; it looks at brackets, quotes and backslashes only."""

    def __init__(self, path: Path) -> None:
        self.number = self.depth = 0
        self._path = path
        self._outer: int | None = None  # how deep entries lie: 1 in a list, 0 without one
        self._quoted = self._escaped = False
        self._held = bytearray()
        self._too_long = False

    def feed(self, piece: bytes) -> Iterator[Entry]:
        """Yield the entries that end in a piece of the stream."""
        held_to = 0
        for place, begins in self._bounds(piece):
            self._hold(piece[held_to:place])
            held_to = place
            yield from self.stray() if begins else [self._entry()]
        self._hold(piece[held_to:])

    def _bounds(self, piece: bytes) -> list[tuple[int, bool]]:
        """Return where entries begin (True) and end (False), in order; a piece is scanned as one array."""
        if self._outer is None:
            self._outer = int(piece.removeprefix(BOM_UTF8).lstrip().startswith(b"["))
        letters = np.frombuffer(self._without_escapes(piece), dtype=np.uint8)
        quotes = np.cumsum(letters == ord('"'), dtype=np.int32) + self._quoted
        bare = quotes % 2 == 0
        opens = bare & ((letters == ord("[")) | (letters == ord("{")))
        closes = bare & ((letters == ord("]")) | (letters == ord("}")))
        depth = np.cumsum(opens.astype(np.int8) - closes.astype(np.int8), dtype=np.int32) + self.depth
        self._quoted, self.depth = not bare[-1], int(depth[-1])
        starts = np.flatnonzero(opens & (depth == self._outer + 1))
        ends = np.flatnonzero(closes & (depth == self._outer)) + 1
        return sorted([(place, True) for place in starts.tolist()] + [(place, False) for place in ends.tolist()])

    def _without_escapes(self, piece: bytes) -> bytes:
        """Return as many bytes, escaped characters blanked; the first may be escaped by the piece before."""
        plain = (b"_" + piece[1:] if self._escaped else piece).replace(rb"\\", b"__").replace(rb"\"", b"__")
        self._escaped = plain.endswith(b"\\")
        return plain

    def _hold(self, content: bytes) -> None:
        if len(self._held) + len(content) > LINE_BYTES:
            self._too_long = True
            self._held.clear()
        elif not self._too_long:
            self._held += content

    def _entry(self) -> Entry:
        content = None if self._too_long else bytes(self._held)
        self._held.clear()
        self._too_long, self.number = False, self.number + 1
        return Entry(self.number, f"{self._path}, entry {self.number}", content)

    def stray(self) -> Iterator[Entry]:
        """Yield what stands between entries and is neither a comma nor blank, such as a bare number."""
        if self._too_long or self._held.removeprefix(BOM_UTF8).strip(_BETWEEN):
            yield self._entry()
        self._held.clear()
