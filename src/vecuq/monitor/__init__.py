"""Drift: a stream of rows against the calibration rows, with a false-alarm rate that holds over all time."""

from vecuq.monitor.begin import JOINT, MISSING
from vecuq.monitor.counted import CountedFile
from vecuq.monitor.drift_counts import DriftCounts, Moved
from vecuq.monitor.drift_file import drift_of
from vecuq.monitor.monitor import Monitor
from vecuq.monitor.selection import StreamSelection
from vecuq.monitor.state import monitor_of
from vecuq.monitor.stream import Alarm

__all__ = [
    "JOINT",
    "MISSING",
    "Alarm",
    "CountedFile",
    "DriftCounts",
    "Monitor",
    "Moved",
    "StreamSelection",
    "drift_of",
    "monitor_of",
]
