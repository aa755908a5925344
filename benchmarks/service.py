"""Claim: the service answers single rows at least 8 times as fast as a plain FastAPI route, and loses no memory.

Both run in the same minutes on this machine, under Debian's ``wrk`` with 64 connections. Where other programs share
the cores, the CPU time per request is the firmer figure.
"""

from __future__ import annotations

import http.client
import io
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pydantic import BaseModel

from benchmarks.measure import ONE_THREAD, Claim
from benchmarks.process_tree import cpu_seconds_of, tree_of
from vecuq import fit_ranker, load

COLUMNS = ("entropy", "knn", "energy", "mutual_information")
SECONDS = {False: 10, True: 3}
ROUNDS = {False: 3, True: 1}
N_ROWS = {False: 1_000_000, True: 500_000}  # a request may have a million
N_REQUESTS = {False: 200_000, True: 20_000}
CONNECTIONS = 64
ARROW = "application/vnd.apache.arrow.stream"
_ROW = '{"entropy":1.25,"knn":0.5,"energy":2.125,"mutual_information":3.5}'
_SCRIPT = f"""wrk.method = "POST"
wrk.body = '{{"rows":[{_ROW}]}}'
wrk.headers["content-type"] = "application/json"
done = function(summary, latency, requests)
  local e = summary.errors
  print(string.format("FOUND %d %f %f %d", summary.requests, summary.duration / 1e6, latency:percentile(99) / 1e3,
    e.connect + e.read + e.write + e.status + e.timeout))
end
"""


class Load(NamedTuple):
    """What wrk saw, and what the server spent."""

    requests: int
    per_second: float
    p99: float  # milliseconds
    errors: int
    cpu: float  # microseconds per request


class Body(BaseModel):
    """Rows by column."""

    rows: list[dict[str, float | None]]


def plain_app(model: str, kind: str):
    """Return the route that one writes first: FastAPI, a model of the body, one row at a time.

    As its documents say, a function that computes is a plain ``def``, which FastAPI calls in a thread; ``async``
    computes in the event loop instead, and keeps all others waiting.
    """
    from fastapi import FastAPI

    app, ranker = FastAPI(), load(model)

    def score(body: Body) -> dict:
        rows = {name: np.array([row[name] for row in body.rows], dtype=float) for name in ranker.columns}
        found = ranker.rank(rows)
        pairs = zip(found.uncertainty.tolist(), found.p_values.tolist(), strict=True)
        return {"rows": [{"uncertainty": score, "p_value": p_value} for score, p_value in pairs]}

    async def score_in_loop(body: Body) -> dict:
        return score(body)

    app.post("/score")(score if kind == "def" else score_in_loop)
    return app


@contextmanager
def served(words: list[str]) -> Iterator[tuple[int, int]]:
    """Run a server as a process of its own; yield its port and process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, *words, "--port", str(port)], env={**os.environ, **ONE_THREAD}, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(600):
            if answered(port) == 200:
                break
            time.sleep(0.1)
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def answered(port: int) -> int | None:
    """Return the status of one request; None if nobody answers."""
    asked = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        asked.request("POST", "/score", f'{{"rows":[{_ROW}]}}', {"content-type": "application/json"})
        return asked.getresponse().status
    except OSError:
        return None
    finally:
        asked.close()


def load_on(port: int, process: int, folder: Path, *, seconds: float) -> Load:
    """Ask for one row at a time, over many connections."""
    script = folder / "rows.lua"
    script.write_text(_SCRIPT)
    before = cpu_seconds_of(process)
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(script)]
    printed = subprocess.run(  # noqa: S603
        [*command, f"http://127.0.0.1:{port}/score"], capture_output=True, text=True, check=True
    ).stdout
    count, duration, p99, errors = re.search(r"FOUND (\d+) ([\d.]+) ([\d.]+) (\d+)", printed).groups()
    spent = cpu_seconds_of(process) - before
    return Load(int(count), int(count) / float(duration), float(p99), int(errors), 1e6 * spent / max(int(count), 1))


def ours(model: str, *more: str) -> list[str]:
    """Return the command of the service."""
    return ["-m", "vecuq", "serve", model, *more]


def middle(runs: list[Load]) -> Load:
    """Return the run in the middle, by requests per second."""
    return sorted(runs, key=lambda run: run.per_second)[len(runs) // 2]


def single_rows(model: str, folder: Path, quick: bool) -> list[Claim]:
    """Both servers in turn, and two workers."""
    commands = {
        "ours": ours(model),
        "plain": ["-m", "benchmarks.service", model, "def"],
        "async": ["-m", "benchmarks.service", model, "async"],
        "two": ours(model, "--workers", "2"),
    }
    found: dict[str, list[Load]] = {name: [] for name in commands}
    for _ in range(ROUNDS[quick]):
        for name, words in commands.items():
            with served(words) as (port, process):
                load_on(port, process, folder, seconds=1)
                found[name].append(load_on(port, process, folder, seconds=SECONDS[quick]))
    best, two, plain, in_loop = (middle(found[name]) for name in ("ours", "two", "plain", "async"))
    errors = sum(run.errors for runs in found.values() for run in runs)
    alone, with_two, peer, other = (
        f"{run.per_second:,.0f} requests/s, p99 {run.p99:.3g} ms, {run.cpu:.3g} us CPU each"
        for run in (best, two, plain, in_loop)
    )
    head = f"one row per request, {CONNECTIONS} connections"
    return [
        Claim(
            f"{head}, requests/s over a plain FastAPI route",
            alone,
            peer,
            best.per_second / plain.per_second,
            goal=8,
        ),
        Claim(f"{head}, CPU per request of a plain route over ours", alone, peer, plain.cpu / best.cpu, goal=8),
        Claim(f"{head}, requests/s over an async FastAPI route", alone, other, best.per_second / in_loop.per_second),
        Claim(f"{head}, one worker", alone, "-", best.per_second, " requests/s", goal=8_000),
        Claim(f"{head}, one worker, p99", alone, "-", best.p99, " ms", goal=30, at_least=False),
        Claim(f"{head}, two workers", with_two, "-", two.per_second, " requests/s"),
        Claim(f"{head}, errors of all runs", f"{errors}", "-", errors, "", goal=0, at_least=False),
    ]


def stream_of(n_rows: int) -> bytes:
    """Return rows as an Arrow stream."""
    rng, out = np.random.default_rng(1), io.BytesIO()
    table = pa.table({name: rng.gamma(1.0 + k, size=n_rows) for k, name in enumerate(COLUMNS)})
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=65_536)
    return out.getvalue()


def in_process(model: str, body: bytes) -> None:
    """Read an Arrow stream, rank it and write it, without a server."""
    ranker, writer, out = load(model), None, io.BytesIO()
    for batch in pa.ipc.open_stream(body):
        ranked = ranker.rank_batch(batch)
        writer = writer or pa.ipc.new_stream(out, ranked.schema)
        writer.write_batch(ranked)
    writer.close()


def arrow(model: str, quick: bool) -> list[Claim]:
    """Rows of an Arrow stream over HTTP, and the same in this process, in turn."""
    n_rows = N_ROWS[quick]
    body = stream_of(n_rows)
    walls: dict[str, list[float]] = {"http": [], "here": []}
    cpus: dict[str, list[float]] = {"http": [], "here": []}
    with served(ours(model)) as (port, process):
        for _ in range(2 * ROUNDS[quick] + 1):
            wall, cpu = time.perf_counter(), cpu_seconds_of(process)
            asked = http.client.HTTPConnection("127.0.0.1", port)
            asked.request("POST", "/score", body, {"content-type": ARROW})
            answer = asked.getresponse()
            answer.read()
            assert answer.status == 200
            walls["http"].append(time.perf_counter() - wall)
            cpus["http"].append(cpu_seconds_of(process) - cpu)
            wall, cpu = time.perf_counter(), time.process_time()
            in_process(model, body)
            walls["here"].append(time.perf_counter() - wall)
            cpus["here"].append(time.process_time() - cpu)
    rate = {name: n_rows / statistics.median(found[1:]) for name, found in walls.items()}
    spent = {name: n_rows / statistics.median(found[1:]) for name, found in cpus.items()}
    over_http, peer = (f"{rate[name]:,.0f} rows/s, {spent[name]:,.0f} rows per CPU s" for name in ("http", "here"))
    return [
        Claim(
            f"Arrow stream of {n_rows:,} rows over HTTP, rows/s over those in process",
            over_http,
            peer,
            rate["http"] / rate["here"],
            goal=0.9,
        ),
        Claim(
            f"Arrow stream of {n_rows:,} rows over HTTP, rows per CPU second of the server over those in process",
            over_http,
            peer,
            spent["http"] / spent["here"],
            goal=0.9,
        ),
    ]


def memory(model: str, folder: Path, quick: bool) -> list[Claim]:
    """How much the server grows over many requests, after the first tenth of them."""
    wanted = N_REQUESTS[quick]
    with served(ours(model)) as (port, process):
        done, first = 0, 0.0
        while done < wanted:
            done += load_on(port, process, folder, seconds=2).requests
            if not first and done >= wanted / 10:
                first = _resident(process)
        grown = _resident(process) - first
    return [
        Claim(
            f"growth over {done:,} requests, after the first tenth",
            f"from {first:.0f} MiB",
            "-",
            grown,
            " MiB",
            goal=8,
            at_least=False,
        ),
    ]


def _resident(process: int) -> float:
    """Return the resident memory of a server and its children in MiB."""
    pages = sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in tree_of(process))
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def run(quick: bool = False) -> list[Claim]:
    """Measure single rows beside a plain route, streams, and memory."""
    if shutil.which("wrk") is None:
        raise SystemExit("This benchmark needs wrk: apt-get install wrk")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = str(folder / "model.vecuq")
        rng = np.random.default_rng(0)
        fit_ranker(pa.table({name: rng.gamma(1.0 + k, size=4_000) for k, name in enumerate(COLUMNS)})).save(model)
        return [*single_rows(model, folder, quick), *arrow(model, quick), *memory(model, folder, quick)]


if __name__ == "__main__":
    import uvicorn

    model, kind, _, port = sys.argv[1:]
    uvicorn.run(plain_app(model, kind), port=int(port), log_level="warning", access_log=False)
