"""Lines of a text file, plain or gzipped, read one at a time and never longer than a limit."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple, cast

import msgspec

from vecuq._check import one_line
from vecuq.errors import TableError

# The longest line that is read into memory; a longer one is skipped piece by piece.
LINE_BYTES = 12 * 2**20
# An empty list takes 3 bytes in a file and 30 times as many in memory; no answer needs as many as this in one line.
MOST_BRACKETS = 1_000_000
_GZIP = b"\x1f\x8b"
_PICKLES = (".man", ".pkl", ".pickle", ".pt", ".pth", ".joblib")
_RUNS_CODE = "reading it would run whatever code it holds"
_EXPORT = "Export the answers as JSON lines, one object per question, with Python's json module (docs/answers.md)."
# How files that are no text begin: a pickle of protocol 2 or later, a zip, parquet, and text that is not UTF-8.
_FOREIGN = {
    b"\x80": f"is a pickle, which vecuq does not open: {_RUNS_CODE}. {_EXPORT}",
    b"PK\x03\x04": f"is a zip archive or a torch file, not lines of text. {_EXPORT}",
    b"PAR1": f"is a parquet table, not lines of text. {_EXPORT}",
    BOM_UTF16_LE: "is UTF-16 text; save it as UTF-8.",
    BOM_UTF16_BE: "is UTF-16 text; save it as UTF-8.",
}
_MANAGER = (
    f"is a manager file of lm-polygraph, a pickle, which vecuq does not open: {_RUNS_CODE}. Where you trust it, load "
    f"it there and write `greedy_texts`, `greedy_log_likelihoods`, `sample_texts` and `sample_log_probs` of its "
    f"`stats` as JSON lines; docs/answers.md shows how."
)


class TornFileError(TableError):
    """A file that ends too early, or is damaged from some place on; what came before is good."""


class Entry(NamedTuple):
    """One line, entry of a list or row of arrays.

    ``number`` counts from 1, ``place`` names file and number in words, ``content`` is None if it was too long,
    ``notes`` are sentences on what it was made of, ``facts`` fields of the whole document that every entry gets,
    ``problem`` says why it cannot be read.
    """

    number: int
    place: str
    content: bytes | Mapping[str, Any] | None
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = MappingProxyType({})
    problem: str | None = None

    def fields(self) -> Any:
        """Return the content as JSON values; what cannot be read is an error."""
        if self.problem is not None or self.content is None:
            raise TableError(self.problem or f"longer than {LINE_BYTES:,} bytes, the limit of one line or entry.")
        found = parsed(self.content) if isinstance(self.content, bytes) else self.content
        return {**found, **self.facts} if self.facts and isinstance(found, Mapping) else found


def numbered_lines(path: Path) -> Iterator[Entry]:
    """Yield the lines that are not blank; a line longer than ``LINE_BYTES`` without its content.

    At most ``LINE_BYTES`` of the file are held at once. A file that is not text, such as a pickle, is refused.
    """
    number = 0
    with opened(path) as file:
        try:
            while content := file.readline(LINE_BYTES + 1):
                number += 1
                if len(content) > LINE_BYTES and not content.endswith(b"\n"):
                    _skip_rest(file)
                    yield Entry(number, f"{path}, line {number}", None)
                elif content := content.removeprefix(BOM_UTF8).strip():
                    yield Entry(number, f"{path}, line {number}", content)
        except (OSError, EOFError, zlib.error) as error:
            raise TornFileError(f"{path}, after line {number}: cannot be read ({one_line(error)}).") from None


def _skip_rest(file: IO[bytes]) -> None:
    """Read to the end of the line in pieces, keeping none."""
    while (piece := file.readline(2**20)) and not piece.endswith(b"\n"):
        pass


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file of text, through gzip where it is compressed."""
    refuse_other_files(path)
    with path.open("rb") as file:
        if file.read(2) != _GZIP:
            file.seek(0)
            yield file
            return
    with gzip.open(path, "rb") as unpacked:
        try:
            _refuse_start(path, unpacked.peek(4))
        except (OSError, EOFError, zlib.error) as error:
            raise TornFileError(f"{path}: cannot be read ({one_line(error)}).") from None
        yield cast("IO[bytes]", unpacked)


def refuse_other_files(path: Path) -> None:
    """Raise for files that hold no text, pickles above all: reading one would run whatever it says."""
    suffix = path.suffix.lower()
    if suffix in _PICKLES:
        raise TableError(f"{path} {_MANAGER if suffix == '.man' else _FOREIGN[bytes([0x80])]}")
    if suffix == ".vecuq":
        raise TableError(f"{path} was saved by vecuq and holds no answers; `vecuq info` shows what it is.")
    with path.open("rb") as file:
        _refuse_start(path, file.read(4))


def _refuse_start(path: Path, start: bytes) -> None:
    why = next((words for mark, words in _FOREIGN.items() if start.startswith(mark)), None)
    if why:
        raise TableError(f"{path} {why}")


_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
# Any number of escaped backslashes, then a whole surrogate pair, or half of one alone.
_HALVES = re.compile(rb"(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|\\u[dD][89a-fA-F]..)")


def parsed(content: bytes) -> Any:
    r"""Return the JSON values of some bytes, in bounded memory.

    Half of a surrogate pair, as in a cut emoji, becomes a question mark.

    Examples
    --------
    >>> parsed(b'{"text": "cut \\ud83d"}')
    {'text': 'cut ?'}
    """
    if content.count(b"[") + content.count(b"{") > MOST_BRACKETS:
        raise TableError(f"it has more than {MOST_BRACKETS:,} brackets, the limit of one line or entry.")
    if _HALF.search(content):
        content = _HALVES.sub(lambda found: found[1] + (found[2] or b"?"), content)
    try:
        return msgspec.json.decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):  # in older msgspec the first is no ValueError
        return _leniently_parsed(content)


def _leniently_parsed(content: bytes) -> Any:
    """Return what Python's own parser reads, which takes NaN and infinities too; readers say where these may be."""
    try:
        return json.loads(content.decode())
    except UnicodeDecodeError:
        raise TableError("not UTF-8 text; save the file as UTF-8.") from None
    except (ValueError, RecursionError):
        raise TableError("not valid JSON.") from None
