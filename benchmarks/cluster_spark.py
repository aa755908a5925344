"""Spark beside the library in one process: rows per second of a fit and of scores, of one parquet folder.

``.venv-spark/bin/python -m benchmarks.cluster_spark [--rows 20000000] [--cores 2]`` (``make test-spark`` makes the
environment). The CPU seconds of Spark are those of this process, of Java and of all Python workers.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.fit_growth import write_rows
from benchmarks.process_tree import cpu_seconds
from vecuq import PartialFit, Ranker, load, workflows
from vecuq.cluster.spark import fit, local_session, score

N_ROWS = 20_000_000
PARTS = 8
CALIBRATION = 10_000


@dataclass(frozen=True)
class Run:
    """What a job took."""

    job: str
    rows: int
    cpu: float
    wall: float

    def line(self) -> str:
        """Return a row of the table."""
        speeds = f"{self.rows / self.wall:,.0f} | {self.rows / self.cpu:,.0f}"
        return f"| {self.job} | {self.wall:.1f} | {self.cpu:.1f} | {speeds} |"


def timed(job: str, rows: int, call: Callable[[], Any]) -> Run:
    """Run a job once; CPU of this process and all below it, whether they still run or have ended."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    call()
    return Run(job, rows, cpu_seconds() - cpu, time.perf_counter() - wall)


def write_folder(folder: Path, n: int) -> None:
    """Write the rows as part files, of the size that Spark makes partitions of."""
    folder.mkdir()
    for k in range(PARTS):
        write_rows(folder / f"part-{k}.parquet", n // PARTS)


def library_runs(folder: Path, place: Path, n: int) -> list[Run]:
    """Fit and score without an engine, in this process; scoring takes all cores."""
    model = place / "library.vecuq"
    return [
        timed("library: fit", n, lambda: workflows.fit(folder, model, n_jobs=1)),
        timed("library: score, write parquet", n, lambda: workflows.score(model, folder, place / "library.parquet")),
    ]


def spark_runs(spark: Any, folder: Path, place: Path, n: int) -> list[Run]:
    """Fit and score on Spark, with its workers started and Java warm."""
    df, model, columns = spark.read.parquet(str(folder)), place / "library.vecuq", [f"score_{k}" for k in range(4)]
    ranker: Ranker = load(model)
    score(ranker, df.limit(1_000)).count()
    return [
        timed("Spark: fit", n, lambda: fit(df, columns=columns, flip=[], n_rows=n)),
        timed("Spark: score, write parquet", n, lambda: score(ranker, df).write.parquet(str(place / "spark"))),
        timed("Spark: read and write alone", n, lambda: df.write.parquet(str(place / "copy"))),
    ]


def bytes_per_partition(folder: Path, n: int) -> tuple[int, int]:
    """Return what one partition sends to be added, with the number of all rows given and without."""
    part = pq.read_table(folder / "part-0.parquet")
    sizes = [len(PartialFit(n_rows=known).update(part).to_bytes()) for known in (n, None)]
    return sizes[0], sizes[1]


def run(n: int = N_ROWS, cores: int = 2) -> list[str]:
    """Measure everything, and return the lines of a table."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        write_folder(place / "rows", n)
        runs = library_runs(place / "rows", place, n)
        known, unknown = bytes_per_partition(place / "rows", n)
        spark = local_session(cores=cores)
        try:
            runs += spark_runs(spark, place / "rows", place, n)
        finally:
            spark.stop()
    head = ["| job | s | CPU s | rows/s | rows per CPU s |", "|---|---|---|---|---|"]
    sizes = f"One partition sends {known / 1e6:.2f} MB with n_rows given, {unknown / 1e6:.2f} MB without."
    return [*head, *(one.line() for one in runs), sizes]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--cores", type=int, default=2)
    asked = parser.parse_args()
    print(*run(asked.rows, asked.cores), sep="\n")


if __name__ == "__main__":
    main()
