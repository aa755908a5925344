"""CPU seconds of a process and of all below it, which may be Java with Python under it. Linux."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """Return user and system seconds of this process's tree, with those of children that have ended."""
    return cpu_seconds_of(os.getpid())


def cpu_seconds_of(process: int) -> float:
    """Return user and system seconds of the tree of a process, with those of children that have ended."""
    stats = _stats()
    return sum(stats[one][1] for one in _tree(process, stats)) / _TICKS


def tree_of(process: int) -> set[int]:
    """Return a process and all below it."""
    return _tree(process, _stats())


def _stats() -> dict[int, tuple[int, int]]:
    return {int(folder.name): _stat(folder) for folder in Path("/proc").iterdir() if folder.name.isdigit()}


def _tree(process: int, stats: dict[int, tuple[int, int]]) -> set[int]:
    tree, found = {process}, 0
    while len(tree) > found:
        found = len(tree)
        tree |= {one for one, (parent, _) in stats.items() if parent in tree}
    return tree


def _stat(folder: Path) -> tuple[int, int]:
    """Return the parent, and the ticks of a process and its ended children; nothing of one that has just ended."""
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, 0
    return int(fields[1]), sum(int(number) for number in fields[11:15])
