"""Spans of OpenTelemetry, if that is installed."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

_NOTHING = nullcontext()


def span(name: str, **attributes: Any) -> AbstractContextManager[Any]:
    """Return a span, or nothing."""
    return _NOTHING
