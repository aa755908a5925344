"""What one line of a file says about one question, and how several lines become one record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import msgspec

from vecuq._check import one_line
from vecuq.answers.schema import Answer, AnswerRecord
from vecuq.errors import TableError


@dataclass(frozen=True)
class Part:
    """The answers of one line.

    Parameters
    ----------
    answers
        In the order of the line; none if the line only asks, as a request does.
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
    p_true, confidence, confidence_words
        How sure the model itself is, as in :class:`AnswerRecord`.
    meta
        Short texts and numbers of the line beside its answers, such as a label or a topic.
    notes
        What the reader decided, one sentence each, the same words for all lines that it decided so; a reader of files
        counts them.
    prompts
        The questions of a request that asks several at once, whose answers come in their order.
    is_numbered
        Whether the id is the number of the line, which only holds the parts of the line together.
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
    p_true: float | None = None
    confidence: float | None = None
    confidence_words: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    prompts: tuple[str | None, ...] = ()
    is_numbered: bool = False

    def settled(self, role: str | None) -> Part:
        """Return the part with a role: its own, else the given one, else samples if there are several answers."""
        if not self.answers:
            return self
        return replace(self, role=self.role or role or (None if len(self.answers) == 1 else "samples"))


def split(part: Part, *, n: Any = None) -> list[Part]:
    """Return one part for each prompt of a request that has several, ``n`` answers each; else the part itself.

    Their ids are that of the part with ``#1``, ``#2`` and so on. If ``n`` is not known, every prompt has equally many.
    """
    if not part.prompts or not part.answers:
        return [part]
    n_prompts, n_answers = len(part.prompts), len(part.answers)
    each = n if isinstance(n, int) and not isinstance(n, bool) and n > 0 else n_answers // n_prompts
    if each * n_prompts != n_answers:
        raise TableError(f"the reply has {n_answers:,} choices for {n_prompts:,} prompts; {each:,} each were expected.")
    return [
        replace(
            part,
            answers=part.answers[place * each : (place + 1) * each],
            id=None if part.id is None else f"{part.id}#{place + 1}",
            question=prompt,
            notes=part.notes if place == 0 else (),
            prompts=(),
        )
        for place, prompt in enumerate(part.prompts)
    ]


def records_of(name: str, parts: Sequence[Part]) -> list[AnswerRecord]:
    """Return the records of all parts of a question: one, or one for each prompt of a request that asks several."""
    asked = next((part for part in parts if part.prompts and not part.answers), None)
    if asked is None:
        return [joined(name, parts)]
    answered = [split(replace(part, id=name, prompts=asked.prompts)) for part in parts if part.answers]
    return [joined(each[0].id or name, [replace(asked, prompts=()), *each]) for each in zip(*answered, strict=True)]


def joined(name: str, parts: Sequence[Part]) -> AnswerRecord:
    """Return one record of all parts of a question.

    An answer of unknown role has that of the request, if there is one. Else it is the greedy one if there is no other;
    several are samples.
    """
    roles = {part.role for part in parts if not part.answers and part.role is not None}
    asked = roles.pop() if len(roles) == 1 else None
    unknown = [answer for part in parts if (part.role or asked) is None for answer in part.answers]
    greedy = [answer for part in parts if (part.role or asked) == "greedy" for answer in part.answers]
    samples = [answer for part in parts if (part.role or asked) == "samples" for answer in part.answers]
    if len(unknown) == 1 and not greedy:
        greedy, unknown = unknown, []
    if len(greedy) > 1:
        raise TableError(f"{one_line(name, most=60)!r} has {len(greedy)} greedy answers; one was expected.")
    return AnswerRecord(
        id=name,
        references=next((part.references for part in parts if part.references), ()),
        greedy=greedy[0] if greedy else None,
        samples=tuple(samples + unknown),
        **{name: _first(parts, name) for name in _SAID_ONCE},
        meta={name: value for part in reversed(parts) for name, value in part.meta.items()},
    )


# What the first line that says it decides.
_SAID_ONCE = ("question", "model", "quality", "p_true", "confidence", "confidence_words")


def _first(parts: Sequence[Part], name: str) -> Any:
    return next((value for part in parts if (value := getattr(part, name)) is not None), None)


def parts_of_record(record: AnswerRecord) -> list[Part]:
    """Return the parts of a record of our own, to be joined with those of other files."""
    sampled = Part(
        record.samples,
        "samples" if record.samples else None,
        record.id,
        record.question,
        record.references,
        record.model,
        quality=record.quality,
        p_true=record.p_true,
        confidence=record.confidence,
        confidence_words=record.confidence_words,
        meta=record.meta,
    )
    return [sampled] if record.greedy is None else [replace(sampled, answers=(record.greedy,), role="greedy"), sampled]


_PARTS = msgspec.json.Decoder(Part)


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
        content = json.dumps(Head(place, part.id)).encode() + b"\n" + msgspec.json.encode(part)
        if self._file.tell() != self._end:  # a seek writes out what waits in the buffer
            self._file.seek(self._end)
        self._end += self._file.write(content)
        return Span(self._end - len(content), len(content))

    def part(self, span: Span) -> Part:
        """Read a part back."""
        self._file.seek(span.start)
        return _PARTS.decode(self._file.read(span.length).partition(b"\n")[2])

    def head(self, span: Span) -> Head:
        """Read back what precedes a part."""
        self._file.seek(span.start)
        return Head(*json.loads(self._file.readline()))
