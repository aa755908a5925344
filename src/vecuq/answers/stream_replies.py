"""One streamed reply: its events are added one by one, and it is read as if it had come whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq.answers.schema import MOST_ANSWERS

_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
_ENDED = ("response.completed", "response.incomplete", "response.failed", "error")
_DELTAS = {
    "response.output_text.delta": ("output_text", "text", "delta"),
    "response.refusal.delta": ("refusal", "refusal", "delta"),
    "response.function_call_arguments.delta": ("function_call", "arguments", "delta"),
}


class ChatStream:
    """A chat completion or an older completion in chunks, each with a few tokens of some of its choices."""

    is_closed = False  # chunks with usage may follow the last token

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._choices: dict[int, dict[str, Any]] = {}

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
        """Add one chunk; what is not of the usual type is left for the reader to refuse."""
        if not self._head:
            self._head = {name: value for name, value in fields.items() if name not in ("choices", "usage")}
        choices = fields.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping):
                self._add(choice)

    def _add(self, choice: Mapping[str, Any]) -> None:
        index = choice.get("index")
        place = index if isinstance(index, int) and 0 <= index < MOST_ANSWERS else 0
        known = self._choices.setdefault(place, {"texts": {}, "logprobs": {}, "calls": {}, "finish": None})
        delta = choice.get("delta")
        said = delta if isinstance(delta, Mapping) else {"completion": choice.get("text")}
        for name, piece in said.items():
            if isinstance(piece, str) and name in (*_TEXTS, "completion"):
                known["texts"].setdefault(name, []).append(piece)
        _add_calls(known["calls"], said.get("tool_calls"))
        _add_lists(known["logprobs"], choice.get("logprobs"))
        known["finish"] = choice.get("finish_reason") or known["finish"]

    @property
    def has_ended(self) -> bool:
        """Whether every choice says why it ended."""
        return bool(self._choices) and all(known["finish"] is not None for known in self._choices.values())

    def reply(self) -> dict[str, Any]:
        """Return the reply as it would have come whole."""
        choices = [_choice(place, known) for place, known in sorted(self._choices.items())]
        return {**self._head, "object": "chat.completion", "choices": choices}


def _choice(place: int, known: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: "".join(pieces) for name, pieces in known["texts"].items()}
    whole = {"index": place, "logprobs": known["logprobs"] or None, "finish_reason": known["finish"]}
    if "completion" in texts:
        return {**whole, "text": texts["completion"]}
    calls = [{"function": {name: "".join(pieces) for name, pieces in call.items()}} for call in known["calls"].values()]
    return {**whole, "message": {"content": None, **texts, "tool_calls": calls}}


def _add_calls(calls: dict[int, dict[str, list[str]]], given: Any) -> None:
    """Add pieces of calls of tools, each under its index: a name once, and arguments bit by bit."""
    for call in given if isinstance(given, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            index = call.get("index")
            known = calls.setdefault(index if isinstance(index, int) else 0, {"name": [], "arguments": []})
            for name, pieces in known.items():
                pieces.extend([function[name]] if isinstance(function.get(name), str) else [])


def _add_lists(known: dict[str, list[Any]], given: Any) -> None:
    for name, values in given.items() if isinstance(given, Mapping) else ():
        if isinstance(values, list):
            known.setdefault(name, []).extend(values)


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
