"""Lines of a text file, plain or gzipped, one at a time and never longer than a limit."""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

from vecuq._check import one_line
from vecuq.errors import TableError

__all__ = ["LINE_BYTES", "Line", "numbered_lines"]

# The longest line that is read into memory; a longer one is skipped piece by piece.
LINE_BYTES = 16 * 2**20
_GZIP = b"\x1f\x8b"
# How a pickle of protocol 2 or later, a zip (also of torch) and an lm-polygraph manager file begin.
_FOREIGN = {b"\x80": "a pickle", b"PK\x03\x04": "a zip archive or a torch file", b"PAR1": "a parquet table"}


class Line(NamedTuple):
    """One line that is not blank: its number, counting from 1, and its bytes; None when it was too long."""

    number: int
    content: bytes | None


def numbered_lines(path: Path, *, limit: int = LINE_BYTES) -> Iterator[Line]:
    """Yield the lines that are not blank; of a line longer than ``limit`` bytes, its number alone.

    At most ``limit`` bytes of the file are held at once. A file that is no text at all, such as a pickle, is refused.
    """
    with _opened(path) as file:
        number = 0
        try:
            while content := file.readline(limit + 1):
                number += 1
                if len(content) > limit and not content.endswith(b"\n"):
                    _skip_rest(file)
                    yield Line(number, None)
                elif content := content.removeprefix(BOM_UTF8).strip():
                    yield Line(number, content)
        except (OSError, EOFError, zlib.error) as error:
            raise TableError(f"{path}, after line {number}: cannot be read ({one_line(error)}).") from None


def _skip_rest(file: IO[bytes]) -> None:
    """Read to the end of the line in pieces, keeping none."""
    while (piece := file.readline(2**20)) and not piece.endswith(b"\n"):
        pass


def _opened(path: Path) -> IO[bytes]:
    refuse_foreign(path)
    file = path.open("rb")
    if file.read(2) == _GZIP:
        file.close()
        return cast("IO[bytes]", gzip.open(path, "rb"))
    file.seek(0)
    return file


def refuse_foreign(path: Path) -> None:
    """Raise for files that hold no text, pickles above all: reading one would run whatever it says."""
    with path.open("rb") as file:
        start = file.read(4)
    kind = next((name for mark, name in _FOREIGN.items() if start.startswith(mark)), None)
    if path.suffix.lower() in {".man", ".pkl", ".pickle", ".pt", ".pth", ".joblib"}:
        kind = kind or "a pickle"
    if kind:
        raise TableError(
            f"{path} is {kind}, which vecuq does not open: a pickle runs code when it is read. "
            f"Export the answers as JSON lines, one object per question, with Python's json module."
        )
