"""How long jobs report their progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Watch:
    """Functions that a long job calls.

    After each sweep with its marginal error, after rows were scored or read, when it has to wait for another job.
    """

    sweep: Callable[[int, float], None] | None = None
    rows: Callable[[int], None] | None = None
    read: Callable[[int], None] | None = None
    waiting: Callable[[str], None] | None = None


NOBODY = Watch()
