"""What one line of a file tells of one question, and how several lines become one record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vecuq._check import one_line
from vecuq.answers.schema import MOST_ANSWERS, MOST_TOKENS, Answer, AnswerRecord
from vecuq.errors import TableError

__all__ = ["Part", "as_list", "as_mapping", "as_text", "as_texts", "first_of", "joined", "role_of"]


@dataclass(frozen=True)
class Part:
    """The answers of one line.

    Parameters
    ----------
    answers
        In the order of the line.
    role
        ``greedy``, ``samples``, or None where the line does not say.
    id
        None where the line has none; the number of the line then names the question.
    """

    answers: tuple[Answer, ...]
    role: str | None = None
    id: str | None = None
    question: str | None = None
    references: tuple[str, ...] = ()
    model: str | None = None

    def settled(self, role: str | None) -> Part:
        """Return the part with a role: its own, else the given one, else samples if there are several answers."""
        return replace(self, role=self.role or role or (None if len(self.answers) == 1 else "samples"))


def joined(name: str, parts: Sequence[Part]) -> AnswerRecord:
    """Return one record of all that is told of a question.

    A single answer that nobody calls greedy or sampled is the greedy one if it is the only such answer; of several
    nobody knows which, so they are samples.
    """
    unknown = [answer for part in parts if part.role is None for answer in part.answers]
    greedy = [answer for part in parts if part.role == "greedy" for answer in part.answers]
    samples = [answer for part in parts if part.role == "samples" for answer in part.answers]
    if len(unknown) == 1 and not greedy:
        greedy, unknown = unknown, []
    if len(greedy) > 1:
        raise TableError(f"{one_line(name, most=60)!r} has {len(greedy)} greedy answers; one was expected.")
    return AnswerRecord(
        id=name,
        question=next((part.question for part in parts if part.question is not None), None),
        references=next((part.references for part in parts if part.references), ()),
        model=next((part.model for part in parts if part.model is not None), None),
        greedy=greedy[0] if greedy else None,
        samples=tuple(samples + unknown),
    )


def role_of(*settings: Any) -> str | None:
    """Return what the settings of a request say: no temperature, or no sampling, is greedy."""
    for given in settings:
        if not isinstance(given, Mapping):
            continue
        if given.get("role") in ("greedy", "samples", "sample"):
            return "greedy" if given["role"] == "greedy" else "samples"
        drawn, temperature = given.get("do_sample"), given.get("temperature")
        if drawn is False:
            return "greedy"
        if isinstance(temperature, int | float) and not isinstance(temperature, bool):
            return "greedy" if temperature == 0 else "samples"
        if drawn is True:
            return "samples"
    return None


def first_of(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first of the named fields that is there and not null."""
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def as_mapping(value: Any, name: str) -> Mapping[str, Any]:
    """Return a JSON object; anything else is an error."""
    if not isinstance(value, Mapping):
        raise TableError(f"{name} must be a JSON object; got {_shown(value)}.")
    return value


def as_list(value: Any, name: str, *, most: int = MOST_TOKENS) -> list[Any]:
    """Return a list of at most so many entries; anything else is an error."""
    if not isinstance(value, list):
        raise TableError(f"{name} must be a list; got {_shown(value)}.")
    if len(value) > most:
        raise TableError(f"{name} has {len(value):,} entries; at most {most:,} are read.")
    return value


def as_text(value: Any, name: str) -> str:
    """Return a text; anything else is an error."""
    if not isinstance(value, str):
        raise TableError(f"{name} must be a text; got {_shown(value)}.")
    return value


def as_texts(value: Any, name: str) -> tuple[str, ...]:
    """Return one text or number, or a list of them, as texts; null is none."""
    listed = as_list(value if isinstance(value, list) else [] if value is None else [value], name, most=MOST_ANSWERS)
    if not all(isinstance(one, str | int | float) for one in listed):
        raise TableError(f"{name} must be a text or a list of texts; got {_shown(value)}.")
    return tuple(map(str, listed))


def _shown(value: Any) -> str:
    """Describe a value without spelling out a huge one."""
    if isinstance(value, str | int | float | bool) or value is None:
        return one_line(value if isinstance(value, str) else _digits(value), most=40)
    return f"a {type(value).__name__} of {len(value):,}" if hasattr(value, "__len__") else type(value).__name__


def _digits(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # more digits than Python spells out
        return "a huge number"
