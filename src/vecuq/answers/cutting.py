"""Where entries begin and end in a JSON document that comes in pieces; nothing is parsed, and one entry is held."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vecuq.answers.lines import LINE_BYTES, Entry
from vecuq.answers.paths import EVERY

Steps = tuple[str | int, ...]
_BETWEEN = b" \t\r\n,[]"
# A name of a field and the blanks after it are looked for in this many bytes before a bracket.
_NAME_BYTES = 600


class _Bracket(NamedTuple):
    """A bracket that matters: where it is, how many are open after it, and whether it opens one."""

    place: int
    depth: int
    opens: bool


class Cut:
    """Cuts a stream of bytes into entries; it looks at brackets, quotes, backslashes and the names on its path.

    Parameters
    ----------
    path
        Names the file in messages.
    at
        The steps to the entries, names and ``*``. By default the entries of a list, or whole objects one after another.
    most
        An entry with more bytes comes without its content.
    """

    def __init__(self, path: Path, at: Steps | None = None, *, most: int = LINE_BYTES) -> None:
        self.number = self.depth = 0
        self._path, self._at, self._most = path, at or (), most
        self._whole = at is None
        self._begun = False
        self._on_path = 0  # how many of the open brackets lie on the path, the outermost among them
        self._in_list = self._whole
        self._before = b""
        self._quoted = self._escaped = False
        self._held = bytearray()
        self._too_long = False

    def feed(self, piece: bytes) -> Iterator[Entry]:
        """Yield the entries that end in a piece of the stream."""
        if not self._begun and self._whole:
            self._at = (EVERY,) if piece.removeprefix(BOM_UTF8).lstrip().startswith(b"[") else ()
        self._begun = True
        plain, held_to = self._without_escapes(piece), 0
        for bracket in self._brackets(plain):
            before, on_path = self._on_path, self._followed(bracket, plain)
            if on_path == before:
                continue
            outer, end = max(before, on_path) - len(self._at), bracket.place + (not bracket.opens)
            if outer in (0, 1) and self._holds(before):
                self._hold(piece[held_to:end])
            if outer == 1:
                yield from self.stray() if bracket.opens else [self._entry()]
            elif outer == 0:
                yield from self.stray()
                self._in_list = bracket.opens and plain[bracket.place] == ord("[")
            self._on_path, held_to = on_path, end
        if self._holds(self._on_path):
            self._hold(piece[held_to:])
        self._before = (self._before + plain)[-_NAME_BYTES:]

    def _holds(self, on_path: int) -> bool:
        """Whether bytes are kept: those of an entry, and those beside entries where nothing but entries belongs."""
        return self._whole or on_path > len(self._at) or (on_path == len(self._at) and self._in_list)

    def _brackets(self, plain: bytes) -> Iterator[_Bracket]:
        """Yield the brackets that are no deeper than entries; a piece is scanned as one array."""
        letters = np.frombuffer(plain, dtype=np.uint8)
        quotes = np.cumsum(letters == ord('"'), dtype=np.int32) + self._quoted
        bare = quotes % 2 == 0
        opens = bare & ((letters == ord("[")) | (letters == ord("{")))
        closes = bare & ((letters == ord("]")) | (letters == ord("}")))
        depth = np.cumsum(opens.astype(np.int8) - closes.astype(np.int8), dtype=np.int32) + self.depth
        self._quoted, self.depth = not bare[-1], int(depth[-1])
        inner = len(self._at)
        places = np.flatnonzero((opens & (depth <= inner + 1)) | (closes & (depth <= inner)))
        found = zip(places.tolist(), depth[places].tolist(), opens[places].tolist(), strict=True)
        return (_Bracket(*one) for one in found)

    def _followed(self, bracket: _Bracket, plain: bytes) -> int:
        """Return how many open brackets lie on the path after this one."""
        depth = bracket.depth
        if not bracket.opens:
            return min(self._on_path, max(depth, 0))
        if self._on_path != depth - 1 or (depth > 1 and not self._is_named(self._at[depth - 2], plain, bracket.place)):
            return self._on_path
        return depth

    def _is_named(self, step: str | int, plain: bytes, place: int) -> bool:
        """Whether a bracket is what a step leads to: that of any entry, or of the field whose name stands before it."""
        if step == EVERY:
            return True
        before = (self._before + plain[:place] if place < _NAME_BYTES else plain[place - _NAME_BYTES : place]).rstrip()
        name = before.removesuffix(b":").rstrip()
        spelt = (json.dumps(step).encode(), json.dumps(step, ensure_ascii=False).encode())
        return before.endswith(b":") and name.endswith(spelt)

    def _without_escapes(self, piece: bytes) -> bytes:
        """Return as many bytes, escaped characters blanked; the first may be escaped by the piece before."""
        plain = (b"_" + piece[1:] if self._escaped else piece).replace(rb"\\", b"__").replace(rb"\"", b"__")
        self._escaped = plain.endswith(b"\\")
        return plain

    def _hold(self, content: bytes) -> None:
        if len(self._held) + len(content) > self._most:
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
