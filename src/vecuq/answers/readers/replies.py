"""A server's reply, alone or beside the request that it answers, and the part that it becomes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vecuq.answers.fields import as_name, first_of, references_of, role_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.messages import conversation
from vecuq.answers.readers.token_rows import Spoken
from vecuq.errors import TableError

Fields = Mapping[str, Any]
# Under these names a request holds its settings.
_SETTINGS = ("options", "parameters", "sampling_params", "generationConfig", "generation_config", "config", "params")
_QUESTIONS = ("question", "prompt", "inputs", "input")
_SERVER_MADE = re.compile(r"(?:msg_|chatcmpl).*")
TOOL_CALLS = "tool_calls"
ONLY_REASONING = "it is reasoning alone, and ended before the answer"
# How servers call the end of an answer, in the words of this package.
_FINISH = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "word": "stop",
    "length": "length",
    "limit": "length",
    "max_tokens": "length",
}


@dataclass(frozen=True)
class Reply:
    """A reply, the request that it answers, and the author's fields around both.

    Parameters
    ----------
    fields
        The whole line.
    body
        The reply itself: under ``response``, or the line.
    request
        Under ``request`` or ``params``; empty where the line has none.
    """

    fields: Fields
    body: Fields
    request: Fields

    @staticmethod
    def of(fields: Fields) -> Reply:
        """Find the reply of a line, and its request."""
        body, request = fields.get("response"), first_of(fields, ("request", "params"))
        wrapped = body if isinstance(body, Mapping) else fields
        return Reply(fields, wrapped, request if isinstance(request, Mapping) else {})

    @property
    def settings(self) -> list[Any]:
        """Everything that may hold a temperature, the author's word first."""
        held = (self.fields, self.request)
        return [*held, *(one.get(name) for one in held for name in _SETTINGS)]

    def part(self, answers: Sequence[Spoken | str], *, role: str | None = None, model: Any = None) -> Part:
        """Return the part of a reply; an answer that is a reason, in words, has no text and is left out."""
        said = [one for one in answers if isinstance(one, Spoken)]
        silent = [one for one in answers if isinstance(one, str)]
        if not said:
            why = silent[0] if silent else "it is empty"
            raise TableError(f"the reply has no text: {why}. There is no answer to measure.")
        notes = [f"An answer without text was left out: {why}." for why in silent]
        notes += [note for one in said for note in one.notes]
        return Part(
            answers=tuple(one.answer for one in said),
            role=role_of(*self.settings) or role,
            id=self._name(),
            question=self._question(),
            references=references_of(self.fields),
            model=model if isinstance(model, str) else None,
            notes=tuple(dict.fromkeys(notes)),
        )

    def _name(self) -> str | None:
        """Return the author's name of the question; the server's name of its reply does not count."""
        given = as_name(first_of(self.fields, ("custom_id", "question_id", "key", "id")), "id")
        return None if given is None or _SERVER_MADE.fullmatch(given) else given

    def _question(self) -> str | None:
        found = first_of(self.fields, _QUESTIONS)
        if found is None:
            found = first_of(self.request, (*_QUESTIONS, "text"))
        if found is None:
            found = _asked(self.request)
        return found if isinstance(found, str) else None


def _asked(request: Fields) -> str | None:
    """Return the messages of a request; Gemini calls them ``contents``, and their texts ``parts``."""
    found = first_of(request, ("messages", "contents"))
    if isinstance(found, list):
        found = [
            {"content": one["parts"], **one} if isinstance(one, Mapping) and "parts" in one else one for one in found
        ]
    return conversation(found)


def recognised_in(is_reply: Callable[[Fields], bool]) -> Callable[[Fields], bool]:
    """Return a recogniser of lines that are such a reply, or hold one under ``response``."""

    def recognises(fields: Fields) -> bool:
        inner = fields.get("response")
        return is_reply(inner) if isinstance(inner, Mapping) else is_reply(fields)

    return recognises


def finish_of(reason: Any) -> str | None:
    """Return why an answer ended: ``stop``, ``length``, or the server's own word in small letters.

    Examples
    --------
    >>> finish_of("eos_token"), finish_of("MAX_TOKENS"), finish_of("FinishReason.STOP"), finish_of("SAFETY")
    ('stop', 'length', 'stop', 'safety')
    """
    if not isinstance(reason, str):
        return None
    word = reason.rpartition(".")[2].lower()
    return _FINISH.get(word, word)
