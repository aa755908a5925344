"""kill -9 during feedback writes and start again: every acknowledged one is there, none twice."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from vecuq import LiveGate
from vecuq.service.keeping.gates import replayed
from vecuq.service.keeping.schema import opened_to_read
from vecuq.service.keeping.store import Store

DRIVER = Path(__file__).with_name("kill_driver.py")
PATIENCE = 120.0  # seconds until a process that says nothing is taken for dead
ROUNDS = [pytest.param(3, id="3 rounds"), pytest.param(30, id="30 rounds", marks=pytest.mark.slow)]


def _loaded(path):
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


driver = _loaded(DRIVER)


class Process:
    """A process of the driver, or a service, and what it has acknowledged."""

    def __init__(self, *words):
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True)
        self.lines = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @classmethod
    def driver(cls, *words):
        return cls(sys.executable, str(DRIVER), *map(str, words))

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def kill(self):
        """End it and all its children at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()

    def works_on(self, n_lines=20):
        """Wait until it has acknowledged more."""
        wanted, end = len(self.lines) + n_lines, time.monotonic() + PATIENCE
        while len(self.lines) < wanted:
            assert self.process.poll() is None, "it ended by itself"
            assert time.monotonic() < end, "nothing is acknowledged any more"
            time.sleep(0.01)

    def said(self):
        found = {"scored": [], "audit": [], "review": []}
        for line in self.lines:
            if line.endswith(b"\n"):
                what, names = json.loads(line)
                found[what] += names
        return found


def check(folder, processes, gate):
    """Compare what was acknowledged with what the store holds, and its live gate with one in memory."""
    said = [process.said() for process in processes]
    scored, audits, reviews = ({name for one in said for name in one[what]} for what in ("scored", "audit", "review"))
    assert audits
    assert reviews
    connection = opened_to_read(Path(folder, "service.sqlite"))
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        rows = Counter(name for (name,) in connection.execute("SELECT id FROM scored"))
        kept = connection.execute("SELECT id, kind, correct FROM feedback").fetchall()
        assert connection.execute("SELECT COUNT(*) FROM history").fetchone()[0] == 0
        assert rows.keys() >= scored
        assert set(rows.values()) == {1}
        assert {name for name, kind, _ in kept if kind == "audit"} >= audits
        assert {name for name, kind, _ in kept if kind == "review"} >= reviews
        assert len({name for name, _, _ in kept}) == len(kept)
        assert all(bool(correct) == driver.is_right(name) for name, _, correct in kept)
        live = replayed(Store(connection), "gate")[0]
        in_memory = _in_memory(connection, gate)
        assert live.to_bytes() == in_memory.to_bytes()
        assert live.n_labels == sum(kind == "audit" for _, kind, _ in kept)
    finally:
        connection.close()
    return len(audits) + len(reviews)


def _in_memory(connection, gate):
    """The live gate that rows and labels come to, in their order on disk."""
    live = LiveGate(gate, audit=0.5)
    for name, accept in connection.execute("SELECT id, accept FROM scored ORDER BY seq").fetchall():
        live.record([name], np.array([bool(accept)]))
    labels = connection.execute("SELECT id, correct FROM feedback WHERE kind = 'audit' ORDER BY seq").fetchall()
    live.update([name for name, _ in labels], [bool(correct) for _, correct in labels])
    return live


@pytest.fixture
def folder(tmp_path, gate):
    gate.save(tmp_path / "gate.vecuq")
    return tmp_path


@pytest.mark.parametrize("rounds", ROUNDS)
def test_one_process_that_is_killed_loses_nothing_acknowledged(folder, gate, rounds):
    draw, processes = np.random.default_rng(1), []
    for number in range(rounds):
        processes.append(Process.driver("local", folder, f"run{number}"))
        processes[-1].works_on()
        time.sleep(draw.random() * 0.3)
        processes[-1].kill()
    assert check(folder, processes, gate) > rounds


@pytest.mark.nightly
@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_keeper_that_is_killed_loses_nothing_that_its_workers_had_acknowledged(folder, gate, rounds):
    draw, private = np.random.default_rng(2), Path(tempfile.mkdtemp(prefix="vecuq-"))
    address = private / "keeper"
    keeper = Process.driver("keeper", folder, address)
    workers = [Process.driver("remote", folder, f"worker{k}", address) for k in range(2)]
    ended = []
    try:
        for number in range(rounds):
            for worker in workers:
                worker.works_on()
            time.sleep(draw.random() * 0.3)
            keeper.kill()
            if number % 3 == 2:
                workers[0].kill()
                ended.append(workers[0])
                workers[0] = Process.driver("remote", folder, f"worker-after{number}", address)
            keeper = Process.driver("keeper", folder, address)
        for worker in workers:
            worker.works_on()
    finally:
        for process in (*workers, keeper):
            process.kill()
        shutil.rmtree(private)
    assert check(folder, [*workers, *ended], gate) > rounds


@pytest.mark.nightly
@pytest.mark.skipif(find_spec("vecuq.service.app") is None, reason="there is no service to kill yet")
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_service_that_is_killed_loses_nothing_acknowledged(folder, gate, rounds, workers):
    draw, port = np.random.default_rng(3), _free_port()
    words = ["serve", folder / "gate.vecuq", "--store", folder / "service.sqlite", "--audit", "0.5"]
    words = [sys.executable, "-m", "vecuq", *map(str, words), "--port", str(port), "--workers", str(workers)]
    client, service = Process.driver("http", folder, "client", f"http://127.0.0.1:{port}"), Process(*words)
    try:
        for _ in range(rounds):
            client.works_on()
            time.sleep(draw.random() * 0.3)
            service.kill()
            service = Process(*words)
        client.works_on()
    finally:
        service.kill()
        client.kill()
    assert check(folder, [client], gate) > rounds


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_the_check_would_see_a_lost_and_a_doubled_feedback(folder, gate):
    process = Process.driver("local", folder, "run")
    process.works_on()
    process.kill()
    check(folder, [process], gate)
    with sqlite3.connect(folder / "service.sqlite") as connection:
        connection.execute("DELETE FROM feedback WHERE seq = 1")
    connection.close()
    with pytest.raises(AssertionError):
        check(folder, [process], gate)
