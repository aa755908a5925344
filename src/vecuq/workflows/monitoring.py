"""From a model and a stream of table files to a verdict on drift, with a state that outlives the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vecuq._files import saved_kind
from vecuq._load import load
from vecuq.errors import ModelFileError, SettingError
from vecuq.monitor import Monitor
from vecuq.ranker import Ranker
from vecuq.table import PathLike, ScoreTable, TableSource, read_batches, read_table
from vecuq.workflows.places import load_model, refuse_place
from vecuq.workflows.watch import NOBODY, Watch

DEFAULT_ALPHA = 0.01


@dataclass(frozen=True)
class Passage:
    """One file of the stream: which rows of the whole stream it holds, and what could be made of them."""

    path: str
    first_row: int
    n_rows: int
    n_missing: int  # rows that lack a value
    n_infinite: int  # rows with an infinite value
    n_watched: int  # rows that the joint score or some column could take


@dataclass(frozen=True)
class Monitored:
    """A monitor after the files that it was shown."""

    monitor: Monitor
    files: tuple[Passage, ...]
    first_row: int  # rows seen before this run, by the saved state

    @property
    def unwatched(self) -> tuple[Passage, ...]:
        """The files of which no row could be watched."""
        return tuple(file for file in self.files if not file.n_watched)

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

    A state keeps the alpha and the calibration rows that it began with; others are refused. Nothing is saved unless
    every file could be read.
    """
    ranker = load_model(model)
    # A folder or a pattern is watched file by file, so that an alarm can name one.
    sources = [source for path in streams for source in TableSource.of(path).each()]
    if state is not None:
        refuse_place(state, what="The state of a monitor", reads=[model, *streams])
    rows = None if calibration is None else read_table(calibration, columns=ranker.columns, flip=ranker.flipped)
    if state is not None and Path(state).exists():
        watcher = _resumed(state, ranker, alpha)
        if rows is not None:
            _refuse_other_rows(state, watcher, rows)
    else:
        watcher = Monitor(ranker, rows, alpha=DEFAULT_ALPHA if alpha is None else alpha)
    first = watcher.rows
    files = tuple(_observe(watcher, source, watch) for source in sources)
    if state is not None:
        watcher.save(state)
    return Monitored(watcher, files, first)


def _resumed(state: PathLike, ranker: Ranker, alpha: float | None) -> Monitor:
    if saved_kind(state) != "monitor":
        raise ModelFileError(f"{state} is not the state of a monitor; choose another file.")
    found: Monitor = load(state, ranker=ranker)
    if alpha is not None and alpha != found.alpha:
        raise SettingError(
            f"{state} was begun with alpha={found.alpha:g}, which cannot become {alpha:g} on the way. "
            f"Leave alpha out, or begin with another state file."
        )
    return found


def _refuse_other_rows(state: PathLike, found: Monitor, rows: ScoreTable) -> None:
    """Raise if the state was begun with other calibration rows than these."""
    anew = Monitor(found.ranker, rows, direction=found.direction, random_state=found.seed)
    begun, given = ([stream.calibration.scores for stream in one.streams] for one in (found, anew))
    if len(begun) != len(given) or not all(map(np.array_equal, begun, given)):
        raise SettingError(
            f"{state} was begun with other calibration rows, which cannot change on the way. "
            f"Leave the calibration table out, or begin with another state file."
        )


def _observe(watcher: Monitor, source: TableSource, watch: Watch) -> Passage:
    ranker, infinite = watcher.ranker, 0
    first, missing, watched = watcher.rows, watcher.n_missing, watcher.n_watched
    for batch in read_batches(source, columns=ranker.columns, alone=True):
        table = ScoreTable.of(batch, columns=ranker.columns, flip=ranker.flipped)
        watcher.observe(table)
        infinite += int(np.isinf(table.values).any(axis=1).sum())
        if watch.rows is not None:
            watch.rows(len(table))
    n_rows, n_missing, n_watched = watcher.rows - first, watcher.n_missing - missing, watcher.n_watched - watched
    return Passage(str(source), first, n_rows, n_missing, infinite, n_watched)
