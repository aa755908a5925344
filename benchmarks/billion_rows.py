"""Claim: a billion rows are fitted on one machine, in one pass and bounded memory.

``python -m benchmarks.billion_rows`` generates the rows batch by batch in the processes that summarise them;
``--rows 1e7`` fits fewer. It takes about ten minutes on two cores, and `make bench` leaves it out.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from functools import partial

import numpy as np

from vecuq import PartialFit, ScoreTable
from vecuq._run import in_order

COLUMNS = ("a", "b", "c", "d")
BATCH = 500_000


def batch_of(number: int) -> ScoreTable:
    """Return a batch of exponential scores, always the same for its number."""
    return ScoreTable(COLUMNS, np.random.default_rng(number).standard_exponential((BATCH, len(COLUMNS))))


def gathered(start: PartialFit, number: int) -> tuple[PartialFit, float, float, int]:
    """Return what a batch leaves behind, the CPU of making and of summarising it, and the peak memory so far."""
    begin = time.process_time()
    rows = batch_of(number)
    made = time.process_time()
    part = start.empty().update(rows, first_row=number * BATCH)
    done = time.process_time()
    return part, made - begin, done - made, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run(n_rows: int, n_jobs: int) -> dict[str, float]:
    """Fit so many rows and return what it took."""
    begin, start = time.perf_counter(), PartialFit(COLUMNS, n_rows=n_rows)
    total, making, gathering, peak = start, 0.0, 0.0, 0
    for part, made, done, memory in in_order(partial(gathered, start), range(n_rows // BATCH), n_jobs=n_jobs):
        total, making, gathering, peak = total + part, making + made, gathering + done, max(peak, memory)
    ranker = total.fit()
    return {
        "rows": total.count,
        "held back": ranker.diagnostics.n_held,
        "seconds": time.perf_counter() - begin,
        "CPU of making rows": making,
        "CPU of summarising": gathering,
        "ns of CPU per row": 1e9 * gathering / total.count,
        "peak MiB of a worker": peak,
        "peak MiB of this process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "bytes of a part": len(part.to_bytes()),
        "bytes of the whole": len(total.to_bytes()),
    }


def main() -> None:
    """Print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.billion_rows", description=__doc__)
    parser.add_argument("--rows", type=float, default=1e9)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    for name, value in run(int(asked.rows), asked.jobs).items():
        print(f"{name}: {value:,.6g}")


if __name__ == "__main__":
    main()
