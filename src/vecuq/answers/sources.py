"""Where answers come from: lines of text, entries of one JSON document, rows of arrays; all of one shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from vecuq.answers.arrays import array_entries, is_arrays
from vecuq.answers.documents import document_entries, is_document
from vecuq.answers.lines import LINE_BYTES, numbered_lines
from vecuq.errors import TableError

# An empty list takes 3 bytes in a file and 30 times as many in memory; no answer needs as many as this in one line.
MOST_BRACKETS = 1_000_000
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
# Any number of escaped backslashes, then a whole pair of halves, or a half alone.
_HALVES = re.compile(rb"(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|\\u[dD][89a-fA-F]..)")


class Entry(NamedTuple):
    """One line, entry or row: its number, its place in words, and what it holds; None when it was too long."""

    number: int
    place: str
    content: bytes | Mapping[str, Any] | None

    def fields(self) -> Any:
        """Return what it holds, as JSON values; what cannot be read is an error."""
        if self.content is None:
            raise TableError(f"longer than {LINE_BYTES:,} bytes, the most that is read at once.")
        return parsed(self.content) if isinstance(self.content, bytes) else self.content


def entries_of(path: Path) -> Iterator[Entry]:
    """Yield the entries of a file of any kind; a file that is damaged from some place on raises there."""
    if is_arrays(path):
        for number, row in enumerate(array_entries(path), start=1):
            yield Entry(number, f"{path}, row {number}", row)
        return
    whole = is_document(path)
    found = document_entries(path, limit=LINE_BYTES) if whole else numbered_lines(path, limit=LINE_BYTES)
    for number, content in found:
        yield Entry(number, f"{path}, {'entry' if whole else 'line'} {number}", content)


def parsed(content: bytes) -> Any:
    r"""Return the JSON values of some bytes, in bounded memory.

    Half a character, as a cut emoji leaves it, becomes a question mark.

    Examples
    --------
    >>> parsed(b'{"text": "cut \\ud83d"}')
    {'text': 'cut ?'}
    """
    if content.count(b"[") + content.count(b"{") > MOST_BRACKETS:
        raise TableError(f"it has more than {MOST_BRACKETS:,} brackets, the most that is read at once.")
    if _HALF.search(content):
        content = _HALVES.sub(lambda found: found[1] + (found[2] or b"?"), content)
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError):
        raise TableError("not valid JSON.") from None
