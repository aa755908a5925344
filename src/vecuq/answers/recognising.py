"""Whether a file holds answers of a language model, by its first entry; its name does not matter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from vecuq.answers.guessing import guessed_paths
from vecuq.answers.line_formats import is_ours
from vecuq.answers.readers import formats
from vecuq.answers.sources import entries_of
from vecuq.answers.tables import is_table_of_texts
from vecuq.errors import TableError

# Numbers that stand beside a text without being scores of a table.
_OF_ANSWERS = ("temperature", "top_p", "cumulative_logprob", "sequence_logprob", "logprob", "quality")
# At least one digit beside the point, or an exponent: 1 and 0 may be labels.
_DECIMAL = re.compile(r"[-+]?(\d*\.\d+|\d+\.\d*|\d+(\.\d*)?[eE][-+]?\d+)([eE][-+]?\d+)?")
_ENTRIES_LOOKED_AT = 20


def recognised_kind(path: Path) -> str | None:
    """Return which format of answers a file has, by its first entry; None if it is none that we know.

    A flat object or a row of a table with decimal numbers, as a row of scores is, is no answer even if a text stands
    among them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.jsonl"
    ...     _ = file.write_text('{"choices": [{"message": {"content": "Paris"}}]}')
    ...     first = recognised_kind(file)
    ...     _ = file.write_text('{"text": "Paris", "entropy": 0.5}')
    ...     first, recognised_kind(file)
    ('openai', None)
    """
    try:
        if is_table_of_texts(path):
            cells = _first_cells(path)
            return None if _is_row_of_scores(cells) or not _answer_in(cells) else "named fields"
        first = next(iter(entries_of(path)), None)
        fields = None if first is None else first.fields()
    except (TableError, OSError):
        return None
    if first is not None and is_ours(first.content):
        return "vecuq"
    if isinstance(fields, list) and fields and isinstance(fields[0], Mapping):  # what a pipeline returns for one prompt
        fields = fields[0]
    if not isinstance(fields, Mapping) or _is_row_of_scores(fields):
        return None
    return next((name for name, one in formats().items() if one.recognises(fields)), None)


def answer_field(path: Path) -> str | None:
    """Return the field of the first entry whose text, of several words, may be an answer; None if there is none."""
    try:
        fields = _first_cells(path)
    except (TableError, OSError):
        return None
    name = _answer_in(fields)
    said = None if name is None else fields.get(name)
    return name if isinstance(said, str) and " " in said.strip() else None


def _first_cells(path: Path) -> dict[str, Any]:
    """Return the first value of every field of the first entries."""
    cells: dict[str, Any] = {}
    for entry in islice(entries_of(path), _ENTRIES_LOOKED_AT):
        fields = entry.fields()
        if isinstance(fields, Mapping):
            cells |= {name: cell for name, cell in fields.items() if cells.get(name) is None}
    return cells


def _answer_in(fields: Mapping[str, Any]) -> str | None:
    found = guessed_paths(fields)
    return found.get("answer", found.get("samples"))


def _is_row_of_scores(fields: Mapping[str, Any]) -> bool:
    flat = not any(isinstance(value, list | Mapping) for value in fields.values())
    return flat and any(_is_decimal(value) and name not in _OF_ANSWERS for name, value in fields.items())


def _is_decimal(value: Any) -> bool:
    """Whether a value is a decimal number, also as the text that it is in a csv."""
    return isinstance(value, float) or (isinstance(value, str) and _DECIMAL.fullmatch(value.strip()) is not None)
