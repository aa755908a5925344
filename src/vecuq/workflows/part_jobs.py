"""A job over part files: outputs appear whole, finished ones outlive a kill, a manifest says that all are there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from vecuq._check import warn_user
from vecuq._run import Tick, as_done, resolve_jobs
from vecuq._version import __version__
from vecuq.errors import TableError, VecuqError, VecuqWarning
from vecuq.table import kind_of
from vecuq.workflows.part_files import Bad, BadPartError, Made, Maker, Part, PartJob, without
from vecuq.workflows.part_progress import Progress
from vecuq.workflows.part_store import STAGING, PartStore
from vecuq.workflows.watch import NOBODY, Watch

# Makes the parts somewhere, and yields each with what became of it.
Engine = Callable[[Callable[[Part, Tick], Made | Bad], Sequence[Part], Tick | None], Iterator[tuple[Part, Made | Bad]]]
# So much to read is worth a second process, which takes about a second to start.
_WORTH_A_PROCESS = 2**24


@dataclass(frozen=True)
class PartsDone:
    """A finished job: what was made of every part, in the order of the inputs."""

    made: tuple[Made, ...]
    skipped: tuple[Bad, ...]
    n_kept: int  # parts that an earlier run had finished
    manifest: dict[str, Any]


def run_parts(
    job: PartJob,
    store: PartStore,
    *,
    engine: Engine,
    resume: bool = False,
    force: bool = False,
    skip_bad: bool = False,
    watch: Watch = NOBODY,
) -> PartsDone:
    """Make every part, put all of them in their places, and write the manifest.

    Parameters
    ----------
    job
        What to do.
    store
        Where the outputs go.
    engine
        What spreads the parts over processes.
    resume
        Go on with a job that was stopped; its model, options and inputs must be the same.
    force
        Replace what an earlier job wrote there.
    skip_bad
        Leave out inputs that cannot be read, and say so in the manifest; otherwise the first one is an error.
    watch
        Called as rows are done.
    """
    if job.bad and not skip_bad:
        source, reason = next(iter(job.bad.items()))
        raise TableError(_refusal(Bad(source, reason), store, 0, len(job.parts)))
    with store.held():
        progress = Progress.of(job, store, resume=resume, force=force)
        kept = len(progress.made)
        manifest = progress.manifest
        if manifest is None:
            try:
                _make_missing(job, store, progress, engine, skip_bad=skip_bad, watch=watch)
            except BaseException:
                progress.leave()
                raise
            manifest = manifest_of(job, progress)
            progress.publish(manifest)
    done = PartsDone(tuple(progress.in_order()), tuple(progress.skipped()), kept, manifest)
    _warn(done)
    return done


def _make_missing(
    job: PartJob, store: PartStore, progress: Progress, engine: Engine, *, skip_bad: bool, watch: Watch
) -> None:
    if watch.rows is not None:
        watch.rows(sum(made.counts["rows"] for made in progress.made.values()))
    missing = [part for part in without(job.parts, job.bad) if part.name not in progress.made]
    for part, outcome in engine(partial(make_part, job.make, store, progress.staging), missing, watch.rows):
        progress.note(part, outcome)
        if isinstance(outcome, Bad) and not skip_bad:
            raise TableError(_refusal(outcome, store, len(progress.made), len(job.parts)))


def make_part(make: Maker, store: PartStore, staging: str, part: Part, tick: Tick) -> Made | Bad:
    """Make one part under a name of its own, then give it its name among the finished ones.

    Made twice, by a retry or by two workers at once, it is the same file twice, and one of them stays.
    """
    with store.draft(kind_of(part.name)) as draft:
        try:
            counts, notes = make(part, draft, tick)
        except BadPartError as error:
            return Bad(part.source, str(error))
        except VecuqError as error:
            raise type(error)(_named(part, error)) from None
        with draft.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        made = Made(part.name, counts, draft.stat().st_size, digest, notes)
        store.keep(draft, f"{staging}/{part.name}")
    return made


def _named(part: Part, error: VecuqError) -> str:
    return str(error) if part.source in str(error) else f"{part.source}: {error}"


def manifest_of(job: PartJob, progress: Progress) -> dict[str, Any]:
    """Return what the manifest says; nothing in it depends on when, where or in how many runs the job was done."""
    parts = {part.name: part for part in job.parts}
    made = progress.in_order()
    return {
        "vecuq_manifest": 1,
        "vecuq": __version__,
        "job": job.verb,
        "model": job.model,
        "options": job.options,
        "counts": dict(job.total(made)),
        "parts": [
            {
                **parts[one.name].facts,
                "counts": one.counts,
                "output_size": one.size,
                "sha256": one.sha256,
                "notes": list(one.notes),
            }
            for one in made
        ],
        "skipped": [{"input": bad.source, "reason": bad.reason} for bad in progress.skipped()],
    }


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


def _refusal(bad: Bad, store: PartStore, n_made: int, n_parts: int) -> str:
    if not n_made:
        kept, again = "", "run again"
    elif store.resumable:
        kept = f" {n_made:,} of {n_parts:,} parts are finished and kept in {store.shown}/{STAGING}."
        again = "go on with resume=True"
    else:
        kept, again = "", "start again with force=True"
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
