"""CPU seconds of this process and of all below it, which may be Java with Python under it. Linux."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """Return user and system seconds of the tree, with those of children that have ended."""
    stats = {int(folder.name): _stat(folder) for folder in Path("/proc").iterdir() if folder.name.isdigit()}
    tree, found = {os.getpid()}, 0
    while len(tree) > found:
        found = len(tree)
        tree |= {process for process, (parent, _) in stats.items() if parent in tree}
    return sum(stats[process][1] for process in tree) / _TICKS


def _stat(folder: Path) -> tuple[int, int]:
    """Return the parent, and the ticks of a process and its ended children; nothing of one that has just ended."""
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, 0
    return int(fields[1]), sum(int(number) for number in fields[11:15])
