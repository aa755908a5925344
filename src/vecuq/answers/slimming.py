"""Long entries: only the fields that are needed are kept, so that a long record of events is no reason to refuse."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import msgspec

from vecuq.answers.lines import LINE_BYTES

# What is held of one entry before it is slimmed; the rest of the limits holds for what is kept.
ENTRY_BYTES = 64 * 2**20


def slim(content: bytes | None, keeps: tuple[str, ...]) -> bytes | None:
    r"""Return an entry as it is if it is short, else with some of its fields; None if it is too long even so.

    Examples
    --------
    >>> slim(b'{"id": 1, "events": [' + b"0," * 2**23 + b"0]}", ("id", "text"))
    b'{"id": 1}'
    """
    if content is None or len(content) <= LINE_BYTES:
        return content
    try:
        found = msgspec.json.decode(content, type=_with(keeps))
    except (msgspec.DecodeError, RecursionError):
        return None
    held = {name: bytes(getattr(found, f"f{k}")) for k, name in enumerate(keeps)}
    if sum(map(len, held.values())) > LINE_BYTES:
        return None
    return b"{" + b", ".join(json.dumps(name).encode() + b": " + raw for name, raw in held.items() if raw) + b"}"


@lru_cache(maxsize=16)
def _with(keeps: tuple[str, ...]) -> Any:
    """Return a type that keeps these fields unparsed, and passes over all others without holding them."""
    names = {f"f{k}": name for k, name in enumerate(keeps)}
    return msgspec.defstruct("Slim", [(name, msgspec.Raw, msgspec.Raw()) for name in names], rename=names)
