"""What it costs to keep decisions and feedback: commits, rows and labels per second, replay, memory.

python benchmarks/service_keeping.py
"""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
import tempfile
import time
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa

from vecuq import Gate, fit_ranker
from vecuq._files import saved_header
from vecuq.service import ServeSettings, StoreSettings, keeping
from vecuq.service.keeping.desk import Desk
from vecuq.service.keeping.drift import Drift
from vecuq.service.recorder import Feedback, ScoredRows

CALLERS, SECONDS = 64, 5.0
COLUMNS = ("a", "b", "c", "d")


class Rows:
    """A gate on disk, and rows as a worker has scored them."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(0)
        values = rng.gamma(1.0, size=(3_000, len(COLUMNS)))
        correct = rng.random(3_000) > values.sum(axis=1) / 40
        table = pa.table({name: values[:, k] for k, name in enumerate(COLUMNS)})
        self.gate = Gate(fit_ranker(table[:1_000]), accuracy=0.9).fit(table[1_000:], correct[1_000:])
        self.path = folder / "gate.vecuq"
        self.gate.save(self.path)
        self.checksum, self.values = saved_header(self.path)["checksum"], values
        self.scores = self.gate.uncertainty(values)
        self.accept, self.p_wrong = self.gate.accept_scores(self.scores), self.gate.p_wrong_of_scores(self.scores)
        self.settings = ServeSettings(models={"gate": self.path}, store=StoreSettings(folder / "service.sqlite"))

    def some(self, start: int, n_rows: int) -> ScoredRows:
        """Return scored rows with ids that count up."""
        places = np.arange(start, start + n_rows) % len(self.values)
        ids = [f"q{k}" for k in range(start, start + n_rows)]
        return ScoredRows(
            "gate",
            self.checksum,
            COLUMNS,
            ids,
            self.values[places],
            self.scores[places],
            self.scores[places],
            self.accept[places],
            self.p_wrong[places],
        )


async def together(call) -> tuple[int, float, float]:
    """Return how many calls were answered, and the median and 99th percentile of their milliseconds."""
    times: list[float] = []
    end = time.monotonic() + SECONDS

    async def caller():
        while time.monotonic() < end:
            began = time.monotonic()
            await call()
            times.append(1e3 * (time.monotonic() - began))

    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    return len(times), float(np.median(times)), float(np.quantile(times, 0.99))


async def measure(recorder, rows: Rows, commits, name: str) -> None:
    """Print what a recorder does with many callers at once."""
    numbers, labels = count(0), count(0)

    async def one_row():
        await recorder.decided(rows.some(next(numbers), 1))

    async def thousand():
        await recorder.decided(rows.some(10**8 + 1_000 * next(numbers), 1_000))

    async def label():
        await recorder.feedback([Feedback(f"f{next(labels)}", correct=True)])

    cases = (("decided, 1 row", one_row, 1), ("feedback", label, 1), ("decided, 1,000 rows", thousand, 1_000))
    for what, call, size in cases:
        before, cpu = commits(), time.process_time()
        done, median, late = await together(call)
        cpu = time.process_time() - cpu
        print(
            f"{name:6} {what:20} {done * size / SECONDS:9,.0f} /s  {(commits() - before) / SECONDS:5,.0f} commits/s  "
            f"median {median:6.1f} ms  p99 {late:6.1f} ms  CPU here {1e6 * cpu / (done * size):6.1f} us each"
        )


async def local(rows: Rows) -> None:
    """Measure a recorder in this process."""
    async with keeping.local_recorder(rows.settings) as keeper:
        await measure(keeper, rows, lambda: keeper.writer.commits, "local")


async def remote(rows: Rows, folder: Path) -> None:
    """Measure a recorder whose keeper is another process."""
    private = Path(tempfile.mkdtemp(dir=folder))
    keeper = multiprocessing.get_context("spawn").Process(
        target=keeping.run_keeper, args=(rows.settings, str(private / "k"))
    )
    keeper.start()
    async with keeping.remote_recorder(str(private / "k"), patience=60.0) as recorder:
        await recorder.query("gauges")
        await measure(recorder, rows, lambda: 0, "remote")
    keeper.terminate()
    keeper.join()


def replay(rows: Rows, n_events: int = 100_000) -> None:
    """Print how long a start takes after a crash."""
    desk = Desk(rows.settings, Drift(lambda *state: None))
    desk.open()
    desk.connection.execute("BEGIN")
    for k in range(n_events):
        desk.decide(rows.some(2 * 10**9 + k, 1), 0.0)
    desk.connection.execute("COMMIT")
    size = desk.path.stat().st_size
    desk._stack.close()  # as a crash would, without a checkpoint
    began, cpu = time.monotonic(), time.process_time()
    desk = Desk(rows.settings, Drift(lambda *state: None))
    desk.open()
    print(
        f"replay {n_events:,} events: {time.monotonic() - began:.2f} s ({time.process_time() - cpu:.2f} s CPU), "
        f"database {size / 2**20:.0f} MiB, {desk.gates.live['gate'].decided:,} rows decided"
    )
    began = time.monotonic()
    desk.gates.save_all()
    print(f"checkpoint of it: {time.monotonic() - began:.3f} s")
    desk.close()


def main() -> None:
    """Measure everything in a folder that goes."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Rows(Path(folder))
        asyncio.run(local(rows))
        rows.settings.store.path.unlink()
        asyncio.run(remote(rows, Path(folder)))
        rows.settings.store.path.unlink()
        replay(rows)
        print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:.0f} MiB")


if __name__ == "__main__":
    main()
