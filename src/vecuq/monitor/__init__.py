"""Drift: a stream of rows against the calibration rows, with a false-alarm rate that holds over all time."""

from vecuq.monitor.monitor import JOINT, Monitor
from vecuq.monitor.state import load_monitor
from vecuq.monitor.stream import Alarm

__all__ = ["JOINT", "Alarm", "Monitor", "load_monitor"]
