"""Claim: importing vecuq takes less than half a second; its command shows version and help in less than a quarter."""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.measure import Claim

COMMAND = [sys.executable, "-m", "vecuq"]
COMMANDS = {
    "python": [sys.executable, "-c", "pass"],
    "sklearn": [sys.executable, "-c", "import sklearn.ensemble"],
    "import vecuq": [sys.executable, "-c", "import vecuq"],
    "vecuq --version": [*COMMAND, "--version"],
    "vecuq --help": [*COMMAND, "--help"],
    "vecuq score --help": [*COMMAND, "score", "--help"],
}
GOALS = {"import vecuq": 0.5, "vecuq --version": 0.25, "vecuq --help": 0.25, "vecuq score --help": None}
ROUNDS = 10


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
    return [
        Claim(name, f"{best[name]:.3f} s", yardstick, best[name], " s", goal=goal, at_least=False)
        for name, goal in GOALS.items()
    ]
