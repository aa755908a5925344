"""One batch of attacks on one target, in a process of its own with bounded memory; what breaks is made small."""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vecuq.testing.attack import Attack, BrokenPromiseError
from vecuq.testing.checks.commands import last_lines

CURRENT, RESULT = "current.json", "result.json"


@dataclass(frozen=True)
class Limits:
    """What one input may take, in MiB above what the process had and in seconds; seconds of a batch, and to shrink."""

    memory: int = 512
    seconds: float = 60.0
    batch: float = 20.0
    shrink: float = 20.0


@dataclass
class Tally:
    """What came of the attacks on one target."""

    tried: int = 0
    taken: int = 0
    peak: int = 0  # MiB above what the process had before
    slowest: float = 0.0
    finds: dict[str, str] = field(default_factory=dict)  # what was found, by signature

    def add(self, other: Tally) -> None:
        """Add what another batch came to."""
        self.tried += other.tried
        self.taken += other.taken
        self.peak = max(self.peak, other.peak)
        self.slowest = max(self.slowest, other.slowest)
        self.finds |= other.finds


class _EnoughError(KeyboardInterrupt):
    """The time of the batch is over; Hypothesis lets an interrupt through."""


def signature_of(attack: Attack, found: str) -> str:
    """Return what two finds of the same cause share: the message without numbers, quotes and arrays."""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|[\d.,]+", "_", found.partition("\n")[0])
    facts = "".join(f" ({attack.facts[name]})" for name in ("where", "how") if name in attack.facts)
    return f"{attack.target}: {plain[:120]}{facts}"


def try_one(target: Any, attack: Attack, limits: Limits, tally: Tally) -> str | None:
    """Try one attack and count it; return what was found, or None."""
    before, start = _reset_peak(), time.perf_counter()
    found = None
    try:
        tally.taken += bool(target.check(attack))
    except BrokenPromiseError as broken:
        found = str(broken)
    except MemoryError:
        found = "memory: the limit of the process was reached"
    except Exception as error:
        found = f"check failed: {last_lines(error)}"
    seconds, grown = time.perf_counter() - start, _peak() - before
    tally.tried += 1
    tally.peak, tally.slowest = max(tally.peak, grown), max(tally.slowest, seconds)
    if grown > limits.memory:
        return f"memory: {grown:,} MiB for {sum(map(len, attack.files.values())):,} bytes"
    return found


def _reset_peak() -> int:
    """Make the process count its peak of memory anew, where that can be done; return what it has now, in MiB."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return _peak()
    return _peak()


def _peak() -> int:
    try:
        text = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return int(text.split("VmHWM:")[1].split()[0]) // 1024


def run_batch(name: str, seed: int, folder: Path, limits: Limits, known: set[str]) -> None:
    """Attack one target until the time of the batch is over or something new is found; write the result down."""
    from vecuq.testing.registry import targets

    target, tally, over = targets()[name], Tally(), time.monotonic() + limits.batch
    small: dict[str, tuple[Attack, str]] = {}

    def one(attack: Attack) -> None:
        # One input is tried however short the time.
        if tally.tried and time.monotonic() > over + (limits.shrink if small else 0.0):
            raise _EnoughError
        attack.save(folder / CURRENT)
        found = try_one(target, attack, limits, tally)
        if found is None:
            return
        signature = signature_of(attack, found)
        # One find at a time is made small; others wait for the next batch.
        if signature not in known and (not small or signature in small):
            small[signature] = (attack, found)
            raise AssertionError(signature)

    _hunt(target, one, seed)
    for signature, (attack, found) in small.items():
        tally.finds[signature] = found
        attack.save(folder / f"find-{len(tally.finds)}.json", found=found)
    (folder / RESULT).write_text(json.dumps(asdict(tally)))


def _hunt(target: Any, one: Any, seed: int) -> None:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    how: Any = settings(
        max_examples=100_000,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    attempt: Callable[..., Any] = given(target.attacks)
    test: Callable[[], None] = seeded(seed)(how(attempt(one)))
    try:
        test()
    except (Exception, KeyboardInterrupt):
        return


def replay(path: Path, folder: Path, limits: Limits) -> None:
    """Try an attack that was kept, and write down what came of it."""
    from vecuq.testing.registry import targets

    attack, tally = Attack.load(path), Tally()
    found = try_one(targets()[attack.target], attack, limits, tally)
    if found is not None:
        tally.finds[signature_of(attack, found)] = found
    (folder / RESULT).write_text(json.dumps(asdict(tally)))


def in_child(work: Any, limits: Limits) -> int:
    """Fork a process that does some work with bounded memory and in silence; return its id."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - as long as the process lives
        warnings.simplefilter("ignore")
        _bound_memory(limits)
        work()
        code = 0
    finally:
        os._exit(code)


def _bound_memory(limits: Limits) -> None:
    """Bound the address space: what the process has, what an input may take, and as much again for what only maps."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    most = pages * resource.getpagesize() + 4 * limits.memory * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
