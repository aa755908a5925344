"""Conversations in place of one question: messages with a role and a content, as servers take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vecuq._check import one_line
from vecuq.answers.readers.messages import INSTRUCTIONS, conversation, shown_content
from vecuq.errors import TableError

_MOST = 1_000
Message = Mapping[str, Any]


def checked_messages(given: Any, place: str) -> tuple[Message, ...]:
    """Return the messages of a question's line; the error names the first that is none.

    Examples
    --------
    >>> checked_messages([{"role": "user", "content": "Why?"}], "line 1")
    ({'role': 'user', 'content': 'Why?'},)
    """
    if not isinstance(given, list) or not 0 < len(given) <= _MOST:
        raise TableError(f"{place}: `messages` must be a list of 1 to {_MOST:,} messages.")
    for number, message in enumerate(given, start=1):
        if not _is_message(message):
            raise TableError(
                f"{place}: message {number} must have a `role` and a `content` that is a text or a list of parts; "
                f"got {one_line(repr(message), most=60)}."
            )
    if not asked_in(given).strip():
        raise TableError(f"{place}: `messages` has system messages only; there is nothing to answer.")
    return tuple(given)


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return False
    content = message.get("content")
    if isinstance(content, list):
        return all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in content)
    # A call of a tool has no content.
    return isinstance(content, str) or (content is None and bool(message.get("tool_calls")))


def asked_in(messages: Sequence[Message]) -> str:
    """Return what was said before the answer, as readers of files do; a part that is no text is its kind.

    Examples
    --------
    >>> asked_in([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}])
    'Why?'
    """
    said = [message for message in messages if message["role"] not in INSTRUCTIONS]
    return conversation(messages) or "\n".join(map(shown_content, said))


def with_system(messages: Sequence[Message], system: str | None) -> list[Message]:
    """Return the messages after a system message, unless they have one of their own."""
    has_own = any(message["role"] in INSTRUCTIONS for message in messages)
    return [*messages] if has_own or not system else [{"role": "system", "content": system}, *messages]
