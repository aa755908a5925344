"""One streamed reply of an OpenAI-style server: events are added one by one, and it is read as if it had come whole.

A stream takes the events that are of its kind, ``has_ended`` where the server said so, and ``is_closed`` where nothing
can follow. An event that makes no sense is a TableError.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_text
from vecuq.answers.schema import MOST_ANSWERS
from vecuq.errors import TableError

# How the lines of an event stream begin, and the data of its last event.
SSE = (b"data:", b"event:", b"id:", b"retry:", b":")
DONE = b"[DONE]"
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
_ENDED = ("response.completed", "response.incomplete", "response.failed", "error")
_DELTAS = {
    "response.output_text.delta": ("output_text", "text", "delta"),
    "response.refusal.delta": ("refusal", "refusal", "delta"),
    "response.function_call_arguments.delta": ("function_call", "arguments", "delta"),
}


class ChatStream:
    """A chat completion or an older completion in chunks, each with a few tokens of some of its choices.

    Examples
    --------
    >>> stream = ChatStream()
    >>> for piece, finish in [("Par", None), ("is", "stop")]:
    ...     stream.add({"choices": [{"delta": {"content": piece}, "finish_reason": finish}]})
    >>> stream.has_ended, stream.reply()["choices"][0]["message"]["content"]
    (True, 'Paris')
    """

    is_closed = False  # chunks with usage may follow the last token

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._usage: Any = None
        self._choices: dict[int, _Choice] = {}

    @staticmethod
    def takes(fields: Mapping[str, Any]) -> bool:
        """Whether an event begins or goes on with such a reply: a whole reply says why it ended."""
        if fields.get("object") == "chat.completion.chunk":
            return True
        choices = fields.get("choices")
        listed = [one for one in choices if isinstance(one, Mapping)] if isinstance(choices, list) else []
        if any("delta" in one for one in listed):
            return True
        of_completion = fields.get("object") == "text_completion" and bool(listed)
        return of_completion and all("text" in one and one.get("finish_reason", 0) is None for one in listed)

    def add(self, fields: Mapping[str, Any]) -> None:
        """Add one chunk."""
        if not self._head:
            self._head = {name: value for name, value in fields.items() if name not in ("choices", "usage")}
        self._usage = self._usage if fields.get("usage") is None else fields["usage"]
        for choice in as_list(fields.get("choices") or [], "choices", most=MOST_ANSWERS):
            given = as_mapping(choice, "a choice")
            self._choices.setdefault(index_of(given), _Choice()).add(given)

    @property
    def has_ended(self) -> bool:
        """Whether every choice says why it ended."""
        return bool(self._choices) and all(known.finish is not None for known in self._choices.values())

    def reply(self) -> dict[str, Any]:
        """Return the reply as it would have come whole."""
        choices = [{"index": place, **known.whole()} for place, known in sorted(self._choices.items())]
        counted = {} if self._usage is None else {"usage": self._usage}
        return {**self._head, **counted, "object": "chat.completion", "choices": choices}


def index_of(fields: Mapping[str, Any]) -> int:
    """Return which of several texts a piece belongs to; without an index, to the first."""
    index = 0 if fields.get("index") is None else fields["index"]
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < MOST_ANSWERS:
        raise TableError(f"an index must be a whole number from 0 to {MOST_ANSWERS - 1:,}.")
    return index


class _Choice:
    """One answer of a stream so far."""

    def __init__(self) -> None:
        self.finish: Any = None
        self._texts: dict[str, list[str]] = {}
        self._calls: dict[int, dict[str, list[str]]] = {}
        self._logprobs: dict[str, list[Any]] = {}

    def add(self, choice: Mapping[str, Any]) -> None:
        """Add what one event says of it."""
        if choice.get("delta") is not None:
            self._add_delta(as_mapping(choice["delta"], "a delta"))
        if choice.get("text") is not None:
            self._texts.setdefault("completion", []).append(as_text(choice["text"], "the text of a chunk"))
        for name, values in as_mapping(choice.get("logprobs") or {}, "logprobs").items():
            if values is not None:
                self._logprobs.setdefault(name, []).extend(as_list(values, f"logprobs.{name}"))
        self.finish = choice.get("finish_reason") or self.finish

    def _add_delta(self, delta: Mapping[str, Any]) -> None:
        for name in _TEXTS:
            if delta.get(name) is not None:
                self._texts.setdefault(name, []).append(as_text(delta[name], f"the {name} of a chunk"))
        for call in as_list(delta.get("tool_calls") or [], "tool_calls"):
            self._add_call(as_mapping(call, "a tool call"))

    def _add_call(self, call: Mapping[str, Any]) -> None:
        """Add a piece of a call of a tool under its index: a name once, and arguments bit by bit."""
        function = call.get("function")
        if isinstance(function, Mapping):
            known = self._calls.setdefault(index_of(call), {"name": [], "arguments": []})
            for name, pieces in known.items():
                pieces.extend([function[name]] if isinstance(function.get(name), str) else [])

    def whole(self) -> dict[str, Any]:
        """Return it as an element of ``choices``, without its index."""
        texts = {name: "".join(pieces) for name, pieces in self._texts.items()}
        whole = {"logprobs": self._logprobs or None, "finish_reason": self.finish}
        if "completion" in texts:
            return {**whole, "text": texts["completion"]}
        calls = [{"function": {name: "".join(one) for name, one in call.items()}} for call in self._calls.values()]
        return {**whole, "message": {"content": None, **texts, **({"tool_calls": calls} if calls else {})}}


class ResponseStream:
    """A reply of the Responses API in events; the last one holds the whole reply."""

    def __init__(self) -> None:
        self._whole: dict[str, Any] = {}
        self._items: dict[tuple[int, int], dict[str, Any]] = {}
        self.has_ended = False

    @property
    def is_closed(self) -> bool:
        """Whether nothing can follow."""
        return self.has_ended

    @staticmethod
    def takes(fields: Mapping[str, Any]) -> bool:
        """Whether an event is one of such a reply."""
        kind = fields.get("type")
        return isinstance(kind, str) and kind.startswith("response.")

    def add(self, fields: Mapping[str, Any]) -> None:
        """Add one event."""
        kind, response = fields["type"], fields.get("response")
        if isinstance(response, Mapping):
            self._whole = dict(response)
        if kind in _DELTAS:
            self._add_delta(*_DELTAS[kind], fields)
        self._add_call(fields.get("item"), fields)
        self.has_ended = kind in _ENDED and isinstance(response, Mapping)

    def _add_delta(self, kind: str, name: str, source: str, fields: Mapping[str, Any]) -> None:
        known = self._item(fields, kind)
        if isinstance(fields.get(source), str):
            known.setdefault(name, []).append(fields[source])
        if isinstance(fields.get("logprobs"), list):
            known.setdefault("logprobs", []).extend(fields["logprobs"])

    def _add_call(self, item: Any, fields: Mapping[str, Any]) -> None:
        """Note the name of a tool, which its first event has."""
        if isinstance(item, Mapping) and item.get("type") == "function_call" and isinstance(item.get("name"), str):
            self._item(fields, "function_call")["name"] = [item["name"]]

    def _item(self, fields: Mapping[str, Any], kind: str) -> dict[str, Any]:
        places = (fields.get("output_index"), fields.get("content_index"))
        output, content = (place if isinstance(place, int) else 0 for place in places)
        return self._items.setdefault((output, content), {"type": kind})

    def reply(self) -> dict[str, Any]:
        """Return the whole reply; where the stream was cut short, what came of it, without a status."""
        if self.has_ended:
            return {**self._whole, "output": self._with_logprobs(self._whole.get("output"))}
        head = {name: value for name, value in self._whole.items() if name not in ("output", "status")}
        output = [self._made(item) for _, item in sorted(self._items.items(), key=lambda pair: pair[0])]
        return {**head, "object": "response", "output": output}

    def _made(self, item: Mapping[str, Any]) -> dict[str, Any]:
        made = {
            name: "".join(value) if name in ("text", "refusal", "arguments", "name") else value
            for name, value in item.items()
        }
        return made if item["type"] == "function_call" else {"type": "message", "content": [made]}

    def _with_logprobs(self, output: Any) -> Any:
        """Return the items with the log-probs of the events, where the last event has none."""
        if not isinstance(output, list):
            return output
        return [self._filled(place, item) for place, item in enumerate(output)]

    def _filled(self, place: int, item: Any) -> Any:
        content = item.get("content") if isinstance(item, Mapping) else None
        if not isinstance(content, list):
            return item
        filled = []
        for number, part in enumerate(content):
            known = self._items.get((place, number), {}).get("logprobs")
            fill = known and isinstance(part, Mapping) and not part.get("logprobs")
            filled.append({**part, "logprobs": known} if fill else part)
        return {**item, "content": filled}
