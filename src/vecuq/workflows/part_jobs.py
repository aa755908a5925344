"""A job over part files: the outputs appear together, finished ones outlive a kill, a list says what was made."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from vecuq._check import warn_user
from vecuq._run import Tick, as_done, resolve_jobs
from vecuq.errors import SettingError, TableError, VecuqError, VecuqWarning
from vecuq.table import PathLike
from vecuq.workflows.part_files import Bad, BadPartError, Made, Maker, Part, PartJob, without
from vecuq.workflows.part_folder import PartFolder
from vecuq.workflows.part_list import PartList, list_bytes
from vecuq.workflows.watch import NOBODY, Watch

# Makes the parts somewhere, and yields each with what became of it.
Engine = Callable[[Callable[[Part, Tick], Made | Bad], Sequence[Part], Tick | None], Iterator[tuple[Part, Made | Bad]]]
# So much to read is worth a second process, which takes about a second to start.
_WORTH_A_PROCESS = 2**24


# The list of what is finished is written so often at most, in seconds; and for so small a share of the time.
_PAUSE, _SHARE = 1.0, 0.05


@dataclass(frozen=True)
class PartsDone:
    """A finished job: what was made of every part, in the order of the inputs."""

    made: tuple[Made, ...]
    skipped: tuple[Bad, ...]
    n_kept: int  # parts that an earlier run had finished


def run_parts(
    job: PartJob,
    out: PathLike,
    *,
    engine: Engine,
    resume: bool = False,
    force: bool = False,
    skip_bad: bool = False,
    watch: Watch = NOBODY,
) -> PartsDone:
    """Make every part in a new folder beside ``out``, which takes its place in the end.

    Parameters
    ----------
    job
        What to do.
    out
        The folder of the outputs.
    engine
        What spreads the parts over processes.
    resume
        Go on with a job that was stopped; its model and options must be the same. Parts whose input has changed, or
        whose output has, are made again.
    force
        Replace files of these names in a folder that is there, and begin again what was stopped.
    skip_bad
        Leave out inputs that cannot be read, and say so in the list; otherwise the first one is an error.
    watch
        Called as rows are done.
    """
    place = PartFolder.of(out, job)
    if job.bad and not skip_bad:
        source, reason = next(iter(job.bad.items()))
        raise TableError(_refusal(Bad(source, reason), place, 0))
    with place.held():
        finished = None if force or place.path.exists() else place.finished(resume=resume)
        if finished is not None:
            progress = _already(place, finished)
            kept = len(progress.made)
        else:
            progress, kept = _made_now(place, engine, resume=resume, force=force, skip_bad=skip_bad, watch=watch)
    done = PartsDone(tuple(progress.in_order()), tuple(progress.skipped()), kept)
    _warn(done)
    return done


@dataclass
class _Progress:
    """Which parts are finished, and which cannot be read."""

    place: PartFolder
    made: dict[str, Made] = field(default_factory=dict)  # by name of the output
    bad: dict[str, str] = field(default_factory=dict)  # by source
    _next: float = 0.0  # when the list is written again

    @staticmethod
    def begun(place: PartFolder, *, resume: bool, force: bool) -> _Progress:
        """Begin a job, or go on with what is finished and unchanged."""
        found = place.begin(resume=resume, force=force)
        progress = _Progress(place, bad=dict(place.job.bad))
        known = {} if found is None else found.made(place.job.parts)
        kept = ((name, place.kept(made)) for name, made in known.items())
        progress.made = {name: made for name, made in kept if made is not None}
        return progress

    def note(self, part: Part, outcome: Made | Bad) -> None:
        """Remember, also for a resume, what became of a part."""
        if isinstance(outcome, Bad):
            self.bad[part.source] = outcome.reason
        else:
            self.made[part.name] = outcome
        if time.monotonic() >= self._next:
            self.write()

    def write(self) -> None:
        """Write the list of what is finished."""
        start = time.monotonic()
        self.place.write(list_bytes(self.place.job, self.in_order(), self.skipped()))
        end = time.monotonic()
        self._next = end + max(_PAUSE, (end - start) / _SHARE)

    def in_order(self) -> list[Made]:
        """Return what was made, in the order of the inputs."""
        return [self.made[part.name] for part in self.place.job.parts if part.name in self.made]

    def skipped(self) -> list[Bad]:
        """Return what cannot be read, in the order of the inputs."""
        return [Bad(part.source, self.bad[part.source]) for part in self.place.job.parts if part.source in self.bad]

    def leave(self) -> None:
        """Stop: what is finished stays, with its list."""
        with suppress(OSError, VecuqError):  # such as a full disk; what stopped the job is the error to report
            if self.made and self.place.path.is_dir():
                self.write()
        self.place.leave(self.in_order())


def _made_now(
    place: PartFolder, engine: Engine, *, resume: bool, force: bool, skip_bad: bool, watch: Watch
) -> tuple[_Progress, int]:
    """Make all parts that are not finished, and publish them; return how many were finished before, too."""
    progress = _Progress.begun(place, resume=resume, force=force)
    kept = len(progress.made)
    try:
        _make_missing(progress, engine, skip_bad=skip_bad, watch=watch)
        progress.write()
        place.publish(progress.in_order())
    except BaseException:
        progress.leave()
        raise
    return progress, kept


def _already(place: PartFolder, found: PartList) -> _Progress:
    """Return the progress of a job that has nothing left to do; refuse if anything has changed since."""
    progress = _Progress(place)
    known, reasons = found.made(place.job.parts), found.reasons()
    for part in place.job.parts:
        made = place.kept(known[part.name]) if part.name in known else None
        if made is not None:
            progress.made[part.name] = made
        elif part.source in reasons:
            progress.bad[part.source] = reasons[part.source]
        else:
            raise SettingError(
                f"{place.shown} is finished, but {part.source} or {part.name} has changed since; choose another "
                f"folder, or make all parts again with force=True and without resume=True."
            )
    return progress


def _make_missing(progress: _Progress, engine: Engine, *, skip_bad: bool, watch: Watch) -> None:
    place, job = progress.place, progress.place.job
    if watch.rows is not None:
        watch.rows(sum(made.counts["rows"] for made in progress.made.values()))
    missing = [part for part in without(job.parts, job.bad) if part.name not in progress.made]
    for part, outcome in engine(partial(make_part, job.make, place.path), missing, watch.rows):
        progress.note(part, outcome)
        if isinstance(outcome, Bad) and not skip_bad:
            raise TableError(_refusal(outcome, place, len(progress.made)))


def make_part(make: Maker, folder: Path, part: Part, tick: Tick) -> Made | Bad:
    """Make one part; made twice, by a retry or by two workers at once, it is the same file twice, and one stays."""
    target = folder / part.name
    try:
        counts, notes = make(part, target, tick)
    except BadPartError as error:
        return Bad(part.source, str(error))
    except VecuqError as error:
        raise type(error)(_named(part, error)) from None
    with target.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    facts = target.stat()
    return Made(part.name, counts, facts.st_size, digest, notes, facts.st_mtime_ns)


def _named(part: Part, error: VecuqError) -> str:
    return str(error) if part.source in str(error) else f"{part.source}: {error}"


def by_processes(parts: Sequence[Part], n_jobs: int | None) -> tuple[Engine, int]:
    """Return what spreads parts over processes of this machine, and how many threads each may use."""
    cores = resolve_jobs(-1 if n_jobs is None else n_jobs)
    small = sum(part.size for part in parts) < _WORTH_A_PROCESS
    processes = 1 if small else max(1, min(cores, len(parts)))
    return partial(_engine, n_jobs=processes), max(1, cores // processes)


def _engine(
    make: Callable[[Part, Tick], Made | Bad], parts: Sequence[Part], tick: Tick | None, *, n_jobs: int
) -> Iterator[tuple[Part, Made | Bad]]:
    return as_done(make, parts, n_jobs=n_jobs, tick=tick)


def _refusal(bad: Bad, place: PartFolder, n_made: int) -> str:
    kept, again = "", "run again"
    if n_made:
        kept = f" {n_made:,} of {len(place.job.parts):,} parts are finished and kept in {place.path}."
        again = "go on with resume=True"
    return f"{_said(bad)}.{kept} Correct the file and {again}, or leave it out with skip_bad=True."


def _said(bad: Bad) -> str:
    """Return what is wrong with a file, which is named once."""
    reason = bad.reason.rstrip(".")
    return reason if bad.source in reason else f"{bad.source}: {reason}"


def _warn(done: PartsDone) -> None:
    if done.skipped:
        more = f" And {len(done.skipped) - 1:,} more, see the manifest." if len(done.skipped) > 1 else ""
        many = "1 input was" if len(done.skipped) == 1 else f"{len(done.skipped):,} inputs were"
        warn_user(f"{many} left out: {_said(done.skipped[0])}.{more}", VecuqWarning)
    for note in dict.fromkeys(note for made in done.made for note in made.notes):
        where = [made.name for made in done.made if note in made.notes]
        warn_user(f"{where[0]}{f' and {len(where) - 1:,} more' if len(where) > 1 else ''}: {note}", VecuqWarning)
