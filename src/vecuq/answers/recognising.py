"""Whether a file holds answers of a language model, by its first entry; its name does not matter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vecuq.answers.kinds import is_ours
from vecuq.answers.readers import formats
from vecuq.answers.sources import entries_of
from vecuq.errors import TableError

# Numbers that stand beside a text without being scores of a table.
_OF_ANSWERS = ("temperature", "top_p", "cumulative_logprob", "sequence_logprob", "logprob")


def recognised_kind(path: Path) -> str | None:
    """Return which format of answers a file has, by its first entry; None if it is none that we know.

    A flat object with decimal numbers, as a row of scores is, is no answer even if a text stands among them.

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


def _is_row_of_scores(fields: Mapping[str, Any]) -> bool:
    flat = not any(isinstance(value, list | Mapping) for value in fields.values())
    return flat and any(isinstance(value, float) and name not in _OF_ANSWERS for name, value in fields.items())
