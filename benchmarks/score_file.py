"""Claim: scoring a parquet file takes at most three times as long as reading and writing it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fit_growth import write_rows
from benchmarks.measure import Claim, in_child
from vecuq import fit_ranker, workflows
from vecuq.table import read_table

N_ROWS = {False: 10_000_000, True: 1_000_000}
N_CALIBRATION = 10_000
BATCH = 65_536


def score_job(model: str, new: str, out: str) -> Callable[[], int]:
    """Prepare ``vecuq score``."""
    return lambda: workflows.score(model, new, out).n_rows


def copy_job(new: str, out: str) -> Callable[[], None]:
    """Prepare reading the file and writing it with two more columns of random numbers, made beforehand."""
    pool = np.random.default_rng(3).random(BATCH * 8)
    rng = np.random.default_rng(4)

    def column(n: int) -> pa.Array:
        start = int(rng.integers(len(pool) - n))
        return pa.array(pool[start : start + n])

    def call() -> None:
        with pq.ParquetFile(new) as file:
            extra = [pa.field("uncertainty", pa.float64()), pa.field("p_value", pa.float64())]
            with pq.ParquetWriter(out, pa.schema([*file.schema_arrow, *extra])) as writer:
                for batch in file.iter_batches(batch_size=BATCH):
                    for field in extra:
                        batch = batch.append_column(field, column(len(batch)))  # noqa: PLW2901
                    writer.write_batch(batch)

    return call


def run(quick: bool = False) -> list[Claim]:
    """Score and copy the same file in turn, each in a process of its own."""
    n = N_ROWS[quick]
    with tempfile.TemporaryDirectory() as folder:
        new, out, copied, model = (
            str(Path(folder) / name) for name in ("a.parquet", "b.parquet", "c.parquet", "m.vecuq")
        )
        write_rows(Path(folder) / "calibration.parquet", N_CALIBRATION)
        fit_ranker(read_table(Path(folder) / "calibration.parquet")).save(model)
        write_rows(Path(new), n)
        runs = [
            (
                in_child("benchmarks.score_file:copy_job", new, copied, one_thread=False),
                in_child("benchmarks.score_file:score_job", model, new, out, one_thread=False),
            )
            for _ in range(3)
        ]
        sizes = [Path(path).stat().st_size / 2**20 for path in (out, copied)]
    copy, ours = (min((pair[k] for pair in runs), key=lambda run: run["wall"]) for k in (0, 1))
    return [
        Claim(
            f"vecuq score, {n:,} rows of a parquet file, time over reading and writing alone",
            f"{ours['wall']:.3g} s ({n / ours['wall']:,.0f} rows/s, {ours['cpu']:.3g} CPU s), {sizes[0]:,.0f} MiB",
            f"{copy['wall']:.3g} s ({copy['cpu']:.3g} CPU s), {sizes[1]:,.0f} MiB",
            ours["wall"] / copy["wall"],
            goal=3,
            at_least=False,
        ),
        Claim(
            f"vecuq score, {n:,} rows of a parquet file, peak memory",
            f"{ours['peak']:.3f} GiB",
            f"{copy['peak']:.3f} GiB",
            ours["peak"],
            " GiB",
        ),
    ]
