"""One answer in memory, whatever it came as."""

from __future__ import annotations

from typing import Any

from vecuq.answers import AnswerRecord


def as_record(reply: Any, *, samples: Any = (), question: str | None = None) -> AnswerRecord:
    """Return a record of a reply, a mapping, a text, or a record, with its samples and question."""
    if isinstance(reply, str):
        reply = {"text": reply}
    if isinstance(reply, AnswerRecord):
        return reply
    more = {"samples": list(samples), "question": question}
    return AnswerRecord.of({**{name: value for name, value in more.items() if value}, **reply})
