"""``python -m vecuq.testing``: attack vecuq for some minutes, and print what came of it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from vecuq.testing.checks.commands import check_command
from vecuq.testing.examples import workspace
from vecuq.testing.hostile.bombs import BOMBS
from vecuq.testing.hostile.commands import GOOD_LINES
from vecuq.testing.hunt.batches import Limits, Tally
from vecuq.testing.hunt.running import fuzz
from vecuq.testing.registry import targets


def main() -> int:
    """Run the long hunt; exit code 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m vecuq.testing", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long new inputs are tried")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--finds", type=Path, default=Path(".fuzz"), help="folder in which finds are kept")
    parser.add_argument("--only", default="", help="only targets whose names begin so, comma-separated")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds after which one input counts as hanging")
    parser.add_argument("--seed", type=int, default=None, help="two runs with the same seed try the same inputs")
    given = parser.parse_args()
    seed = int(time.time()) if given.seed is None else given.seed
    wanted = tuple(given.only.split(","))
    names = [name for name in targets() if name.startswith(wanted)]
    _preload(names)
    sys.stdout.write(f"{len(names)} targets, {given.minutes:g} minutes, {given.jobs} processes, seed {seed}\n")
    sys.stdout.flush()
    how = {"finds": given.finds, "jobs": given.jobs, "limits": Limits(seconds=given.patience)}
    tallies = fuzz(names, seconds=60 * given.minutes, seed=seed, say=_say, **how)
    for line in table_of(tallies):
        _say(line)
    return int(any(tally.finds for tally in tallies.values()))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _preload(names: Sequence[str]) -> None:
    """Do once in this process what each forked one would do again: imports, fonts, the files to begin with."""
    for name in BOMBS.keys() & set(names):
        BOMBS[name]()
    commands = {name.removeprefix("command ") for name in names}
    for words in (line.split() for line in GOOD_LINES):
        if words[0] in commands:
            check_command(words, workspace())


def table_of(tallies: dict[str, Tally]) -> list[str]:
    """Return one line per target: inputs tried and taken, finds, largest memory, longest time."""
    heads = f"{'target':<22}{'tried':>9}{'taken':>9}{'finds':>7}{'peak MiB':>10}{'slowest s':>11}"
    rows = [
        f"{name:<22}{one.tried:>9,}{one.taken:>9,}{len(one.finds):>7}{one.peak:>10,}{one.slowest:>11.2f}"
        for name, one in sorted(tallies.items())
    ]
    total = Tally()
    for one in tallies.values():
        total.add(one)
    last = f"{'all':<22}{total.tried:>9,}{total.taken:>9,}{len(total.finds):>7}{total.peak:>10,}{total.slowest:>11.2f}"
    return [heads, *rows, last]


if __name__ == "__main__":
    sys.exit(main())
