"""From settings to a service: the models are loaded, and the parts put together."""

from __future__ import annotations

from vecuq.service.context import Service
from vecuq.service.counts import Counts
from vecuq.service.recorder import Recorder
from vecuq.service.settings import ServeSettings
from vecuq.service.shelf import Shelf


def make_service(settings: ServeSettings, *, recorder: Recorder | None = None) -> Service:
    """Load the models and return the service; a file that is missing or broken is an error with its name."""
    return Service(settings, Shelf(settings), Counts(), recorder)
