"""Which fields of a request a server takes: learnt from what it refuses by name.

Servers that speak the same protocol differ in its fields. A request goes out as most take it. Where the server refuses
a field that the answers can do without, or under another name, it is sent again like that, and so are all that follow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from vecuq.answers.asking.refusals import Refusal

_REFUSED = re.compile(
    r"unsupported|not support|n't support|does not support|unknown|unrecogni[sz]ed|not permitted|not allowed|invalid"
    r"|must be|at most|less than|greater than|maximum|exceed|reached|unexpected"
    r"|only .{0,40}(?:support|allow)|extra (?:inputs|fields)",
    re.IGNORECASE,
)
# The largest number that a server names as its limit.
_LIMIT = re.compile(
    r"(?:at most|up to|less than or equal to|<=|max(?:imum)?(?: allowed| value)?(?: is| of)?:?) ?(\d{1,3})\b"
)
_HINTS = {
    "temperature": "Without temperature 0 there is no greedy answer: ask for samples alone, with greedy=False and "
    "temperature=1.",
    "logprobs": "Ask without log-probs, with top_logprobs=0.",
    "top_logprobs": "Ask for fewer, such as top_logprobs=5, or for none, with top_logprobs=0.",
    "stop": "Leave out `stop`, or use fewer texts.",
    **dict.fromkeys(("max_tokens", "max_completion_tokens"), "Choose another `max_tokens`."),
}


class _Change(NamedTuple):
    """A field that may go, or get another name: when, how, and what the user should know."""

    field: str
    applies: Callable[[Mapping[str, Any], Refusal], bool]
    change: Callable[[dict[str, Any]], dict[str, Any]]
    note: str


def _names(refusal: Refusal, field: str) -> bool:
    """Whether a refusal names a field as what is wrong."""
    if refusal.param:
        return refusal.param == field
    return bool(re.search(rf"\b{field}\b", refusal.message)) and bool(_REFUSED.search(refusal.message))


def _wants_other_limit(body: Mapping[str, Any], refusal: Refusal) -> bool:
    return "max_tokens" in body and "max_completion_tokens" in refusal.message


def _wants_stream(body: Mapping[str, Any], refusal: Refusal) -> bool:
    return not body.get("stream") and bool(re.search(r"\b(?:non-)?stream(?:ing)?\b", refusal.message, re.IGNORECASE))


def _is_default_temperature(body: Mapping[str, Any], refusal: Refusal) -> bool:
    return body.get("temperature") == 1 and _names(refusal, "temperature")


def _without(field: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda body: {name: value for name, value in body.items() if name != field}


def _left_out(field: str, said: str) -> _Change:
    return _Change(field, lambda body, refusal: field in body and _names(refusal, field), _without(field), said)


def _renamed(body: dict[str, Any]) -> dict[str, Any]:
    return {"max_completion_tokens" if name == "max_tokens" else name: value for name, value in body.items()}


def _streamed(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "stream": True, "stream_options": {"include_usage": True}}


_CHANGES = (
    _Change("stream", _wants_stream, _streamed, "answers only in streams; they are requested as such."),
    _left_out("stream_options", "does not count tokens in streams."),
    _Change("max_tokens", _wants_other_limit, _renamed, "takes `max_tokens` as max_completion_tokens; it is sent so."),
    _left_out("seed", "takes no seed: another run will draw other samples."),
    _Change(
        "temperature",
        _is_default_temperature,
        _without("temperature"),
        "takes no temperature; samples are drawn at its own, which is most often 1.",
    ),
)


class Dialect:
    """What is known so far of the fields that a server takes.

    Examples
    --------
    >>> dialect, body = Dialect(), {"max_tokens": 9}
    >>> dialect.learn(body, Refusal(400, "Use 'max_completion_tokens' instead."))
    'takes `max_tokens` as max_completion_tokens; it is sent so.'
    >>> dialect.spelt(body)
    {'max_completion_tokens': 9}
    """

    def __init__(self, *, stream: bool = False) -> None:
        self._learnt = (_CHANGES[0],) if stream else ()

    def spelt(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request as this server takes it."""
        spelt = dict(body)
        for known in self._learnt:
            if known.field != "temperature" or spelt.get("temperature") == 1:
                spelt = known.change(spelt)
        return spelt

    def learn(self, sent: Mapping[str, Any], refusal: Refusal) -> str | None:
        """Return what follows from the refusal of a body as it was sent; None if it would be sent the same again.

        Several requests may be refused for the same reason before the first is learnt from.
        """
        for change in _CHANGES:
            if change.applies(sent, refusal):
                self._learnt = (*self._learnt, *(() if change in self._learnt else (change,)))
                return change.note
        return None


def refused_option(body: Mapping[str, Any], refusal: Refusal) -> str | None:
    """Return the field of a request that a refusal names, if another setting helps.

    Examples
    --------
    >>> refused_option({"stop": ["x"]}, Refusal(400, "Unsupported parameter: 'stop'", param="stop"))
    'stop'
    """
    named = (field for field in _HINTS if field in body and _names(refusal, field))
    return max(named, key=len, default=None)


def hint_for(field: str, refusal: Refusal) -> str:
    """Return what to do about a refused field, with Python's names of the settings.

    Examples
    --------
    >>> hint_for("top_logprobs", Refusal(400, "top_logprobs must be less than or equal to 5"))
    'Ask for fewer, with top_logprobs=5.'
    """
    limit = _LIMIT.search(refusal.message)
    if field in ("logprobs", "top_logprobs") and limit:
        return f"Ask for fewer, with top_logprobs={limit[1]}."
    return _HINTS[field]
