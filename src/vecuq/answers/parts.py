"""What one line of a file tells of one question, and how several lines become one record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
        What its author calls the question; None where nobody does, for an id made by a server names a reply.
    question
        What was asked, where the line says it; lines without an id are joined by it.
    content, view
        For formats that write the same answers several times over: what is the same, and what differs.
    """

    answers: tuple[Answer, ...]
    role: str | None = None
    id: str | None = None
    question: str | None = None
    references: tuple[str, ...] = ()
    model: str | None = None
    content: str | None = None
    view: str | None = None

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


def parts_of_record(record: AnswerRecord) -> list[Part]:
    """Return the parts of a record of our own, to be joined with what other files say."""
    sampled = Part(record.samples, "samples", record.id, record.question, record.references, record.model)
    return [sampled] if record.greedy is None else [replace(sampled, answers=(record.greedy,), role="greedy"), sampled]
