"""From a model and a stream of table files to a verdict on drift, with a state that outlives the run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

import numpy as np

from vecuq._check import in_range, wanted_columns
from vecuq._files import locked, saved_kind
from vecuq._load import load
from vecuq.errors import ModelFileError, SettingError, TableError
from vecuq.monitor import CountedFile, Monitor
from vecuq.ranker import Ranker
from vecuq.table import PathLike, ScoreTable, TableReader, TableSource, read_table
from vecuq.workflows.places import load_model, refuse_place
from vecuq.workflows.watch import NOBODY, Watch

DEFAULT_ALPHA = 0.01
# Seconds until a run gives up that waits for another one.
DEFAULT_WAIT = 60.0


@dataclass(frozen=True)
class Passage:
    """One file of the stream: which rows of the whole stream it holds, and what could be made of them."""

    path: str
    first_row: int
    n_rows: int
    n_missing: int  # rows that lack a value
    n_infinite: int  # rows with an infinite value
    n_watched: int  # rows that the joint score or some column could take
    is_stdin: bool = False
    n_skipped: int = 0  # rows that were left out, because they depend on others

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known of the file: it has no rows, or of those that count none could be watched."""
        return not self.n_watched and (self.n_skipped < self.n_rows or not self.n_rows)


@dataclass(frozen=True)
class Skipped:
    """A file that was not shown to the monitor, because an earlier run has counted the same content."""

    path: str
    counted: CountedFile


@dataclass(frozen=True)
class Monitored:
    """A monitor after the files that it was shown."""

    monitor: Monitor
    files: tuple[Passage, ...]
    first_row: int  # rows seen before this run, by the saved state
    skipped: tuple[Skipped, ...] = ()

    @property
    def unwatched(self) -> tuple[Passage, ...]:
        """The files of which no row could be watched."""
        return tuple(file for file in self.files if file.is_unknown)

    @property
    def blind(self) -> bool:
        """Whether nothing is known of some file, be it that it was counted before."""
        return bool(self.unwatched) or any(not one.counted.watched for one in self.skipped)

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
    thin: int | None = None,
    group: str | None = None,
    again: bool = False,
    wait: float = DEFAULT_WAIT,
    watch: Watch = NOBODY,
) -> Monitored:
    """Show the rows of table files, in that order, to a monitor; go on from ``state`` if it is there, and renew it.

    A state keeps the alpha, the ``thin`` and the calibration rows that it began with; others are refused. Nothing is
    saved unless every file could be read.

    For rows that depend on each other, ``thin`` takes every so many-th row, and ``group`` names the column of rows that
    come together, of which the first counts.

    A state also remembers which files it has counted, the last 10,000, by the SHA-256 of their bytes: a file that
    comes ``again`` is skipped unless that is true. Standard input is not remembered. While another run works with the
    state, this one waits, for ``wait`` seconds at most, and goes on from what that one has saved.
    """
    ranker = load_model(model)
    # A folder or a pattern is watched file by file, so that an alarm can name one.
    sources = [source for path in streams for source in TableSource.of(path).each()]
    rows = None if calibration is None else read_table(calibration, columns=ranker.columns, flip=ranker.flipped)
    if thin is not None and group is not None:
        raise SettingError("Give thin for rows that follow each other closely, or group for rows that come together.")
    begin = _Beginning(ranker, rows, alpha, thin)
    if state is None:
        return _observed(begin.monitor(), sources, group=group, watch=watch)
    reads = [model, *streams, *([] if calibration is None else [calibration])]
    refuse_place(state, writes="monitor", reads=reads, force=None)
    with locked(state, wait=in_range("wait", wait, 0.0), waiting=watch.waiting):
        watcher = begin.resumed(state) if Path(state).exists() else begin.monitor()
        done = _observed(watcher, sources, remember=True, again=again, group=group, watch=watch)
        if done.files:
            watcher.save(state)
    return done


@dataclass(frozen=True)
class _Beginning:
    """What a monitor begins with; a setting that is None is the default, or that of the state."""

    ranker: Ranker
    rows: ScoreTable | None
    alpha: float | None
    thin: int | None

    def monitor(self) -> Monitor:
        """Return a monitor that has seen nothing."""
        alpha = DEFAULT_ALPHA if self.alpha is None else self.alpha
        return Monitor(self.ranker, self.rows, alpha=alpha, thin=1 if self.thin is None else self.thin)

    def resumed(self, state: PathLike) -> Monitor:
        """Return the monitor of a state; refuse settings that cannot change on the way."""
        if saved_kind(state) != "monitor":
            raise ModelFileError(f"{state} is not the state of a monitor; choose another file.")
        found: Monitor = load(state, ranker=self.ranker)
        for name in ("alpha", "thin"):
            wanted, begun = getattr(self, name), getattr(found, name)
            if wanted is not None and wanted != begun:
                raise SettingError(
                    f"{state} was begun with {name}={begun:g}, which cannot become {wanted:g} on the way. "
                    f"Leave {name} out, or begin with another state file."
                )
        if self.rows is not None:
            _refuse_other_rows(state, found, self.rows)
        return found


def _refuse_other_rows(state: PathLike, found: Monitor, rows: ScoreTable) -> None:
    """Raise if the state was begun with other calibration rows than these."""
    anew = Monitor(found.ranker, rows, direction=found.direction, random_state=found.seed, thin=found.thin)
    begun, given = ([stream.calibration.scores for stream in one.streams] for one in (found, anew))
    if len(begun) != len(given) or not all(map(np.array_equal, begun, given)):
        raise SettingError(
            f"{state} was begun with other calibration rows, which cannot change on the way. "
            f"Leave the calibration table out, or begin with another state file."
        )


def _observed(
    watcher: Monitor,
    sources: Sequence[TableSource],
    *,
    remember: bool = False,
    again: bool = False,
    group: str | None = None,
    watch: Watch,
) -> Monitored:
    """Show the files to the monitor; skip those that it remembers, unless they are wanted again."""
    first, files, skipped = watcher.rows, list[Passage](), list[Skipped]()
    for source in sources:
        memory = _Memory(watcher, source) if remember and not source.is_stdin else None
        counted = memory.counted if memory is not None and not again else None
        if counted is not None:
            skipped.append(Skipped(str(source), counted))
            continue
        files.append(_observe(watcher, source, group, watch))
        if memory is not None:
            memory.keep(files[-1])
    return Monitored(watcher, tuple(files), first, tuple(skipped))


class _Memory:
    """What a monitor knows of one file, by its content."""

    def __init__(self, watcher: Monitor, source: TableSource) -> None:
        self._known, self._path = watcher.counted, source.parts[0].path
        self._facts = self._path.stat()
        with self._path.open("rb") as file:
            self._digest = file_digest(file, "sha256").digest()

    @property
    def counted(self) -> CountedFile | None:
        """When the file was counted; None if it was not."""
        return self._known.find(self._digest)

    def keep(self, passage: Passage) -> None:
        """Remember that the file was counted; one without rows was not, and is reported each time."""
        now = self._path.stat()
        if (now.st_size, now.st_mtime_ns) != (self._facts.st_size, self._facts.st_mtime_ns):
            raise TableError(
                f"{passage.path} changed while it was read; nothing was saved. Run again when it is whole."
            )
        if passage.n_rows:
            self._known.add(
                self._digest, CountedFile(int(time.time()), passage.n_rows, passage.n_watched + passage.n_skipped)
            )


def _observe(watcher: Monitor, source: TableSource, group: str | None, watch: Watch) -> Passage:
    ranker, infinite = watcher.ranker, 0
    first, missing, watched, skipped = watcher.rows, watcher.n_missing, watcher.n_watched, watcher.n_skipped
    reader = TableReader(source, columns=ranker.columns, alone=group is None)
    if group is not None:
        wanted_columns([group], reader.schema.names, purpose="named as the group of every row", where=str(source))
    for batch in reader.batches():
        table = ScoreTable.of(batch.select(ranker.columns), columns=ranker.columns, flip=ranker.flipped)
        watcher.observe(table, groups=None if group is None else batch[group].to_pylist())
        infinite += int(np.isinf(table.values).any(axis=1).sum())
        if watch.rows is not None:
            watch.rows(len(table))
    return Passage(
        str(source),
        first,
        watcher.rows - first,
        watcher.n_missing - missing,
        infinite,
        watcher.n_watched - watched,
        source.is_stdin,
        watcher.n_skipped - skipped,
    )
