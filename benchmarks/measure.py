"""How everything here is measured: seconds of CPU, peak memory in a process of its own, and a claim to hold them to."""

from __future__ import annotations

import gc
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "POT", "jax", "ott-jax", "vecuq")


@dataclass(frozen=True)
class Claim:
    """One measured figure beside its goal; no goal means that it is only reported."""

    name: str
    ours: str
    peer: str
    value: float
    unit: str = "x"
    goal: float | None = None
    at_least: bool = True

    @property
    def holds(self) -> bool | None:
        """Whether the figure reaches the goal; a figure that is no number never does."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    @property
    def cells(self) -> tuple[str, ...]:
        """The claim as the cells of a table."""
        sign = ">=" if self.at_least else "<="
        goal = "-" if self.goal is None else f"{sign} {self.goal:,g}{self.unit}"
        told = {None: "-", True: "yes", False: "**no**"}[self.holds]
        return self.name, self.ours, self.peer, f"{self.value:,.3g}{self.unit}", goal, told

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "holds": self.holds}


@dataclass(frozen=True)
class Spent:
    """What a call took: seconds of CPU over all threads, seconds on the clock, and what it returned."""

    cpu: float
    wall: float
    result: Any = None


def spent(call: Callable[[], Any]) -> Spent:
    """Run a call once and time it."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return Spent(time.process_time() - cpu, time.perf_counter() - wall, result)


def best_of(calls: dict[str, Callable[[], Any]], rounds: dict[str, int]) -> dict[str, Spent]:
    """Run the calls in turn, each as many rounds as it is given, and keep the best of each."""
    best: dict[str, Spent] = {}
    for turn in range(max(rounds.values())):
        for name, call in calls.items():
            if turn < rounds[name]:
                once = spent(call)
                if name not in best or once.cpu < best[name].cpu:
                    best[name] = once
    return best


def in_child(job: str, *args: Any, repeats: int = 1, one_thread: bool = True) -> dict[str, Any]:
    """Run ``module:function`` in a fresh process; the function prepares, and what it returns is called and timed.

    The answer holds the best ``cpu`` and ``wall`` seconds, ``grown``: the peak above the memory after all imports, and
    ``peak``, both in GiB, and the call's ``result``.
    """
    command = [sys.executable, "-m", "benchmarks.measure", job, json.dumps([args, repeats])]
    environment = {**os.environ, **(ONE_THREAD if one_thread else {})}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"{job}{args} failed:\n{done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _child(job: str, payload: str) -> None:
    args, repeats = json.loads(payload)
    module, _, function = job.partition(":")
    prepare = getattr(importlib.import_module(module), function)
    before = _memory("VmRSS")
    call = prepare(*args)
    runs = [spent(call) for _ in range(repeats)]
    peak = _memory("VmHWM")
    told = {"cpu": min(run.cpu for run in runs), "wall": min(run.wall for run in runs)}
    print(json.dumps({**told, "grown": peak - before, "peak": peak, "result": runs[-1].result}))


def _memory(field: str) -> float:
    """Return one line of this process's status in GiB.

    Not ``getrusage``: on Linux its peak survives exec, so that a child would report its parent's.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 2**20
    raise RuntimeError("Peak memory is read from /proc, which this system does not have.")


def free_gib() -> float:
    """Return the memory that a new process could take."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) / 2**20
    return 0.0


def machine() -> dict[str, str]:
    """Return the processor, its cores, the memory, and the versions of all that was measured."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    found = {"processor": models[0] if models else platform.processor(), "cores": str(os.cpu_count())}
    found["python"] = platform.python_version()
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


if __name__ == "__main__":
    _child(*sys.argv[1:])
