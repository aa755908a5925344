"""Answers as OpenAI-style servers return them: chat completions, the older completions, and batches of either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq.answers.entropy import entropies_of_top
from vecuq.answers.parts import Part, as_list, as_mapping, as_text, as_texts, first_of, role_of
from vecuq.answers.schema import MOST_ANSWERS, Answer
from vecuq.answers.tokens import logprob
from vecuq.errors import TableError

__all__ = ["answer_of_choice", "is_openai", "read_openai"]

_NAMES = ("custom_id", "question_id", "id")
# Servers number their replies like this; such an id names no question.
_REPLY_IDS = ("chatcmpl", "cmpl-", "gen-")


def is_openai(fields: Mapping[str, Any]) -> bool:
    """Whether a line holds a server's reply, alone or under ``response``."""
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
    return Part(
        answers=tuple(answer_of_choice(choice, renormalise=renormalise) for choice in choices),
        role=role_of(fields, body, reply),
        id=_name(fields),
        question=_question(fields, body),
        references=as_texts(first_of(fields, ("references", "reference", "answers", "answer", "target")), "references"),
        model=_model(reply),
    )


def _reply(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    if fields.get("error"):
        raise TableError("the server returned an error in place of an answer.")
    reply = as_mapping(fields.get("response", fields), "response")
    return as_mapping(reply.get("body", reply), "response.body")


def _name(fields: Mapping[str, Any]) -> str | None:
    name = first_of(fields, _NAMES)
    if isinstance(name, int) and not isinstance(name, bool):
        return as_texts(name, "id")[0]
    if name is None or (isinstance(name, str) and name.startswith(_REPLY_IDS)):
        return None
    return as_text(name, "id")


def _model(reply: Mapping[str, Any]) -> str | None:
    model = reply.get("model")
    return model if isinstance(model, str) else None


def _question(fields: Mapping[str, Any], body: Any) -> str | None:
    """Return the question if it is written out: as such, as a prompt, or as the last message of the request."""
    told = first_of(fields, ("question", "prompt"))
    if told is None and isinstance(body, Mapping):
        told = body.get("prompt")
        messages = body.get("messages")
        if told is None and isinstance(messages, list) and messages and isinstance(messages[-1], Mapping):
            told = messages[-1].get("content")
    return told if isinstance(told, str) else None


def answer_of_choice(choice: Any, *, renormalise: bool = False) -> Answer:
    """Return one element of ``choices`` as an answer; without log-probs where the server gave none.

    The end of the sequence is not among the tokens that such servers return, so ``n_end`` is 0.

    Examples
    --------
    >>> answer_of_choice({"message": {"content": " Paris"}, "logprobs": None, "finish_reason": "stop"}).text
    'Paris'
    """
    fields = as_mapping(choice, "a choice")
    message = fields.get("message")
    text = fields.get("text") if message is None else as_mapping(message, "message").get("content")
    finish = fields.get("finish_reason")
    return Answer(
        text=as_text("" if text is None else text, "the content of a choice").strip(),
        finish=finish if isinstance(finish, str) else None,
        **_tokens(fields.get("logprobs"), renormalise),
    )


def _tokens(told: Any, renormalise: bool) -> dict[str, Any]:
    """Return tokens, log-probs and entropies of either style of reply."""
    logprobs = {} if told is None else as_mapping(told, "logprobs")
    if logprobs.get("content") is not None:
        tokens, values, tops = _of_chat(as_list(logprobs["content"], "logprobs.content"))
    elif logprobs.get("token_logprobs") is not None:
        tokens, values, tops = _of_completion(logprobs)
    else:
        return {}
    return {"tokens": tokens, "logprobs": values, **entropies_of_top(tops, len(values), renormalise)}


def _of_chat(content: list[Any]) -> tuple[Any, tuple[float, ...], list[list[float]]]:
    rows = [as_mapping(row, "a token") for row in content]
    tops = [_values_of(row.get("top_logprobs")) for row in rows]
    return tuple(row.get("token") for row in rows), tuple(logprob(row.get("logprob")) for row in rows), tops


def _values_of(top: Any) -> list[float]:
    entries = as_list([] if top is None else top, "top_logprobs")
    return [logprob(as_mapping(entry, "a top log-prob").get("logprob")) for entry in entries]


def _of_completion(logprobs: Mapping[str, Any]) -> tuple[Any, tuple[float, ...], list[list[float]]]:
    values = tuple(map(logprob, as_list(logprobs["token_logprobs"], "token_logprobs")))
    tops = as_list(logprobs.get("top_logprobs") or [], "top_logprobs")
    told = [[logprob(value) for value in as_mapping(top or {}, "top_logprobs").values()] for top in tops]
    tokens = logprobs.get("tokens")
    return None if tokens is None else tuple(as_list(tokens, "tokens")), values, told
