"""What one line of a file says about one question, and how several lines become one record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from vecuq._check import one_line
from vecuq.answers.schema import Answer, AnswerRecord
from vecuq.errors import TableError


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
        The author's name of the question; None without one, since an id made by a server names a reply.
    question
        The question, where the line has it; lines without an id are joined by it.
    content, view
        For formats that write the same answers several times: what is the same, and what differs.
    quality
        The verdict of whoever judged the answer already, between 0 (wrong) and 1 (right); None without one.
    meta
        Short texts and numbers of the line beside its answers, such as a label or a topic.
    notes
        What the reader decided, one sentence each, the same words for all lines that it decided so; a reader of files
        counts them.
    """

    answers: tuple[Answer, ...]
    role: str | None = None
    id: str | None = None
    question: str | None = None
    references: tuple[str, ...] = ()
    model: str | None = None
    content: str | None = None
    view: str | None = None
    quality: float | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def settled(self, role: str | None) -> Part:
        """Return the part with a role: its own, else the given one, else samples if there are several answers."""
        return replace(self, role=self.role or role or (None if len(self.answers) == 1 else "samples"))


def joined(name: str, parts: Sequence[Part]) -> AnswerRecord:
    """Return one record of all parts of a question.

    An answer of unknown role is the greedy one if there is no other; several are samples.
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
        quality=next((part.quality for part in parts if part.quality is not None), None),
        meta={name: value for part in reversed(parts) for name, value in part.meta.items()},
    )


def parts_of_record(record: AnswerRecord) -> list[Part]:
    """Return the parts of a record of our own, to be joined with those of other files."""
    sampled = Part(
        record.samples,
        "samples",
        record.id,
        record.question,
        record.references,
        record.model,
        quality=record.quality,
        meta=record.meta,
    )
    return [sampled] if record.greedy is None else [replace(sampled, answers=(record.greedy,), role="greedy"), sampled]


_PARTS = TypeAdapter(Part)


class Span(NamedTuple):
    """Where a part is in the spool."""

    start: int
    length: int


class Head(NamedTuple):
    """What precedes a part in the spool: the place of its line in words, and its id."""

    place: str
    id: str | None


class Spool:
    """A temporary file of parts, until all lines of a question have been read."""

    def __init__(self) -> None:
        self._file = TemporaryFile("w+b")  # noqa: SIM115 - closed by close()
        self._end = 0

    def close(self) -> None:
        """Delete the file."""
        self._file.close()

    def add(self, part: Part, place: str) -> Span:
        """Write a part and the place of its line, and return where."""
        content = json.dumps(Head(place, part.id)).encode() + b"\n" + _PARTS.dump_json(part, exclude_defaults=True)
        if self._file.tell() != self._end:  # a seek writes out what waits in the buffer
            self._file.seek(self._end)
        self._end += self._file.write(content)
        return Span(self._end - len(content), len(content))

    def part(self, span: Span) -> Part:
        """Read a part back."""
        self._file.seek(span.start)
        return _PARTS.validate_json(self._file.read(span.length).partition(b"\n")[2])

    def head(self, span: Span) -> Head:
        """Read back what precedes a part."""
        self._file.seek(span.start)
        return Head(*json.loads(self._file.readline()))
