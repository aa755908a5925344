"""A study: one table of the paper, computed anew, with the paper's figures beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Study"]


@dataclass(frozen=True)
class Study:
    """The outcome of one study."""

    name: str
    title: str
    rows: tuple[dict[str, Any], ...]  # one dict per line of the printed table; same keys in all
    figures: dict[str, Any]  # the same numbers, unrounded, for programs
    differs: str  # what differs from the paper's setting
