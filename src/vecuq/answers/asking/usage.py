"""Tokens as servers count them, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from vecuq._check import in_range
from vecuq.errors import SettingError

_MOST = 10**12
_MILLION = 1e6


class Usage(NamedTuple):
    """Tokens of requests: read and written; of these, read from the server's cache and written as reasoning.

    Examples
    --------
    >>> Usage.of({"prompt_tokens": 9, "completion_tokens": 4}).plus(Usage(prompt=1, replies=1))
    Usage(prompt=10, completion=4, cached=0, reasoning=0, replies=2)
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0
    # Replies that were counted.
    replies: int = 0

    @staticmethod
    def of(usage: Any) -> Usage | None:
        """Return the usage that a reply reports; None if it reports none that makes sense."""
        if not isinstance(usage, Mapping):
            return None
        prompt = _count(usage, "prompt_tokens", "input_tokens")
        completion = _count(usage, "completion_tokens", "output_tokens")
        if prompt is None or completion is None:
            return None
        read, written = (_details(usage, name) for name in ("prompt_tokens_details", "completion_tokens_details"))
        cached, reasoning = _count(read, "cached_tokens"), _count(written, "reasoning_tokens")
        return Usage(prompt, completion, min(cached or 0, prompt), min(reasoning or 0, completion), 1)

    def plus(self, other: Usage) -> Usage:
        """Return the sum."""
        return Usage(*map(sum, zip(self, other, strict=True)))


@dataclass(frozen=True)
class Prices:
    """Prices of a million tokens, and the most that a run may cost.

    Parameters
    ----------
    input, output
        Price of a million tokens read, and of a million written (reasoning included).
    most
        No further question is started when a run has cost this much; None for no limit.

    Examples
    --------
    >>> Prices(2.5, 10).of(Usage(prompt=1_000_000, completion=100_000))
    3.5
    """

    input: float = 0.0
    output: float = 0.0
    most: float | None = None

    def __post_init__(self) -> None:
        in_range("price_input", self.input, 0.0)
        in_range("price_output", self.output, 0.0)
        if self.most is not None:
            in_range("max_cost", self.most, 0.0, ends="()")
            if not self.input and not self.output:
                raise SettingError("max_cost needs `price_input` and `price_output`: the cost is not known.")

    def of(self, usage: Usage) -> float:
        """Return what tokens cost."""
        return (usage.prompt * self.input + usage.completion * self.output) / _MILLION


def _details(usage: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = usage.get(name)
    return found if isinstance(found, Mapping) else {}


def _count(fields: Mapping[str, Any], *names: str) -> int | None:
    """Return the first of the named counts that is one."""
    found = (fields.get(name) for name in names)
    counts = (one for one in found if isinstance(one, int) and not isinstance(one, bool) and 0 <= one <= _MOST)
    return next(counts, None)
