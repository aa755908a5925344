"""Claim: a cluster of two processes takes at most 1.15 times the CPU of one machine, and 2 times reading and writing.

``python -m benchmarks.cluster_dask --rows 100000000`` generates that many rows of four scores as parquet files, fits
and scores them on one machine and with Dask, and removes all of it. Every route runs in a process of its own; seconds
of CPU and peak memory are those of that process and all that it started.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import ONE_THREAD, Claim

N_ROWS = {False: 10_000_000, True: 400_000}
N_FILES = {False: 20, True: 8}
PARTITIONS = {False: (10, 100, 1_000), True: (10, 100)}
FEW_ROWS = 200_000
N_CALIBRATION = 20_000
COLUMNS = [f"s{k}" for k in range(4)]
ROWS_AT_ONCE = 1_000_000
EXTRA = ("uncertainty", "p_value")


class Run(NamedTuple):
    """What a route took, with all processes that it started."""

    cpu: float
    wall: float
    peak: float  # of the largest process, in GiB


def write_files(folder: Path, n_rows: int, n_files: int) -> None:
    """Write rows of four scores into part files."""
    folder.mkdir()
    ends = np.linspace(0, n_rows, n_files + 1).astype(int)
    for number, (start, stop) in enumerate(itertools.pairwise(ends)):
        rng = np.random.default_rng(number)
        with pq.ParquetWriter(
            folder / f"part-{number:05d}.parquet", pa.schema([(c, pa.float64()) for c in COLUMNS])
        ) as out:
            for first in range(start, stop, ROWS_AT_ONCE):
                out.write_table(pa.table(scores(rng, min(ROWS_AT_ONCE, stop - first))))


def scores(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Return scores that rise together with a hidden difficulty."""
    hidden = rng.gamma(2.0, size=n)
    return {name: hidden * rng.gamma(1.0 + k, size=n) for k, name in enumerate(COLUMNS)}


def main() -> None:
    """Run one route (used by this module itself), or all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_dask", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=None, help="where the rows are generated; removed afterwards")
    parser.add_argument("--route", nargs=3, default=None, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.route:
        name, source, out = asked.route
        ROUTES[name](source, out)
        return
    for claim in compared(asked.rows, asked.files, asked.folder):
        print(" | ".join(claim.cells), flush=True)
    for claim in overheads(PARTITIONS[False]):
        print(" | ".join(claim.cells), flush=True)


def run(quick: bool = False) -> list[Claim]:
    """Compare the routes on fewer rows than the full claim needs."""
    return [*compared(N_ROWS[quick], N_FILES[quick], None), *overheads(PARTITIONS[quick])]


def compared(n_rows: int, n_files: int, place: Path | None) -> list[Claim]:
    """Fit and score the same files on one machine and with Dask."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        source = Path(folder) / "in"
        write_files(source, n_rows, n_files)
        save_model(Path(folder) / "m.vecuq")
        took = {name: measured(name, source, Path(folder) / name) for name in ROUTES if name not in APART}
    took["start"] = measured("start", Path(), Path())
    return [*_of("fit", took, "read", n_rows), *_of("score", took, "copy", n_rows)]


def _of(verb: str, took: dict[str, Run], least: str, n_rows: int) -> list[Claim]:
    dask, one, plain, start = took[f"dask_{verb}"], took[f"one_{verb}"], took[least], took["start"]
    shown = {
        name: f"{run.cpu:.1f} CPU s, {run.wall:.1f} s, {n_rows / run.wall:,.0f} rows/s, {run.peak:.2f} GiB"
        for name, run in (("dask", dask), ("one", one), ("plain", plain))
    }
    begun = f" (of which starting the cluster: {start.cpu:.1f} CPU s)"
    name = f"Dask {verb} of {n_rows:,} rows, CPU over"
    return [
        Claim(
            f"{name} one machine", shown["dask"] + begun, shown["one"], dask.cpu / one.cpu, goal=1.15, at_least=False
        ),
        Claim(f"{name} one machine, both after their start", "-", "-", (dask.cpu - start.cpu) / one.cpu),
        Claim(f"{name} {least} alone", shown["dask"], shown["plain"], dask.cpu / plain.cpu, goal=2, at_least=False),
    ]


def overheads(partitions: tuple[int, ...]) -> list[Claim]:
    """Share the same rows among more and more partitions, on a cluster that has worked before."""
    with tempfile.TemporaryDirectory() as folder:
        save_model(Path(folder) / "m.vecuq")
        for n in (1, *partitions):
            write_files(Path(folder) / f"in{n}", FEW_ROWS, n)
        words = [str(folder), ",".join(map(str, (1, *partitions)))]
        said = subprocess.run(_words("grow", *words), env=_env(), capture_output=True, text=True, check=True)  # noqa: S603
    took = json.loads(said.stdout.splitlines()[-1])
    return [
        Claim(
            f"Dask {verb}, CPU per partition with {n:,} partitions",
            f"{took[verb][str(n)]:.2f} CPU s",
            f"{took[verb]['1']:.2f} CPU s in one",
            1_000 * (took[verb][str(n)] - took[verb]["1"]) / n,
            " ms",
            goal=5,
            at_least=False,
        )
        for verb in ("fit", "score")
        for n in partitions
    ]


def grow(folder: str, counts: str) -> None:
    """Fit and score the same rows in several numbers of partitions; print the CPU of client and workers."""
    from distributed import Client, LocalCluster

    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        LocalCluster(**how, scheduler_kwargs={"dashboard_address": "127.0.0.1:0"}) as cluster,
        Client(cluster) as client,
    ):
        took: dict[str, dict[str, float]] = {"fit": {}, "score": {}}
        for turn in range(3):  # the first one warms up
            for n in counts.split(","):
                for verb, route in (("fit", dask_fit), ("score", dask_score)):
                    before = _cpu(client)
                    route(f"{folder}/in{n}", f"{folder}/{verb}{n}-{turn}")
                    spent = _cpu(client) - before
                    took[verb][n] = min(spent, took[verb].get(n, spent)) if turn > 1 else spent
    print(json.dumps(took))


def _cpu(client) -> float:
    return time.process_time() + sum(client.run(time.process_time).values())


def _words(*route: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.cluster_dask", "--route", *route]


def _env() -> dict[str, str]:
    return {**os.environ, **ONE_THREAD}


def measured(route: str, source: Path, out: Path) -> Run:
    """Run a route in a process of its own; return what it and its children took."""
    start = time.perf_counter()
    process = subprocess.Popen(_words(route, str(source), str(out)), env=_env())  # noqa: S603
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{route} failed")
    return Run(used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 2**20)


def save_model(path: Path) -> None:
    """Save the model that all routes score with."""
    from vecuq import fit_ranker

    fit_ranker(pa.table(scores(np.random.default_rng(99), N_CALIBRATION))).save(path)


def _model(out: str) -> str:
    return str(Path(out).parent / "m.vecuq")


def start(source: str, out: str) -> None:
    """Start a cluster on this machine, and close it."""
    from vecuq.cluster import dask

    with dask.part_engine():
        pass


def read(source: str, out: str) -> None:
    """Only read the rows, in two processes."""
    from vecuq._run import as_done

    list(as_done(_read_one, sorted(Path(source).iterdir()), n_jobs=2))


def _read_one(path: Path, tick: Callable[[int], None]) -> int:
    from vecuq.table import read_batches

    return sum(len(batch) for batch in read_batches(path, columns=COLUMNS, alone=True))


def copy(source: str, out: str) -> None:
    """Only read the rows and write them with two more columns, in two processes."""
    from vecuq._run import as_done

    Path(out).mkdir()
    jobs = [(path, Path(out) / path.name) for path in sorted(Path(source).iterdir())]
    list(as_done(_copy_one, jobs, n_jobs=2))


def _copy_one(job: tuple[Path, Path], tick: Callable[[int], None]) -> None:
    from vecuq.table import read_batches, write_batches

    pool = np.random.default_rng(3).random(2**18)

    def batches():
        for batch in read_batches(job[0], columns=COLUMNS):
            more = batch
            for name in EXTRA:
                more = more.append_column(name, pa.array(pool[: len(batch)]))
            yield more

    write_batches(job[1], batches())


def one_fit(source: str, out: str) -> None:
    """Fit on one machine."""
    from vecuq import workflows

    workflows.fit(source, f"{out}.vecuq", columns=COLUMNS)


def one_score(source: str, out: str) -> None:
    """Score on one machine."""
    from vecuq import workflows

    workflows.score_parts(_model(out), source, out)


def dask_fit(source: str, out: str) -> None:
    """Fit with Dask."""
    from vecuq.cluster import dask

    dask.fit(source, columns=COLUMNS).save(f"{out}.vecuq")


def dask_score(source: str, out: str) -> None:
    """Score with Dask."""
    from vecuq.cluster import dask

    dask.score(_model(out), source, out)


ROUTES: dict[str, Callable[[str, str], None]] = {
    route.__name__: route for route in (start, read, copy, one_fit, one_score, dask_fit, dask_score, grow)
}
# What is measured by itself, and not beside the others.
APART = ("start", "grow")


if __name__ == "__main__":
    main()
