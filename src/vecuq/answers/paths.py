"""Paths into JSON: ``output.text``, ``runs[*].text``, ``choices[0].message.content``, ``sample_*``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from vecuq._check import one_line
from vecuq.answers.schema import MOST_ANSWERS, MOST_TOKENS
from vecuq.errors import SettingError, TableError

EVERY = "*"
_LONGEST, _MOST_STEPS = 500, 32
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\*|\d{1,9})\]")
_FIELDS_SHOWN = 12


@dataclass(frozen=True)
class JsonPath:
    """A path: its words, and its steps, each the name of a field, the number of an entry, or ``*`` for all of them.

    A name with ``*`` in it stands for all fields that fit, in the order of the numbers in them.

    Examples
    --------
    >>> JsonPath.of("runs[*].text").steps
    ('runs', '*', 'text')
    >>> JsonPath.of("sample_*").found({"sample_10": "c", "sample_2": "b", "id": 1})
    ['b', 'c']
    """

    text: str
    steps: tuple[str | int, ...]

    @staticmethod
    @lru_cache(maxsize=256)
    def of(text: str) -> JsonPath:
        """Return the path that some words mean; words that mean none are refused."""
        steps: list[str | int] = []
        place = 0
        while len(text) <= _LONGEST and place < len(text) and (step := _STEP.match(text, place)):
            name, entry = step.groups()
            steps.append(name.strip() if name else entry if entry == EVERY else int(entry))
            place = step.end()
        if not steps or place < len(text) or len(steps) > _MOST_STEPS or not all(map(str, steps)):
            raise SettingError(
                f"A path is names and entries, as in output.text, runs[*].text or choices[0].message.content; "
                f"got {one_line(text, most=60)!r}."
            )
        return JsonPath(text, tuple(steps))

    @property
    def is_many(self) -> bool:
        """Whether the path may lead to several places."""
        return any(isinstance(step, str) and EVERY in step for step in self.steps)

    def found(self, fields: Mapping[str, Any]) -> list[Any]:
        """Return what lies at the path, null included; nothing where the path leads nowhere."""
        if self.text in fields:  # a column of a table may have dots in its name
            return [fields[self.text]]
        places: list[Any] = [fields]
        for step in self.steps:
            places = [inner for one in places for inner in _inner(one, step)]
            if len(places) > MOST_TOKENS:
                raise TableError(f"{self.text} leads to more than {MOST_TOKENS:,} places.")
        return places

    def nowhere(self, fields: Mapping[str, Any]) -> str:
        """Say where the path ends in a record, what fields are there, and which one is near."""
        inside: Any = fields
        for step in self.steps:
            further = _inner(inside, step)
            if not further:
                return _no_such(step, inside)
            inside = further[0]
        return "it holds nothing there."


def _inner(value: Any, step: str | int) -> list[Any]:
    if isinstance(step, int):
        return [value[step]] if isinstance(value, list) and step < len(value) else []
    if step == EVERY and not isinstance(value, Mapping):
        return value if isinstance(value, list) else []
    if not isinstance(value, Mapping):
        return []
    if step in value:
        return [value[step]]
    return [value[name] for name in _fitting(value, step)] if EVERY in step else []


def _fitting(value: Mapping[str, Any], pattern: str) -> list[str]:
    """Return the names that fit a pattern, numbers in them in their order."""
    names = [name for name in value if isinstance(name, str) and fnmatchcase(name, pattern.replace("[", "[[]"))]
    return sorted(names[:MOST_ANSWERS], key=lambda name: [int(part) for part in re.findall(r"\d{1,9}", name)])


def _no_such(step: str | int, inside: Any) -> str:
    if not isinstance(inside, Mapping):
        what = f"a list of {len(inside):,}" if isinstance(inside, list) else "no object"
        return f"there is {what} where {step!r} was looked for."
    names = [str(name) for name in inside]
    near = get_close_matches(str(step), names[:1000], n=1)
    shown = ", ".join(one_line(name, most=30) for name in names[:_FIELDS_SHOWN])
    hint = f"; did you mean {one_line(near[0], most=60)!r}?" if near else "."
    return f"there is no {one_line(step, most=60)!r}; the fields are {shown or 'none'}{hint}"


def flat_leaves(value: Any, levels: int = 3) -> Iterator[tuple[str, Any]]:
    """Yield short paths to the values of a record, and the values, without entering lists."""
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        yield str(name), inner
        if isinstance(inner, Mapping) and levels > 1:
            yield from ((f"{name}.{path}", leaf) for path, leaf in flat_leaves(inner, levels - 1))
