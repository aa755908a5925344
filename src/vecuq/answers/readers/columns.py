"""A result that holds one list per column, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vecuq.answers.fields import as_list, as_name, first_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.rows import Spoken
from vecuq.errors import TableError

# One line holds a whole result, and all of its answers are held at once.
MOST_ROWS = 30_000


def is_column(value: Any) -> bool:
    """Whether a value is a column: a list, or what pandas writes for one, ``{"0": ..., "1": ...}``."""
    return isinstance(value, list) or (isinstance(value, Mapping) and "0" in value)


def rows_in(columns: Mapping[str, Any], leading: str, *, needed: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield the rows of a result whose column ``leading`` has one entry per row.

    What is no such column is left out; one that is ``needed`` must have as many entries, if it is there.

    Examples
    --------
    >>> list(rows_in({"prompts": ["a", "b"], "scores": {"0": 1.0, "1": 0.5}, "model": "m"}, "prompts"))
    [{'prompts': 'a', 'scores': 1.0}, {'prompts': 'b', 'scores': 0.5}]
    """
    lists = {name: _listed(value) for name, value in columns.items() if is_column(value)}
    size = len(as_list(lists.get(leading), leading, most=MOST_ROWS))
    if not size:
        raise TableError(f"`{leading}` is empty.")
    wrong = next((name for name in needed if name in lists and len(lists[name]) != size), None)
    if wrong is not None:
        raise TableError(
            f"`{wrong}` has {len(lists[wrong]):,} entries and `{leading}` {size:,}; one each was expected."
        )
    full = {name: values for name, values in lists.items() if len(values) == size}
    for place in range(size):
        yield {name: values[place] for name, values in full.items()}


def _listed(column: Any) -> list[Any]:
    return column if isinstance(column, list) else list(column.values())


def name_of_row(fields: Mapping[str, Any], place: int, *, is_only: bool, is_asked: bool) -> str | None:
    """Return the name of a row: that of the result, numbered if it has several rows; else its place, if no question is.

    Examples
    --------
    >>> name_of_row({"id": "run"}, 1, is_only=False, is_asked=True), name_of_row({}, 1, is_only=False, is_asked=False)
    ('run#2', '2')
    """
    name = as_name(first_of(fields, ("custom_id", "question_id", "id")), "id")
    if name is not None:
        return name if is_only else f"{name}#{place + 1}"
    return None if is_asked else str(place + 1)


def parts_of_row(shared: Part, answer: Spoken | None, samples: list[Spoken]) -> list[Part]:
    """Return the answer and the samples of a row as parts of one question; what is noted of both is on the first."""
    given = [(role, said) for role, said in (("greedy", [answer] if answer else []), ("samples", samples)) if said]
    return [
        replace(
            shared,
            answers=tuple(one.answer for one in said),
            role=role,
            notes=(*(() if place else shared.notes), *dict.fromkeys(note for one in said for note in one.notes)),
        )
        for place, (role, said) in enumerate(given)
    ]


def bounded(parts: Iterator[list[Part]]) -> list[Part]:
    """Return the parts of all rows; a result with too many answers is an error before they are all made."""
    found: list[Part] = []
    n_answers = 0
    for row in parts:
        n_answers += sum(len(part.answers) for part in row)
        if n_answers > MOST_ROWS:
            raise TableError(f"the result has more than {MOST_ROWS:,} answers, the limit of one line; split it.")
        found += row
    return found
