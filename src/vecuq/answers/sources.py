"""Which entries a file has: lines, a list, objects at a path of a document, rows of a table, arrays or an archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, cast

from vecuq._check import one_line
from vecuq.answers.arrays import array_entries
from vecuq.answers.cutting import Steps
from vecuq.answers.documents import document_entries, is_document, is_object
from vecuq.answers.eval_files import eval_entries, is_eval_file
from vecuq.answers.guessing import guessed_paths
from vecuq.answers.lines import Entry, TornFileError, numbered_lines
from vecuq.answers.mapping import FieldMap
from vecuq.answers.ollama_chunks import whole_replies
from vecuq.answers.paths import JsonPath
from vecuq.answers.readers import Format, formats
from vecuq.answers.readers.inspect import INSPECT
from vecuq.answers.several import known_apart
from vecuq.answers.slimming import ENTRY_BYTES, slim
from vecuq.answers.streams import assembled
from vecuq.answers.tables import is_table_of_texts, table_entries
from vecuq.errors import TableError

_ROWS_LOOKED_AT = 100


def entries_of(path: Path, *, kind: str = "auto", records: JsonPath | None = None) -> Iterator[Entry]:
    """Yield the entries of a file of any kind; where a file is damaged, raise.

    ``records`` is the path to the entries in a document. Without it, a document that a format wraps its entries in is
    recognised by the first of them.
    """
    if path.suffix.lower() == ".npz":
        rows = enumerate(array_entries(path), start=1)
        return (Entry(number, f"{path}, row {number}", row) for number, row in rows)
    if is_eval_file(path):
        return eval_entries(path, INSPECT.wrapping.keeps if INSPECT.wrapping else ())
    if is_table_of_texts(path):
        return table_entries(path)
    if records is not None:
        return document_entries(path, records.steps)
    wrapped = _wrapped(path, kind) if is_object(path) else None
    if wrapped is not None:
        return wrapped
    entries = known_apart(document_entries(path)) if is_document(path) else numbered_lines(path)
    return whole_replies(assembled(entries))


def map_of_table(path: Path) -> FieldMap | None:
    """Return which columns of a table are what, by their names; None for other files, and an error without answers."""
    if not is_table_of_texts(path):
        return None
    cells: dict[str, Any] = {}
    for entry in islice(table_entries(path), _ROWS_LOOKED_AT):
        row = cast("Mapping[str, Any]", entry.content)
        cells |= {name: cell for name, cell in row.items() if cells.get(name) is None}
    found = guessed_paths(cells)
    if {"answer", "samples"} & set(found):
        return FieldMap.of(found)
    shown = ", ".join(one_line(name, most=30) for name in list(cells)[:12])
    if all(_is_number(cell) for cell in cells.values()):
        raise TableError(f"{path} has numbers and no texts ({shown}): these are scores already, for `vecuq fit`.")
    raise TableError(
        f"{path} has no column that is known to hold answers; name it, as in map='question=q,answer=a'. "
        f"Its columns: {shown or 'none'}."
    )


def _is_number(cell: Any) -> bool:
    try:
        return cell is None or float(cell) is not None
    except (TypeError, ValueError):
        return False


def _wrapped(path: Path, kind: str) -> Iterator[Entry] | None:
    """Return the entries of a document that a format recognises as its own."""
    for one in formats().values():
        if one.wrapping is None or kind not in ("auto", one.name):
            continue
        for at in one.wrapping.paths:
            steps = JsonPath.of(at).steps
            first = _first(_slimmed(path, steps, one, {}))
            if first is not None and one.recognises(_fields(first)):
                return _slimmed(path, steps, one, _facts(path, one.wrapping.facts))
    return None


def _slimmed(path: Path, steps: Steps, one: Format, facts: Mapping[str, Any]) -> Iterator[Entry]:
    keeps = one.wrapping.keeps if one.wrapping else ()
    entries = document_entries(path, steps, most=ENTRY_BYTES) if keeps else document_entries(path, steps)
    for entry in entries:
        content = slim(entry.content, keeps) if isinstance(entry.content, bytes) else None
        yield entry._replace(content=content, facts=facts)


def _facts(path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of a document that its entries need."""
    found = {name: _first(document_entries(path, (name,))) for name in names}
    return {name: _fields(entry) for name, entry in found.items() if entry is not None}


def _fields(entry: Entry) -> Mapping[str, Any]:
    """Return the fields of an entry; none where it cannot be read."""
    try:
        fields = entry.fields()
    except TableError:
        return {}
    return fields if isinstance(fields, Mapping) else {}


def first_entry(path: Path, *, kind: str = "auto", records: JsonPath | None = None) -> Entry | None:
    """Return the first entry of a file; None where there is none or the file is damaged before it."""
    return _first(entries_of(path, kind=kind, records=records))


def _first(entries: Iterator[Entry]) -> Entry | None:
    try:
        return next(entries, None)
    except TornFileError:
        return None
