"""Questions from JSON lines: a text or messages, and optionally an id and references."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from vecuq._check import existing_file, one_line
from vecuq.answers.asking.messages import Message, asked_in, checked_messages
from vecuq.answers.fields import REFERENCES, as_texts
from vecuq.answers.lines import LINE_BYTES, Entry, numbered_lines
from vecuq.answers.schema import AnswerRecord, parse_record
from vecuq.errors import TableError


@dataclass(frozen=True)
class Question:
    """One question: its id, its text, the right answers if known, and the other fields of its line.

    Where ``messages`` are given, they are sent, and ``text`` is what they say.
    """

    id: str
    text: str
    references: tuple[str, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()


def read_questions(path: str | os.PathLike[str]) -> Iterator[Question]:
    """Yield the questions of a file, one JSON object per line; a bad line is an error with its number.

    ``question`` is the text, or ``messages`` a conversation in its place; ``id`` names it, by default the number of its
    line; ``references`` (or ``answer``, one text or a list) and all other fields are kept beside the answers.
    """
    file, seen = existing_file(path), dict[str, int]()
    for line in numbered_lines(file):
        question = _question(_fields(line), str(line.number), line.place)
        if question.id in seen:
            raise TableError(f"{line.place}: the id {question.id!r} was used before, in line {seen[question.id]}.")
        seen[question.id] = line.number
        yield question
    if not seen:
        raise TableError(f"{file} has no questions.")


def _fields(line: Entry) -> dict[str, Any]:
    if not isinstance(line.content, bytes):
        raise TableError(f"{line.place}: longer than {LINE_BYTES // 2**20} MiB; not a question.")
    try:
        fields = json.loads(line.content)
        json.dumps(fields, ensure_ascii=False).encode()  # half of a surrogate pair cannot be written again
    except (ValueError, RecursionError):
        raise TableError(f"{line.place}: not valid JSON.") from None
    if not isinstance(fields, dict):
        raise TableError(f'{line.place}: a JSON object such as {{"question": "Who wrote Faust?"}} was expected.')
    return fields


def _question(fields: dict[str, Any], number: str, place: str) -> Question:
    text, messages = _said(fields, place)
    name = fields.pop("id", number)
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise TableError(f"{place}: `id` must be a text or a whole number; got {one_line(repr(name), most=40)}.")
    known = next((key for key in REFERENCES if key in fields), None)
    references = as_texts(fields.pop(known), f"{place}: `{known}`") if known else ()
    question = Question(str(name), text, references, fields, messages)
    _refuse_unwritable(question, place)
    return question


def _said(fields: dict[str, Any], place: str) -> tuple[str, tuple[Message, ...]]:
    """Return the question as text, and its messages if it has any."""
    text, given = fields.pop("question", None), fields.pop("messages", None)
    if given is not None and text is not None:
        raise TableError(f"{place}: either `question` or `messages` was expected, not both.")
    if given is not None:
        messages = checked_messages(given, place)
        return asked_in(messages), messages
    if not isinstance(text, str) or not text.strip():
        raise TableError(f"{place}: `question` must be a text; got {one_line(repr(text), most=40)}.")
    return text, ()


def _refuse_unwritable(question: Question, place: str) -> None:
    """Raise now what would be an error when the answers are written beside the question, or read again."""
    try:
        line = AnswerRecord(id=question.id, question=question.text, meta=question.meta).to_line()
        # Whoever reads it may stand deeper in the stack.
        parse_record(f'{line[:-1]},"_":{"[" * 100}{line}{"]" * 100}}}', place)
    except ValueError as error:
        raise TableError(f"{place}: its other fields cannot be kept beside the answers: {one_line(error)}") from None
