"""A reply within its line: alone, as a line of Batch output, or beside its request; and what surrounds it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from vecuq._check import one_line
from vecuq.answers.fields import as_mapping, as_name, first_of, references_of, role_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.messages import conversation
from vecuq.errors import TableError

Fields = Mapping[str, Any]
# Ids that servers give to replies; such an id does not name a question.
_REPLY_ID = re.compile(
    r"(?:chatcmpl|cmpl-|gen-|resp_|msg_|batch_req_|req_).*|[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE
)
_GOOD_STATUS = range(200, 300)


class Envelope(NamedTuple):
    """The reply of a line, its request, and the line itself; either may be empty."""

    reply: Fields
    request: Fields
    fields: Fields

    @staticmethod
    def of(fields: Fields) -> Envelope:
        """Open a line; it is not checked."""
        response = fields.get("response", fields)
        reply = _mapping(response).get("body", response)
        request = fields.get("request") if "request" in fields else fields if "body" in fields else None
        return Envelope(_mapping(reply), _mapping(_mapping(request).get("body", request)), fields)

    @property
    def is_request(self) -> bool:
        """Whether the line is a request alone, as in a Batch input file."""
        return (
            "custom_id" in self.fields
            and "response" not in self.fields
            and isinstance(self.fields.get("body"), Mapping)
        )

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
            "role": role_of(self.fields, self.request, self.reply),
            "id": self.name,
            "question": self.question,
            "references": references_of(self.fields),
            "model": model if isinstance(model, str) else None,
        }
        return Part(**{**surroundings, **known})

    @property
    def name(self) -> str | None:
        """The author's name of the question; the server's name of its reply does not count."""
        given = as_name(first_of(self.fields, ("custom_id", "question_id")), "id")
        other = as_name(self.fields.get("id"), "id") if given is None else None
        return given if other is None or _REPLY_ID.fullmatch(other) else other

    @property
    def question(self) -> str | None:
        """The question: as such, as a prompt, or as the messages of the request; None if the line has none."""
        found = first_of(self.fields, ("question", "prompt"))
        found = first_of(self.request, ("prompt",)) if found is None else found
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        if found is None:
            found = conversation(first_of(self.request, ("messages", "input")))
        return found if isinstance(found, str) else None


def _mapping(value: Any) -> Fields:
    return value if isinstance(value, Mapping) else {}


def _error_words(status: int | None, error: Any) -> str:
    """Return what the server said of an error, with its status or code if there is one."""
    found = _mapping(error)
    inner = _mapping(found.get("error"))
    message = error if isinstance(error, str) else found.get("message") or inner.get("message")
    code = status if status is not None else first_of(found, ("code", "status", "type"))
    shown = f" ({one_line(code, most=40)})" if isinstance(code, int | str) else ""
    said = f": {one_line(message, most=200).rstrip('.')}" if isinstance(message, str) and message.strip() else ""
    return f"the server returned an error{shown}{said}."
