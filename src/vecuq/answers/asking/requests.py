"""Requests for answers, in the words of the protocol, and what is in the replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vecuq.answers.asking.address import Key
from vecuq.answers.asking.plan import Plan
from vecuq.answers.asking.questions import Question
from vecuq.answers.schema import Answer
from vecuq.errors import SettingError, TableError

# What an extra field may not be, and the setting that it belongs to; None for those that are always ours.
_OURS = {
    **dict.fromkeys(("messages", "prompt", "n")),
    "model": "model",
    **dict.fromkeys(("stream", "stream_options"), "stream"),
    **dict.fromkeys(("max_tokens", "max_completion_tokens"), "max_tokens"),
    **dict.fromkeys(("logprobs", "top_logprobs"), "top_logprobs"),
    "temperature": "temperature",
    "stop": "stop",
    "seed": "random_state",
}
_MOST_EXTRA = 2**14


def checked_extra(extra: Mapping[str, Any] | None, key: Key) -> dict[str, Any]:
    """Return further fields for every request; those that have a setting of their own are refused, and the key is too.

    Examples
    --------
    >>> checked_extra({"reasoning_effort": "low"}, Key(None))
    {'reasoning_effort': 'low'}
    """
    if extra is None:
        return {}
    if not isinstance(extra, Mapping):
        raise SettingError('extra_body must be a JSON object, such as {"reasoning_effort": "low"}.')
    for name in extra:
        if name in _OURS:
            setting = _OURS[name]
            raise SettingError(f"extra_body must not have {name}" + (f"; use `{setting}`." if setting else "."))
    try:
        written = json.dumps(dict(extra), allow_nan=False, ensure_ascii=False)
        too_long = len(written.encode()) > _MOST_EXTRA
    except (TypeError, ValueError, RecursionError):
        raise SettingError("extra_body must be JSON: texts, finite numbers, lists and objects.") from None
    if too_long:
        raise SettingError(f"extra_body must be at most {_MOST_EXTRA // 1024} KiB of JSON.")
    if key.is_in(written):
        raise SettingError("extra_body must not have the key, since it is written beside the answers.")
    return dict(json.loads(written))


def request_for(question: Question, plan: Plan, top: int) -> tuple[str, dict[str, Any]]:
    """Return path and body of a request for one answer; ``top`` is how many most likely tokens to request."""
    stop = {"stop": list(plan.stop)} if plan.stop else {}
    limits = {"max_tokens": plan.max_tokens, **stop}
    if plan.raw:
        prompt = plan.fill(question)
        logprobs = {"logprobs": top} if top else {}
        return "completions", {
            "prompt": f"{plan.system}\n{prompt}" if plan.system else prompt,
            **logprobs,
            **limits,
        }
    logprobs = {"logprobs": True, "top_logprobs": top} if top else {}
    return "chat/completions", {"messages": plan.messages(question), **logprobs, **limits}


def refuse_unwritable(answer: Answer, key: Key) -> Answer:
    """Return an answer that may be written to a file."""
    texts = (answer.text or "", answer.finish or "", "".join(answer.tokens or ()))
    for text in texts:
        text.encode()  # half of a surrogate pair is an error
    if any(map(key.is_in, texts)):
        raise TableError("an answer repeats the key.")
    return answer


def first_tops(choice: Any) -> dict[str, float]:
    """Return the log-probs of the most likely first tokens of a choice, of either style of reply; none if unknown.

    Examples
    --------
    >>> first_tops({"logprobs": {"top_logprobs": [{"A": -0.1, "B": -2.4}]}})
    {'A': -0.1, 'B': -2.4}
    """
    logprobs = choice.get("logprobs") if isinstance(choice, Mapping) else None
    if not isinstance(logprobs, Mapping):
        return {}
    first = _first(logprobs.get("content"))
    listed = first.get("top_logprobs") if isinstance(first, Mapping) else None
    if isinstance(listed, list):
        rows = [row for row in listed if isinstance(row, Mapping)]
        return _numbers([(row.get("token"), row.get("logprob")) for row in rows])
    old = _first(logprobs.get("top_logprobs"))
    return _numbers(list(old.items())) if isinstance(old, Mapping) else {}


def _first(values: Any) -> Any:
    return values[0] if isinstance(values, list) and values else None


def _numbers(rows: list[tuple[Any, Any]]) -> dict[str, float]:
    """Return what has a text and a log-probability; a text that comes twice keeps the first, most likely one."""
    found: dict[str, float] = {}
    for token, value in rows:
        if isinstance(token, str) and isinstance(value, int | float) and not isinstance(value, bool) and value <= 0.01:
            found.setdefault(token, float(value))
    return found
