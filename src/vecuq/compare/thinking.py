"""What a model wrote while thinking, which is no part of its answer."""

from __future__ import annotations

import re

_NAMES = ("think", "thinking", "reasoning", "thought", "reflection")
_MARKS = {f"<{name}>": f"</{name}>" for name in _NAMES} | {"◁think▷": "◁/think▷"}
_FIRST = re.compile("|".join(_MARKS), re.IGNORECASE)
_LAST = {first: re.compile(last, re.IGNORECASE) for first, last in _MARKS.items()}
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
    *_, kept = _END.split(_without_blocks(text))
    return "" if _START.match(kept) else kept.strip()


def _without_blocks(text: str) -> str:
    """Return a text without what stands between a first mark and its last; each mark is looked for once."""
    kept, place, endless = "", 0, set[str]()
    for found in _FIRST.finditer(text):
        first = found[0].lower()
        if found.start() < place or first in endless:
            continue
        last = _LAST[first].search(text, found.end())
        if last is None:
            endless.add(first)
        else:
            kept, place = kept + text[place : found.start()], last.end()
    return kept + text[place:]
