"""From a model and a stream of table files to a verdict on drift, with a state that outlives the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vecuq._check import existing_file, finite_rows
from vecuq.errors import SettingError
from vecuq.monitor import Monitor, load_monitor
from vecuq.ranker import Ranker
from vecuq.table import ScoreTable, kind_of, read_batches, read_table
from vecuq.workflows.watch import NOBODY, PathLike, Watch, load_model, refuse_place

__all__ = ["Monitored", "Passage", "monitor"]

DEFAULT_ALPHA = 0.01


@dataclass(frozen=True)
class Passage:
    """One file of the stream: which rows of the whole stream it holds, and how many of them lacked a value."""

    path: str
    first_row: int
    n_rows: int
    n_missing: int


@dataclass(frozen=True)
class Monitored:
    """A monitor after the files that it was shown."""

    monitor: Monitor
    files: tuple[Passage, ...]
    first_row: int  # rows seen before this run, by the saved state

    def place_of(self, row: int) -> tuple[str | None, int]:
        """Return the file of a row of the stream and its number there, from 0; no file for rows of earlier runs."""
        for file in self.files:
            if file.first_row <= row < file.first_row + file.n_rows:
                return file.path, row - file.first_row
        return None, row


def monitor(
    model: PathLike,
    streams: Sequence[PathLike],
    *,
    calibration: PathLike | None = None,
    state: PathLike | None = None,
    alpha: float | None = None,
    watch: Watch = NOBODY,
) -> Monitored:
    """Show the rows of table files, in that order, to a monitor; go on from ``state`` if it is there, and renew it.

    A state keeps the calibration rows that it began with, so ``calibration`` is looked at only without one. Nothing is
    saved unless every file could be read.
    """
    for path in streams:
        kind_of(existing_file(path))
    if state is not None:
        refuse_place(state, "The state of a monitor")
    ranker = load_model(model)
    if state is not None and Path(state).exists():
        watcher = _resumed(state, ranker, alpha)
    else:
        rows = None if calibration is None else read_table(calibration, columns=ranker.columns, flip=ranker.flipped)
        watcher = Monitor(ranker, rows, alpha=DEFAULT_ALPHA if alpha is None else alpha)
    first = watcher.rows
    files = tuple(_observe(watcher, path, watch) for path in streams)
    if state is not None:
        watcher.save(state)
    return Monitored(watcher, files, first)


def _resumed(state: PathLike, ranker: Ranker, alpha: float | None) -> Monitor:
    found = load_monitor(state, ranker)
    if alpha is not None and alpha != found.alpha:
        raise SettingError(
            f"{state} was begun with alpha={found.alpha:g}, which cannot become {alpha:g} on the way. "
            f"Leave alpha out, or begin with another state file."
        )
    return found


def _observe(watcher: Monitor, path: PathLike, watch: Watch) -> Passage:
    ranker, first, incomplete = watcher.ranker, watcher.rows, 0
    for batch in read_batches(path, columns=ranker.columns, alone=True):
        table = ScoreTable.of(batch, columns=ranker.columns, flip=ranker.flipped)
        watcher.observe(table)
        incomplete += len(table) - int(finite_rows(table.values).sum())
        if watch.rows is not None:
            watch.rows(len(table))
    return Passage(str(path), first, watcher.rows - first, incomplete)
