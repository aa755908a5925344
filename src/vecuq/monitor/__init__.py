"""Drift: a stream of rows against the calibration rows, with a false-alarm rate that holds over all time."""

from vecuq.monitor.begin import JOINT, MISSING
from vecuq.monitor.monitor import Monitor
from vecuq.monitor.state import load_monitor
from vecuq.monitor.stream import Alarm

__all__ = ["JOINT", "MISSING", "Alarm", "Monitor", "load_monitor"]
