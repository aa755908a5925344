"""Service: what every route of one process shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vecuq.service.recorder import Recorder
from vecuq.service.settings import ServeSettings

if TYPE_CHECKING:
    from vecuq.service.counts import Counts
    from vecuq.service.shelf import Shelf


@dataclass(frozen=True)
class Service:
    """The models, the recorder and the counts of one process; routes are functions of it."""

    settings: ServeSettings
    shelf: Shelf
    counts: Counts
    recorder: Recorder | None = None  # None: no store, so nothing is kept
