"""What a message says: its text, a refusal, or calls of tools; and the question that messages ask."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_text
from vecuq.errors import TableError

_TEXTS = ("text", "output_text", "input_text")
_HIDDEN = ("thinking", "reasoning", "reasoning_text", "redacted_thinking")
_MOST_PARTS = 10_000
INSTRUCTIONS = ("system", "developer")


def text_of(content: Any, name: str) -> str:
    """Return the text of a message: a text, or a list of parts; parts of reasoning are left out.

    A part that is anything else, such as an image, is an error.

    Examples
    --------
    >>> text_of([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Paris"}], "content")
    'Paris'
    """
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return as_text(content, name)
    return "".join(_part(one, name) for one in as_list(content, name, most=_MOST_PARTS))


def _part(given: Any, name: str) -> str:
    """Return the text of one part; a refusal says what it says."""
    if isinstance(given, str):
        return given
    part = as_mapping(given, f"a part of {name}")
    kind = part.get("type")
    if kind in _HIDDEN:
        return ""
    if kind == "refusal":
        return as_text(part.get("refusal"), "refusal")
    if kind in _TEXTS or (kind is None and "text" in part):
        return as_text(part.get("text"), f"a text of {name}")
    shown = kind[:40] if isinstance(kind, str) and kind.isprintable() else "an unknown type"
    raise TableError(f"{name} has a part of {shown!r}; only texts can be compared.")


def call_text(name: Any, arguments: Any) -> str:
    """Return a call of a tool as text, the same for the same call: its name, and its arguments with sorted keys.

    Examples
    --------
    >>> call_text("get_weather", '{"unit": "C",  "city": "Paris"}')
    'get_weather({"city": "Paris", "unit": "C"})'
    """
    called = as_text(name, "the name of a tool")
    try:
        given = json.loads(arguments) if isinstance(arguments, str) and arguments.strip() else arguments
        words = json.dumps(given, sort_keys=True, ensure_ascii=False) if given else ""
    except (ValueError, RecursionError):  # a model may write no JSON; then its words count
        words = str(arguments).strip()
    return f"{called}({words})".encode(errors="replace").decode()


def calls_of(message: Mapping[str, Any]) -> str:
    """Return the tools that a message calls, one per line, in its order; nothing if it calls none."""
    listed = as_list(message.get("tool_calls") or [], "tool_calls", most=_MOST_PARTS)
    calls = [_function(as_mapping(one, "a tool call")) for one in listed]
    if isinstance(message.get("function_call"), Mapping):
        calls.append(message["function_call"])
    return "\n".join(call_text(call.get("name"), call.get("arguments", call.get("input"))) for call in calls)


def _function(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return name and arguments of a call, which its type wraps: ``function`` or ``custom``."""
    return next((call[kind] for kind in ("function", "custom") if isinstance(call.get(kind), Mapping)), call)


def conversation(messages: Any) -> str | None:
    """Return the messages before the answer, without instructions; None where they are not all text.

    Examples
    --------
    >>> conversation([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital of France?"}])
    'Capital of France?'
    """
    if isinstance(messages, str):
        return messages
    listed = [one for one in messages if isinstance(one, Mapping)] if isinstance(messages, list) else []
    # Gemini calls the content of a message its parts.
    said = [_asked(one.get("content", one.get("parts"))) for one in listed if one.get("role") not in INSTRUCTIONS]
    found = [text for text in said if text is not None]
    return "\n".join(found) if found and len(found) == len(said) else None


def shown_content(message: Mapping[str, Any]) -> str:
    r"""Return the content of a message that is sent as it is: a part that is no text is its kind, on a line of its own.

    Examples
    --------
    >>> shown_content({"content": [{"type": "text", "text": "Who is this?"}, {"type": "image_url"}]})
    'Who is this?\n[image_url]'
    """
    content = message.get("content")
    if not isinstance(content, list):
        return content if isinstance(content, str) else "[tool call]"
    return "".join(text if (text := _asked([one])) is not None else f"\n[{one['type']}]" for one in content).strip("\n")


def _asked(content: Any) -> str | None:
    """Return the text of a message of a request; None if it is an image or anything else but text."""
    try:
        return text_of(content, "content") if isinstance(content, str | list) else None
    except TableError:
        return None
