"""Answers as OpenAI-style servers return them: chat completions, the older completions, and batches of either."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_name, as_text, first_of, references_of, role_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.format import Format
from vecuq.answers.schema import MOST_ANSWERS, Answer
from vecuq.answers.tokens import end_of, known_of_top, logprob
from vecuq.errors import TableError

# Ids that servers give to replies; such an id does not name a question.
_REPLY_ID = re.compile(
    r"(?:chatcmpl|cmpl-|gen-|resp_|msg_|batch_req_|req_).*|[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE
)


def is_openai(fields: Mapping[str, Any]) -> bool:
    """Whether a line has a server's reply, alone or under ``response``."""
    return "choices" in fields or "custom_id" in fields or isinstance(fields.get("response"), Mapping)


def read_openai(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answers of one line: a reply, or an object with the reply under ``response`` and perhaps ``request``.

    The request's temperature says whether the answers are greedy (0) or samples.
    """
    reply = _reply(fields)
    request = as_mapping(fields.get("request") or {}, "request")
    body = request.get("body", request)
    choices = as_list(reply.get("choices"), "choices", most=MOST_ANSWERS)
    if not choices:
        raise TableError("the reply has no choices.")
    model = reply.get("model")
    return Part(
        answers=tuple(answer_of_choice(choice, renormalise=renormalise) for choice in choices),
        role=role_of(fields, body, reply),
        id=_name(fields),
        question=_question(fields, body),
        references=references_of(fields),
        model=model if isinstance(model, str) else None,
    )


def _reply(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    if fields.get("error"):
        raise TableError("the server returned an error instead of an answer.")
    reply = as_mapping(fields.get("response", fields), "response")
    return as_mapping(reply.get("body", reply), "response.body")


def _name(fields: Mapping[str, Any]) -> str | None:
    """Return the author's name of the question; the server's name of its reply does not count."""
    given = as_name(first_of(fields, ("custom_id", "question_id")), "id")
    other = as_name(fields.get("id"), "id") if given is None else None
    return given if other is None or _REPLY_ID.fullmatch(other) else other


def _question(fields: Mapping[str, Any], body: Any) -> str | None:
    """Return the question: as such, as a prompt, or as the messages of the request; None if the line has none."""
    found = first_of(fields, ("question", "prompt"))
    if found is None and isinstance(body, Mapping):
        found = body.get("prompt")
        found = _conversation(body.get("messages")) if found is None else found
    return found if isinstance(found, str) else None


def _conversation(messages: Any) -> str | None:
    """Return the messages before the answer, without system messages; None where they are not all text."""
    listed = [one for one in messages if isinstance(one, Mapping)] if isinstance(messages, list) else []
    said = [one.get("content") for one in listed if one.get("role") not in ("system", "developer")]
    return "\n".join(map(str, said)) if said and all(isinstance(one, str) for one in said) else None


def answer_of_choice(choice: Any, *, renormalise: bool = False) -> Answer:
    """Return one element of ``choices`` as an answer; without log-probs where the server gave none.

    Some servers return the token that ended the answer, others do not; ``n_end`` counts it where it is there.

    Examples
    --------
    >>> answer_of_choice({"message": {"content": " Paris"}, "logprobs": None, "finish_reason": "stop"}).text
    'Paris'
    """
    fields = as_mapping(choice, "a choice")
    message = fields.get("message")
    content = fields.get("text") if message is None else as_mapping(message, "message").get("content")
    text = as_text("" if content is None else content, "the content of a choice")
    finish = fields.get("finish_reason")
    finish = finish if isinstance(finish, str) else None
    tokens = _tokens(fields.get("logprobs"), renormalise)
    return Answer(text=text.strip(), finish=finish, n_end=end_of(text, tokens.get("tokens"), finish), **tokens)


def _tokens(given: Any, renormalise: bool) -> dict[str, Any]:
    """Return tokens, log-probs and entropies of either style of reply."""
    logprobs = {} if given is None else as_mapping(given, "logprobs")
    if logprobs.get("content") is not None:
        tokens, values, tops = _of_chat(as_list(logprobs["content"], "logprobs.content"))
    elif logprobs.get("token_logprobs") is not None:
        tokens, values, tops = _of_completion(logprobs)
    else:
        return {}
    return {"tokens": tokens, "logprobs": values, **known_of_top(tops, len(values), renormalise)}


def _of_chat(content: list[Any]) -> tuple[Any, tuple[float, ...], list[list[float]]]:
    rows = [as_mapping(row, "a token") for row in content]
    tops = [_values_of(row.get("top_logprobs")) for row in rows]
    tokens = tuple(as_text(row.get("token"), "a token") for row in rows)
    return tokens, tuple(logprob(row.get("logprob")) for row in rows), tops


def _values_of(top: Any) -> list[float]:
    entries = as_list([] if top is None else top, "top_logprobs")
    return [logprob(as_mapping(entry, "a top log-prob").get("logprob")) for entry in entries]


def _of_completion(logprobs: Mapping[str, Any]) -> tuple[Any, tuple[float, ...], list[list[float]]]:
    values = tuple(map(logprob, as_list(logprobs["token_logprobs"], "token_logprobs")))
    tops = as_list(logprobs.get("top_logprobs") or [], "top_logprobs")
    found = [[logprob(value) for value in as_mapping(top or {}, "top_logprobs").values()] for top in tops]
    listed = None if logprobs.get("tokens") is None else as_list(logprobs["tokens"], "tokens")
    return None if listed is None else tuple(as_text(token, "a token") for token in listed), values, found


OPENAI = Format(
    "openai",
    "replies of OpenAI-style servers: chat completions, completions, Batch output",
    "`choices`, `custom_id`, or a reply under `response`",
    is_openai,
    read_openai,
)
