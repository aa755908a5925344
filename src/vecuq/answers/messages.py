"""What was said: the text of a message whose content is text or parts, and a conversation as one question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_text

_INSTRUCTIONS = ("system", "developer")


def text_of(content: Any, name: str = "the content of a message") -> str:
    """Return the text of a content; of a list of parts, those that are text, one after another.

    Examples
    --------
    >>> text_of([{"type": "reasoning", "reasoning": "..."}, {"type": "text", "text": "Paris"}])
    'Paris'
    """
    if content is None or isinstance(content, str):
        return content or ""
    parts = [one for one in as_list(content, name) if not isinstance(one, Mapping) or isinstance(one.get("text"), str)]
    return "\n".join(one["text"] if isinstance(one, Mapping) else as_text(one, name) for one in parts)


def conversation(given: Any) -> str | None:
    """Return a question: a text, or messages without those of the system; None where there is neither.

    Examples
    --------
    >>> conversation([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}])
    '2 + 2?'
    """
    if isinstance(given, str):
        return given
    listed = given if isinstance(given, list) else []
    said = [one for one in listed if isinstance(one, Mapping) and one.get("role") not in _INSTRUCTIONS]
    return "\n".join(text_of(one.get("content")) for one in said) or None
