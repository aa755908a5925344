"""Claim: a jsonl file of an id and four score columns is read, and written, at 300,000 rows/s or more."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.measure import Claim, in_child
from vecuq.table import read_batches, write_batches

N_ROWS = {False: 1_000_000, True: 300_000}
COLUMNS = ("entropy", "knn", "mahalanobis", "mutual_information")
GOAL = 300_000


def rows(n: int) -> pa.Table:
    """Return random scores with ids."""
    rng = np.random.default_rng(0)
    return pa.table({"id": [f"row-{k}" for k in range(n)], **{name: rng.random(n) for name in COLUMNS}})


def read_job(path: str) -> Callable[[], int]:
    """Prepare reading: two passes over the file, the first of which finds the types."""
    return lambda: sum(len(batch) for batch in read_batches(path, columns=COLUMNS))


def write_job(n: int, path: str) -> Callable[[], None]:
    """Prepare writing."""
    batches = rows(n).to_batches(max_chunksize=65_536)
    return lambda: write_batches(path, batches)


def json_read_job(path: str) -> Callable[[], int]:
    """Prepare one pass over the file with Python's own parser, which keeps nothing."""

    def call() -> int:
        with Path(path).open() as file:
            return sum(len(json.loads(line)) > 0 for line in file)

    return call


def json_write_job(n: int, path: str) -> Callable[[], None]:
    """Prepare writing dicts, made beforehand, with Python's own encoder."""
    dicts = rows(n).to_pylist()

    def call() -> None:
        with Path(path).open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in dicts)

    return call


def run(quick: bool = False) -> list[Claim]:
    """Read and write in processes of their own, three times each, and keep the best."""
    n = N_ROWS[quick]
    with tempfile.TemporaryDirectory() as folder:
        path, other = str(Path(folder) / "a.jsonl"), str(Path(folder) / "b.jsonl")
        written = in_child("benchmarks.table_files:write_job", n, path, repeats=3)
        read = in_child("benchmarks.table_files:read_job", path, repeats=3)
        json_read = in_child("benchmarks.table_files:json_read_job", path, repeats=3)
        json_written = in_child("benchmarks.table_files:json_write_job", n, other, repeats=3)
    pairs = {"read": (read, json_read), "written": (written, json_written)}
    return [
        Claim(
            f"jsonl, {n:,} rows of an id and {len(COLUMNS)} scores, {verb}",
            f"{ours['cpu']:.3g} s, peak {ours['peak']:.3f} GiB",
            f"Python's json alone {peer['cpu']:.3g} s ({n / peer['cpu']:,.0f} rows/s)",
            n / ours["cpu"],
            " rows/s",
            goal=GOAL,
        )
        for verb, (ours, peer) in pairs.items()
    ]
