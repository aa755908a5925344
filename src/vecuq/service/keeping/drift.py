"""Drift: one monitor per model, in a thread of its own, which takes a bounded sample of rows at every turn.

A crash loses the rows since the last save. The monitor then goes on from that state as if the lost rows had never come:
which rows are lost depends on when the process died, not on their values, so what it sees stays exchangeable without
drift, and its false-alarm rate holds. An alarm is saved at once, and so is never lost.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq._load import load
from vecuq.errors import VecuqError
from vecuq.monitor import Monitor
from vecuq.ranker import Ranker
from vecuq.service.keeping.models import KnownModel
from vecuq.service.keeping.sample import Sample
from vecuq.service.refusal import Refusal

LOG = logging.getLogger("vecuq.service.keeping")
PERIOD = 0.5
MOST_SECONDS = 60.0


class Drift:
    """The monitors of all models."""

    def __init__(self, save: Callable[[str, str, bytes], None]) -> None:
        self._save = save  # name, checksum, bytes: to be written to the store
        self._lock = threading.Lock()
        self._models: dict[str, KnownModel] = {}
        self._monitors: dict[str, Monitor] = {}
        self._samples: dict[str, Sample] = {}
        self._saved: dict[str, tuple[int, float]] = {}  # rows of the monitor, and when
        self._waiting: dict[str, int] = {}  # rows that arrived since the last turn
        self._arrived: dict[str, int] = {}  # before it
        self._taken: dict[str, int] = {}
        self._status: dict[str, dict[str, Any]] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main, name="vecuq-drift", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Watch what has come, and save the states."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def use(self, model: KnownModel, state: bytes | None = None) -> None:
        """Watch rows of a model from now on; a monitor of the same ranker goes on."""
        with self._lock:
            self._models[model.name] = model
            running = self._monitors.get(model.name)
            if model.ranker is None:
                self._monitors.pop(model.name, None)
                self._status.pop(model.name, None)
            elif running is None or not _same(running.ranker, model.ranker):
                self._monitors[model.name] = _begun(model, state)
                self._samples[model.name] = Sample()
                self._saved[model.name] = (self._monitors[model.name].rows, time.monotonic())
                self._publish(model.name, self._monitors[model.name])

    def add(self, name: str, checksum: str, columns: Sequence[str], values: Array, arrived: int) -> None:
        """Take rows of a file that is watched; they may be a sample of those that arrived."""
        with self._lock:
            if name not in self._monitors or self._models[name].checksum != checksum:
                return
            self._waiting[name] = self._waiting.get(name, 0) + arrived
            self._samples[name].add(columns, values)

    def status(self, name: str) -> dict[str, Any] | None:
        """Return how the monitor of a model stands; None if it has none."""
        with self._lock:
            found = self._status.get(name)
            if found is None:
                return None
            arrived, taken = self._arrived.get(name, 0), self._taken.get(name, 0)
        return {**found, "arrived": arrived, "watched": taken, "share": taken / arrived if arrived else 1.0}

    def turn(self) -> None:
        """Let every monitor take what has come, and save those that must be."""
        for name in list(self._monitors):
            with self._lock:
                monitor, model, sample = self._monitors.get(name), self._models[name], self._samples[name]
                if monitor is None or not sample.seen:
                    continue
                columns, values = sample.take()
                came = self._waiting.pop(name, 0)
            try:
                alarms = monitor.observe(_table(columns, values))
            except VecuqError as error:  # rows that this model cannot take are a defect of the caller, not of the row
                LOG.error("The monitor of model %s could not take rows: %s", name, error)
                continue
            with self._lock:
                self._arrived[name] = self._arrived.get(name, 0) + came
                self._taken[name] = self._taken.get(name, 0) + len(values)
                self._publish(name, monitor)
            if alarms:
                LOG.warning("Drift in model %s: %s.", name, ", ".join(f"{one.stream} {one.change}" for one in alarms))
            if alarms or time.monotonic() - self._saved[name][1] > MOST_SECONDS:
                self._save_one(name, model, monitor)

    def _main(self) -> None:
        going = True
        while going:
            going = not self._stopping.wait(PERIOD)
            try:
                self.turn()
            except Exception:  # a thread that ends would watch nothing any more, and nobody would notice
                LOG.exception("The drift monitors failed.")
        for name, monitor in list(self._monitors.items()):
            if monitor.rows != self._saved[name][0]:
                self._save_one(name, self._models[name], monitor)

    def _save_one(self, name: str, model: KnownModel, monitor: Monitor) -> None:
        try:
            self._save(name, model.checksum, monitor.to_bytes())
        except Refusal as error:  # the store is busy: the next turn tries again
            LOG.warning("The drift monitor of model %s could not be saved: %s", name, error)
            return
        self._saved[name] = (monitor.rows, time.monotonic())

    def _publish(self, name: str, monitor: Monitor) -> None:
        bar = len(monitor.streams) / monitor.alpha
        self._status[name] = {
            "rows": monitor.rows,
            "alpha": monitor.alpha,
            "evidence": monitor.evidence,
            "alarm_at": bar,
            "alarms": [dict(vars(alarm)) for alarm in monitor.alarms],
            "dependent": bool(monitor.dependent),
            "recalibrate": bool(monitor.recalibrate),
        }


def _begun(model: KnownModel, state: bytes | None) -> Monitor:
    """Return the saved monitor of a model, or a new one where there is none of this model."""
    if state is not None:
        try:
            found = load(state, ranker=model.ranker)
            if isinstance(found, Monitor):
                return found
        except VecuqError as error:
            LOG.warning("A new drift monitor of model %s begins: %s", model.name, error)
    return Monitor(model.ranker)


def _same(one: Ranker, other: Ranker) -> bool:
    return one.columns == other.columns and np.array_equal(one.calibration_scores, other.calibration_scores)


def _table(columns: Sequence[str], values: Array) -> Any:
    import pyarrow as pa

    return pa.table({name: values[:, k] for k, name in enumerate(columns)})
