"""The long run: batches of attacks side by side, each in its own process, until the time is over."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from vecuq.testing.attack import Attack
from vecuq.testing.hunt.batches import CURRENT, RESULT, Limits, Tally, in_child, replay, run_batch, signature_of

_POLL = 0.05


@dataclass
class _Batch:
    """A process at work on one target."""

    process: int
    target: str
    folder: Path
    started: float


@dataclass
class Hunt:
    """What a run has found so far, and where it keeps it."""

    finds: Path
    limits: Limits
    say: Callable[[str], None]
    tallies: dict[str, Tally] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)

    def take(self, batch: _Batch, status: int) -> None:
        """Add what a batch came to; a process that died is a find of its own."""
        self.spent[batch.target] = self.spent.get(batch.target, 0.0) + time.monotonic() - batch.started
        result = batch.folder / RESULT
        if result.exists():
            tally = Tally(**json.loads(result.read_text()))
            kept = sorted(batch.folder.glob("find-*.json"))
        else:
            tally, kept = self._died(batch, status)
        self.tallies.setdefault(batch.target, Tally()).add(tally)
        for (signature, found), path in itertools.zip_longest(tally.finds.items(), kept):
            self._keep(signature, found, path)
        shutil.rmtree(batch.folder, ignore_errors=True)

    def _died(self, batch: _Batch, status: int) -> tuple[Tally, list[Path]]:
        """Return the find of a process that was killed or crashed: the input that it was at."""
        current = batch.folder / CURRENT
        late = time.monotonic() - batch.started > self.limits.seconds
        found = "time-out" if late else f"crash: the process ended with status {status}"
        if not current.exists():
            return Tally(finds={signature_of(Attack(batch.target), found): found}), []
        attack = Attack.load(current)
        attack.save(current, found=found)
        return Tally(tried=1, finds={signature_of(attack, found): found}), [current]

    def _keep(self, signature: str, found: str, path: Path | None) -> None:
        if signature in self.known:
            return
        self.known.add(signature)
        self.say(f"found  {signature}: {found[:300]}")
        if path is not None:
            Attack.load(path).keep(self.finds, signature)


def fuzz(
    names: Sequence[str],
    *,
    seconds: float,
    finds: Path,
    jobs: int = 1,
    seed: int = 0,
    limits: Limits | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Tally]:
    """Attack the named targets for some time; return what came of it by target.

    Finds of earlier runs are replayed first; those that are mended are deleted. Every new one is made small and kept
    as a file in ``finds``.

    Parameters
    ----------
    names
        Targets; :func:`vecuq.testing.targets` lists all.
    seconds
        How long new inputs are tried.
    finds
        Folder in which finds are kept.
    jobs
        Processes at once.
    seed
        Two runs with the same seed try the same inputs, as far as they get.
    limits
        What one input may take.
    say
        Called with a line about each find.
    """
    hunt = Hunt(finds, limits or Limits(), say)
    finds.mkdir(parents=True, exist_ok=True)
    _replay_all(hunt)
    over, number, running = time.monotonic() + seconds, itertools.count(), list[_Batch]()
    with tempfile.TemporaryDirectory(prefix="vecuq-fuzz-") as scratch:
        while running or time.monotonic() < over:
            while len(running) < jobs and time.monotonic() < over:
                # The target that had the least time so far.
                name = min(names, key=lambda one: (hunt.spent.get(one, 0.0), any(b.target == one for b in running)))
                hunt.spent[name] = hunt.spent.get(name, 0.0) + 1e-6
                begun = seed * 1_000_003 + next(number)
                running.append(_begin(hunt, name, begun, Path(scratch), left=over - time.monotonic()))
            running = _still_running(hunt, running)
            time.sleep(_POLL)
    return hunt.tallies


def _begin(hunt: Hunt, name: str, seed: int, scratch: Path, *, left: float) -> _Batch:
    folder = Path(tempfile.mkdtemp(dir=scratch))
    limits = replace(hunt.limits, batch=min(left, hunt.limits.batch))
    work = partial(run_batch, name, seed, folder, limits, hunt.known)
    return _Batch(in_child(work, hunt.limits), name, folder, time.monotonic())


def _still_running(hunt: Hunt, running: list[_Batch]) -> list[_Batch]:
    """Return the batches that go on; take in those that ended, and end those that hang."""
    left = []
    for batch in running:
        ended, status = os.waitpid(batch.process, os.WNOHANG)
        if not ended and _hangs(batch, hunt.limits):
            os.kill(batch.process, signal.SIGKILL)
            ended, status = os.waitpid(batch.process, 0)
        if ended:
            hunt.take(batch, status)
        else:
            left.append(batch)
    return left


def _hangs(batch: _Batch, limits: Limits) -> bool:
    """Whether a batch has been at one input for too long."""
    current = batch.folder / CURRENT
    since = current.stat().st_mtime if current.exists() else time.time() - (time.monotonic() - batch.started)
    return time.time() - since > limits.seconds


def _replay_all(hunt: Hunt) -> None:
    for path in sorted(hunt.finds.glob("*.json")):
        with tempfile.TemporaryDirectory(prefix="vecuq-fuzz-") as name:
            folder = Path(name)
            attack = Attack.load(path)
            attack.save(folder / CURRENT)
            batch = _Batch(
                in_child(partial(replay, path, folder, hunt.limits), hunt.limits),
                attack.target,
                folder,
                time.monotonic(),
            )
            running = [batch]
            before = len(hunt.known)
            while running:
                running = _still_running(hunt, running)
                time.sleep(_POLL)
        if len(hunt.known) == before:
            hunt.say(f"mended {path.name}")
            path.unlink()
