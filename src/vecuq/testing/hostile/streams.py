"""Streams of events as servers send them, nearly right."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from vecuq.testing.hostile.byte_level import damaged
from vecuq.testing.hostile.json_level import altered, as_json

_ROW = {"token": "x", "logprob": -1.0, "bytes": [120], "top_logprobs": []}
_DELTA = {"content": "x", "tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]}
_CHAT = {"id": "chatcmpl-1", "object": "chat.completion.chunk"}
_TEXT = {"index": 0, "text": "x", "logprobs": {"tokens": ["x"], "token_logprobs": [-1.0]}, "finish_reason": None}
_WHOLE = {
    "object": "response",
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "x", "logprobs": []}]}],
}
STREAMS: tuple[list[dict[str, Any]], ...] = (
    [
        {**_CHAT, "choices": [{"index": 0, "delta": _DELTA, "logprobs": {"content": [_ROW]}, "finish_reason": None}]},
        {**_CHAT, "choices": [{"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}]},
    ],
    [
        {"id": "cmpl-1", "object": "text_completion", "choices": [_TEXT]},
        {"id": "cmpl-1", "object": "text_completion", "choices": [{**_TEXT, "finish_reason": "stop"}]},
    ],
    [
        {"type": "response.created", "response": {"object": "response", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "name": "f"}},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{}"},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "x", "logprobs": [_ROW]},
        {"type": "response.completed", "response": _WHOLE},
    ],
)


@st.composite
def event_streams(draw: st.DrawFn) -> bytes:
    """Return a strategy of the bytes of a stream, altered in values or damaged in its bytes; it may be cut short."""
    events, _ = draw(altered(draw(st.sampled_from(STREAMS))))
    kept = events[: draw(st.integers(1, 6))] if isinstance(events, list) else [events]
    mark = "data: " if draw(st.booleans()) else ""
    text = "\n".join(mark + as_json(event) for event in kept).encode()
    return draw(damaged(text)) if draw(st.integers(0, 4)) == 0 else text
