"""Answers of Gemini, as its servers write them and as its Python package dumps them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from vecuq._check import one_line
from vecuq.answers.fields import as_list, as_mapping, as_text
from vecuq.answers.parts import Part
from vecuq.answers.readers.envelope import ONLY_REASONING, TOOL_CALLS, Envelope, finish_of
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.messages import call_text
from vecuq.answers.readers.rows import Rows, Spoken, TokenRow, Top, spoken
from vecuq.answers.schema import MOST_ANSWERS, Answer, changed
from vecuq.answers.tokens import logprob
from vecuq.errors import TableError

TOTAL_OF_MEAN = (
    "Gemini sent the mean log-prob of an answer and its number of tokens, whose product is its total; none of single "
    "tokens."
)
_NOT_FIRST_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def either_case(fields: Mapping[str, Any], name: str) -> Any:
    """Return a field by its name on the wire, or as Python spells it: ``finishReason``, ``finish_reason``."""
    found = fields.get(name)
    return fields.get(_NOT_FIRST_CAPITAL.sub("_", name).lower()) if found is None else found


def is_gemini(fields: Mapping[str, Any]) -> bool:
    """Whether a reply has candidates with contents, or says why it has none."""
    if isinstance(either_case(fields, "promptFeedback"), Mapping):
        return True
    listed = fields.get("candidates")
    first = listed[0] if isinstance(listed, list) and listed else None
    return isinstance(first, Mapping) and (
        isinstance(first.get("content"), Mapping) or isinstance(either_case(first, "finishReason"), str)
    )


def _is_line(fields: Mapping[str, Any]) -> bool:
    """Whether a line is a reply, holds one, or is a request of a batch."""
    return is_gemini(Envelope.of(fields).reply) or _is_request(fields)


def _is_request(fields: Mapping[str, Any]) -> bool:
    """Whether a line is a request of a batch, without its reply."""
    envelope = Envelope.of(fields)
    return isinstance(envelope.request.get("contents"), list) and envelope.is_request and not is_gemini(fields)


def read_gemini(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return one answer per candidate; a request alone brings its question and no answer."""
    envelope = Envelope.of(fields)
    if _is_request(fields):
        return envelope.part(answers=())
    reply = envelope.reply
    candidates = as_list(reply.get("candidates") or [], "candidates", most=MOST_ANSWERS)
    if not candidates:
        feedback = either_case(reply, "promptFeedback")
        why = either_case(feedback, "blockReason") if isinstance(feedback, Mapping) else None
        raise TableError(f"the prompt was refused ({one_line(why, most=40)}); there is no answer.")
    if either_case(reply, "responseId") and all(_is_unfinished(one) for one in candidates):
        raise TableError("a piece of a streamed answer (it has no finishReason); give all pieces in one file.")
    counts = _token_counts(reply, candidates)
    answers = [
        _answer(as_mapping(one, "a candidate"), count, renormalise)
        for one, count in zip(candidates, counts, strict=True)
    ]
    model = either_case(reply, "modelVersion")
    return envelope.said(answers, model=model if isinstance(model, str) else None)


def _is_unfinished(candidate: Any) -> bool:
    return isinstance(candidate, Mapping) and either_case(candidate, "finishReason") is None


def _token_counts(body: Mapping[str, Any], candidates: list[Any]) -> list[Any]:
    """Return the number of tokens of each candidate; None where the model also thought, as the mean may count these."""
    given = either_case(body, "usageMetadata")
    usage = given if isinstance(given, Mapping) else {}
    if either_case(usage, "thoughtsTokenCount") or any(map(_thought, candidates)):
        return [None] * len(candidates)
    of_only = either_case(usage, "candidatesTokenCount") if len(candidates) == 1 else None
    counts = [either_case(one, "tokenCount") if isinstance(one, Mapping) else None for one in candidates]
    return [of_only if count is None else count for count in counts]


def _thought(candidate: Any) -> bool:
    """Whether a candidate shows thoughts."""
    content = candidate.get("content") if isinstance(candidate, Mapping) else None
    parts = content.get("parts") if isinstance(content, Mapping) else None
    return isinstance(parts, list) and any(isinstance(one, Mapping) and one.get("thought") is True for one in parts)


def _answer(candidate: Mapping[str, Any], count: Any, renormalise: bool) -> Spoken | str:
    content = as_mapping(candidate.get("content") or {}, "content")
    parts = [as_mapping(one, "a part") for one in as_list(content.get("parts") or [], "parts")]
    own = [one for one in parts if one.get("thought") is not True and one.get("text") is not None]
    text = "".join(as_text(one["text"], "the text of a part") for one in own)
    finish, calls = finish_of(either_case(candidate, "finishReason")), _calls(parts)
    if calls:
        return Spoken(Answer(text="\n".join([text.strip(), *calls]).strip(), finish=TOOL_CALLS))
    silent = None if text.strip() else _silence(parts, finish)
    if silent is not None:
        return silent
    result = either_case(candidate, "logprobsResult")
    rows = Rows.table(_rows(result) if isinstance(result, Mapping) else (), renormalise=renormalise)
    found = spoken(text, finish, rows)
    total = None if rows.lists else _total(either_case(candidate, "avgLogprobs"), count)
    if total is None:
        return found
    return Spoken(changed(found.answer, logprob=total), (*found.notes, TOTAL_OF_MEAN))


def _calls(parts: list[Mapping[str, Any]]) -> list[str]:
    called = [either_case(one, "functionCall") for one in parts]
    return [call_text(one.get("name"), one.get("args")) for one in called if isinstance(one, Mapping)]


def _silence(parts: list[Mapping[str, Any]], finish: str | None) -> str | None:
    """Return why there is no text; None for an answer that is just empty."""
    if any(one.get("thought") is True for one in parts):
        return ONLY_REASONING
    return None if finish in (None, "stop") else f"generation ended with {one_line(finish, most=40)}"


def _rows(result: Mapping[str, Any]) -> Iterator[TokenRow]:
    chosen = as_list(either_case(result, "chosenCandidates") or [], "chosenCandidates")
    tops = as_list(either_case(result, "topCandidates") or [], "topCandidates")
    for place, one in enumerate(chosen):
        yield TokenRow(*_entry(one), top=_top(tops[place]) if place < len(tops) else ())


def _entry(given: Any) -> tuple[str | None, float]:
    fields = as_mapping(given, "a candidate token")
    token = fields.get("token")
    return token if isinstance(token, str) else None, logprob(either_case(fields, "logProbability"))


def _top(step: Any) -> Top:
    listed = as_mapping(step, "a step of topCandidates").get("candidates")
    return [_entry(one) for one in as_list(listed or [], "candidates")]


def _total(mean: Any, count: Any) -> float | None:
    """Return the log-prob of a whole answer from its mean and its number of tokens; None without both."""
    if mean is None or type(count) is not int or not 0 < count < 10**9:
        return None
    return logprob(logprob(mean) * count)


GEMINI = Format(
    "gemini",
    "replies of Gemini, and lines of its batches",
    "`candidates` with `content` or `finishReason`, alone or under `response`; or `key` beside a `request`",
    _is_line,
    read_gemini,
)
