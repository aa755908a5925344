"""What a model wrote while thinking, which is no part of its answer."""

from __future__ import annotations

import re

_NAMES = ("think", "thinking", "reasoning", "thought", "reflection")
_BLOCK = re.compile(rf"<({'|'.join(_NAMES)})>.*?</\1>|◁think▷.*?◁/think▷", re.DOTALL | re.IGNORECASE)
# Servers often leave out the first mark, which belongs to the prompt; and a reply that was cut off has no last one.
_END = re.compile(rf"</(?:{'|'.join(_NAMES)})>|◁/think▷", re.IGNORECASE)
_START = re.compile(rf"\s*(?:<(?:{'|'.join(_NAMES)})>|◁think▷)", re.IGNORECASE)


def has_thinking(text: str) -> bool:
    """Whether a text has marks of thinking.

    Examples
    --------
    >>> has_thinking("<think>hm</think> 4"), has_thinking("I think 4")
    (True, False)
    """
    return ("<" in text or "◁" in text) and (_END.search(text) is not None or _START.match(text) is not None)


def without_thinking(text: str) -> str:
    """Return a text without its blocks of thinking; one that never left them is empty.

    Examples
    --------
    >>> without_thinking("<think>2 + 2, so</think> 4"), without_thinking("so</think>4"), without_thinking("<think>2 +")
    ('4', '4', '')
    """
    if not has_thinking(text):
        return text
    kept = _BLOCK.sub("", text)
    *_, kept = _END.split(kept)
    return "" if _START.match(kept) else kept.strip()
