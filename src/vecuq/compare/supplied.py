"""What runs or calls, by name: a saved file names it, and whoever loads the file supplies it again."""

from __future__ import annotations

from typing import Any, NoReturn

from vecuq._check import one_line
from vecuq.errors import SettingError

_NEEDS = "needs"
_MOST_LETTERS = 300


class Absent:
    """Stands for a function, endpoint or model file that is known by its name only. Using it is an error.

    Examples
    --------
    >>> Absent("judge", "qwen at http://localhost:8080")(["a pair"])
    Traceback (most recent call last):
    vecuq.errors.SettingError: These settings need judge= again: 'qwen at http://localhost:8080'. A file only names it.
    """

    def __init__(self, field: str, name: str) -> None:
        self.field, self.name = field, name

    def __call__(self, *_given: Any) -> NoReturn:
        """Refuse: there is nothing to call."""
        raise SettingError(f"These settings need {self.field}= again: {self.name!r}. A file only names it.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Absent) and (self.field, self.name) == (other.field, other.name)

    def __hash__(self) -> int:
        return hash((self.field, self.name))


def name_of(what: Any) -> str:
    """Return the name by which a file mentions something that runs: its ``name``, or that of the function or class.

    Examples
    --------
    >>> name_of(len)
    'len'
    """
    found = getattr(what, "name", None) or getattr(what, "__name__", None) or type(what).__name__
    return one_line(found, most=_MOST_LETTERS)


def as_needed(what: Any) -> dict[str, str]:
    """Return what a file says about something that runs: its name and nothing else."""
    return {_NEEDS: name_of(what)}


def needed_name(saved: Any) -> str | None:
    """Return the name of something that must be supplied again, or None for a plain value."""
    if not isinstance(saved, dict):
        return None
    if set(saved) != {_NEEDS} or not isinstance(saved[_NEEDS], str) or len(saved[_NEEDS]) > _MOST_LETTERS:
        raise SettingError(f"A setting that must be supplied again was expected; got {one_line(saved, most=60)}.")
    return str(saved[_NEEDS])
