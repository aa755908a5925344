"""Guard: who may ask."""

from __future__ import annotations

from typing import Any

from vecuq.service.refusal import Refusal
from vecuq.service.settings import ServeSettings


class Guard:
    """Checks key, host and origin of a request."""

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings

    def check(self, scope: Any) -> Refusal | None:
        """Return why a request is refused, if it is."""
        return None

    def headers(self, path: str) -> list[tuple[bytes, bytes]]:
        """Return the security headers of an answer."""
        return []
