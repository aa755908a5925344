"""Finding: one thing that a check has to say."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

SEVERITIES = ("ok", "note", "warning", "serious")


@dataclass(frozen=True)
class Finding:
    """What was found, how bad it is, and what to do about it.

    Examples
    --------
    >>> Finding("size", "ok", "400 rows.").to_dict()["severity"]
    'ok'
    """

    check: str
    severity: str  # one of SEVERITIES
    what: str
    remedy: str = ""
    figures: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def worst(severities: list[str]) -> str:
    """Return the worst of some severities; ``"ok"`` of none."""
    return max(severities, key=SEVERITIES.index, default="ok")


def at_most(severity: str, limit: str) -> str:
    """Return a severity, or the limit if that is less bad."""
    return min(severity, limit, key=SEVERITIES.index)
