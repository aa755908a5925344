"""Claim: importing vecuq, and asking its command for the version, takes less than half a second."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from benchmarks.measure import Claim

COMMANDS = {
    "python": [sys.executable, "-c", "pass"],
    "vecuq": [sys.executable, "-c", "import vecuq"],
    "cli": [str(Path(sys.executable).with_name("vecuq")), "--version"],
    "sklearn": [sys.executable, "-c", "import sklearn.ensemble"],
}
ROUNDS, GOAL = 10, 0.5


def wall(command: list[str]) -> float:
    """Return the seconds on the clock of a fresh process, the interpreter's own start included."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    return time.perf_counter() - start


def run(quick: bool = False) -> list[Claim]:
    """Start each in turn and keep the best."""
    rounds = [{name: wall(command) for name, command in COMMANDS.items()} for _ in range(ROUNDS)]
    best = {name: min(turn[name] for turn in rounds) for name in COMMANDS}
    yardstick = f"import sklearn.ensemble {best['sklearn']:.2f} s, python alone {best['python']:.3f} s"
    told = {"vecuq": ("import vecuq", GOAL), "cli": ("vecuq --version", None)}
    return [
        Claim(name, f"{best[key]:.3f} s", yardstick, best[key], " s", goal=goal, at_least=False)
        for key, (name, goal) in told.items()
    ]
