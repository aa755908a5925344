"""A reply within its line: alone, as a line of Batch output, or beside its request; and what surrounds it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from vecuq._check import one_line
from vecuq.answers.fields import as_mapping, as_name, first_of, references_of, role_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.messages import conversation
from vecuq.answers.readers.rows import Spoken
from vecuq.errors import TableError

Fields = Mapping[str, Any]
TOOL_CALLS, REFUSAL = "tool_calls", "refusal"
ONLY_REASONING = "it is reasoning alone, and ended before the answer"
# Ids that servers give to replies; such an id does not name a question.
_REPLY_ID = re.compile(r"(?:chatcmpl|cmpl-|gen-|resp_|msg_|batch_req_|req_).*", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
# Under these names a line holds its request.
_REQUESTS = ("request", "params", "body")
_GOOD_STATUS = range(200, 300)
_QUESTIONS = ("question", "prompt", "inputs", "input", "messages", "contents")
# Under these names a request holds its settings.
_SETTINGS = ("options", "parameters", "sampling_params", "generationConfig", "generation_config", "config", "params")
# How servers call the end of an answer, in the words of this package.
_FINISH = {
    **dict.fromkeys(("stop", "eos", "eos_token", "stop_sequence", "end_turn", "word"), "stop"),
    **dict.fromkeys(("length", "limit", "max_tokens"), "length"),
}


# Fields of a line that holds its reply or its request inside.
_AROUND = frozenset(("response", "body", "request", "params"))


class Envelope(NamedTuple):
    """The reply of a line, its request, and the line itself; either may be empty."""

    reply: Fields
    request: Fields
    fields: Fields

    @staticmethod
    def of(fields: Fields) -> Envelope:
        """Open a line; it is not checked. A text under ``response`` is a field of the reply itself."""
        if _AROUND.isdisjoint(fields):
            return Envelope(fields, {}, fields)
        response = fields.get("response", fields)
        response = fields if isinstance(response, str) else response
        reply = _mapping(response).get("body", response)
        request = first_of(fields, ("request", "params"))
        request = fields if request is None and "body" in fields else request
        return Envelope(_mapping(reply), _mapping(_mapping(request).get("body", request)), fields)

    @property
    def is_request(self) -> bool:
        """Whether the line is a request alone, as in a Batch input file."""
        named = any(name in self.fields for name in ("custom_id", "key"))
        answered = any(name in self.fields for name in ("response", "result", "error"))
        return named and not answered and any(isinstance(self.fields.get(name), Mapping) for name in _REQUESTS)

    def refuse_error(self) -> None:
        """Raise with the server's own words if it returned an error."""
        response = _mapping(self.fields.get("response"))
        status = response.get("status_code")
        bad = isinstance(status, int) and status not in _GOOD_STATUS
        error = first_of({"outer": self.fields.get("error"), "inner": self.reply.get("error")}, ("outer", "inner"))
        if bad or error:
            raise TableError(_error_words(status if bad else None, error))
        as_mapping(self.fields.get("response", self.fields), "response")

    def part(self, **known: Any) -> Part:
        """Return a part with what surrounds the reply: id, question, references, model, and the role by temperature."""
        model = first_of({"reply": self.reply.get("model"), "request": self.request.get("model")}, ("reply", "request"))
        surroundings = {
            "role": self.role,
            "id": self.name,
            "question": self.question,
            "references": references_of(self.fields),
            "model": model if isinstance(model, str) else None,
        }
        return Part(**{**surroundings, **{name: value for name, value in known.items() if value is not None}})

    def said(self, answers: Sequence[Spoken | str], **known: Any) -> Part:
        """Return the part of some answers; one that is a reason, in words, has no text and is left out."""
        said = [one for one in answers if isinstance(one, Spoken)]
        silent = [one for one in answers if isinstance(one, str)]
        if not said:
            why = silent[0] if silent else "it is empty"
            raise TableError(f"the reply has no text: {why}. There is no answer to measure.")
        notes = [f"An answer without text was left out: {why}." for why in silent]
        notes += [note for one in said for note in one.notes]
        return self.part(answers=tuple(one.answer for one in said), notes=tuple(dict.fromkeys(notes)), **known)

    @property
    def role(self) -> str | None:
        """The role by the temperature of the line, of the request, of the settings in either, or of the reply."""
        held = (self.fields, self.request)
        return role_of(*held, *(one.get(name) for one in held for name in _SETTINGS), self.reply)

    @property
    def name(self) -> str | None:
        """The author's name of the question; the server's name of its reply does not count."""
        given = as_name(first_of(self.fields, ("custom_id", "question_id", "key")), "id")
        other = as_name(self.fields.get("id"), "id") if given is None else None
        return given if other is None or self._is_of_server(other) else other

    def _is_of_server(self, name: str) -> bool:
        """Whether a server made an id; some name their replies by random numbers, where replies have ids at all."""
        has_id = "choices" in self.reply or "output" in self.reply
        return bool(_REPLY_ID.fullmatch(name) or (has_id and _UUID.fullmatch(name)))

    @property
    def question(self) -> str | None:
        """The question: as such, as a prompt, or as messages; of the line, the request or the reply; else None."""
        for held in (self.fields, self.request, self.reply):
            for name in _QUESTIONS:
                found = held.get(name)
                only = found[0] if isinstance(found, list) and len(found) == 1 else None
                asked = only if isinstance(only, str) else None if found is None else conversation(found)
                if asked is not None:
                    return asked
        text = self.request.get("text")  # as SGLang calls it
        return text if isinstance(text, str) else None


def recognised_in(is_reply: Callable[[Fields], bool]) -> Callable[[Fields], bool]:
    """Return a recogniser of lines that are such a reply, or hold one under ``response``."""

    def recognises(fields: Fields) -> bool:
        return is_reply(Envelope.of(fields).reply)

    return recognises


def finish_of(reason: Any) -> str | None:
    """Return why an answer ended: ``stop``, ``length``, or the server's own word in small letters.

    Examples
    --------
    >>> finish_of("eos_token"), finish_of("MAX_TOKENS"), finish_of("FinishReason.STOP"), finish_of("SAFETY")
    ('stop', 'length', 'stop', 'safety')
    """
    given = reason if isinstance(reason, str) else getattr(reason, "name", None)  # SDKs have it as an enumeration
    if not isinstance(given, str):
        return None
    word = given.rpartition(".")[2].lower()
    return _FINISH.get(word, word)


def _mapping(value: Any) -> Fields:
    return value if type(value) is dict or isinstance(value, Mapping) else {}


def _error_words(status: int | None, error: Any) -> str:
    """Return what the server said of an error, with its status or code if there is one."""
    found = _mapping(error)
    inner = _mapping(found.get("error"))
    message = error if isinstance(error, str) else found.get("message") or inner.get("message")
    code = status if status is not None else first_of(found, ("code", "status", "type"))
    shown = f" ({one_line(code, most=40)})" if isinstance(code, int | str) else ""
    said = f": {one_line(message, most=200).rstrip('.')}" if isinstance(message, str) and message.strip() else ""
    return f"the server returned an error{shown}{said}."
