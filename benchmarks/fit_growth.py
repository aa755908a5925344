"""Claim: the time of a fit grows with the rows, its memory hardly, and ten million rows need not fit in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import Claim, in_child
from vecuq import ScoreTable, fit_ranker, fit_stream
from vecuq.table import count_rows, read_batches

IN_MEMORY = {10_000: 5, 100_000: 5, 1_000_000: 3}
FROM_FILE = 10_000_000
PIECE = 1_000_000


def write_rows(path: Path, n: int) -> None:
    """Write four columns of gamma-distributed scores, a piece at a time."""
    rng = np.random.default_rng(0)
    schema = pa.schema([(f"score_{k}", pa.float64()) for k in range(4)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, PIECE):
            columns = [rng.gamma(1.0, size=min(PIECE, n - start)) for _ in range(4)]
            writer.write_batch(pa.RecordBatch.from_arrays([pa.array(c) for c in columns], schema=schema))


def rows_job(n: int) -> Callable[[], str]:
    """Prepare a fit of rows in memory."""
    rows = np.random.default_rng(0).gamma(1.0, size=(n, 4))
    return lambda: fit_ranker(rows).diagnostics.solver


def file_job(path: str) -> Callable[[], str]:
    """Prepare a fit of rows in a file, read twice."""

    def chunks():
        return (ScoreTable.of(batch) for batch in read_batches(path))

    return lambda: fit_stream(chunks, n_rows=count_rows(path)).diagnostics.solver


def run(quick: bool = False) -> list[Claim]:
    """Fit ever more rows, each number in a process of its own, and fit the exponent of the time."""
    spent = {n: in_child("benchmarks.fit_growth:rows_job", n, repeats=k) for n, k in IN_MEMORY.items()}
    if not quick:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write_rows(path, FROM_FILE)
            spent[FROM_FILE] = in_child("benchmarks.fit_growth:file_job", str(path), repeats=2)
    claims = [
        Claim(
            f"fit, {n:,} rows{' of a parquet file' if n == FROM_FILE else ''}",
            f"{run['cpu']:.3g} s, {run['grown']:.3f} GiB grown, {run['peak']:.3f} GiB peak, solver {run['result']}",
            "-",
            run["cpu"],
            " CPU s",
            goal=5 if n == 1_000_000 else None,
            at_least=False,
        )
        for n, run in spent.items()
    ]
    return claims + growth_claims(spent)


def growth_claims(spent: dict[int, dict]) -> list[Claim]:
    """Hold exponent and memory to their goals."""
    sizes, seconds = np.log([*spent]), np.log([run["cpu"] for run in spent.values()])
    last = np.diff(seconds)[-1] / np.diff(sizes)[-1]
    exponent = float(np.polyfit(sizes, seconds, 1)[0])
    claims = [
        Claim(
            f"fit, exponent of CPU time, {min(spent):,} to {max(spent):,} rows",
            f"{exponent:.2f}; over the last decade alone {last:.2f}",
            "dense: 2",
            exponent,
            "",
            goal=1.05,
            at_least=False,
        ),
        _memory("fit, 1,000,000 rows, memory above imports", spent[1_000_000]["grown"], 0.3),
    ]
    if FROM_FILE in spent:
        claims.append(_memory("fit, 10,000,000 rows of a parquet file, peak memory", spent[FROM_FILE]["peak"], 1.0))
    return claims


def _memory(name: str, gib: float, goal: float) -> Claim:
    return Claim(name, f"{gib:.3f} GiB", "-", gib, " GiB", goal=goal, at_least=False)
