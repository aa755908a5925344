"""Drift: a stream of rows against the calibration rows, with a false-alarm rate that holds over all time."""

from typing import TYPE_CHECKING

from vecuq.monitor.begin import JOINT, MISSING
from vecuq.monitor.counted import CountedFile
from vecuq.monitor.monitor import Monitor
from vecuq.monitor.moved import Moved, drift_test
from vecuq.monitor.selection import StreamSelection
from vecuq.monitor.state import monitor_of
from vecuq.monitor.stream import Alarm

__all__ = [
    "JOINT",
    "MISSING",
    "Alarm",
    "CountedFile",
    "Monitor",
    "Moved",
    "StreamSelection",
    "drift_test",
    "monitor_of",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from vecuq._removed import absent

        raise absent(__name__, name)
