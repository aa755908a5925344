"""A worker dies in the middle of a fit or a scoring: the same model and the same files, bit for bit."""

import os
import shutil
import signal
import time
from contextlib import contextmanager
from threading import Thread

import numpy as np
import pytest

from vecuq import cluster

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'vecuq[dask]'")
COLUMNS = ["entropy", "knn"]
if not hasattr(signal, "SIGKILL"):
    pytest.skip("only POSIX systems kill so", allow_module_level=True)


@contextmanager
def a_worker_killed(client, seconds):
    """Kill one worker process of a cluster after so many seconds."""
    pid = next(iter(client.run(os.getpid).values()))

    def kill():
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        killer.join()


def bytes_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_fit(client, doomed, many, n_kills):
    start = time.monotonic()
    wanted = cluster.dask.fit(many, columns=COLUMNS, client=client).to_bytes()
    took = time.monotonic() - start
    for seconds in np.random.default_rng(0).uniform(0.0, took, size=n_kills):
        with doomed() as fresh, a_worker_killed(fresh, seconds):
            found = cluster.dask.fit(many, columns=COLUMNS, client=fresh).to_bytes()
        assert found == wanted


def check_score(client, doomed, many, big_model, tmp_path, n_kills):
    start = time.monotonic()
    cluster.dask.score(big_model, many, tmp_path / "whole", client=client)
    took, wanted = time.monotonic() - start, bytes_in(tmp_path / "whole")
    for seconds in np.random.default_rng(1).uniform(0.0, took, size=n_kills):
        with doomed() as fresh, a_worker_killed(fresh, seconds):
            cluster.dask.score(big_model, many, tmp_path / "out", client=fresh)
        assert bytes_in(tmp_path / "out") == wanted
        shutil.rmtree(tmp_path / "out")


def test_a_worker_killed_once_changes_no_bit_of_a_fit(client, doomed, many):
    check_fit(client, doomed, many, 1)


def test_a_worker_killed_once_changes_no_byte_of_the_files(client, doomed, many, big_model, tmp_path):
    check_score(client, doomed, many, big_model, tmp_path, 1)


@pytest.mark.slow
def test_ten_workers_killed_change_no_bit_of_a_fit(client, doomed, many):
    check_fit(client, doomed, many, 10)


@pytest.mark.slow
def test_ten_workers_killed_change_no_byte_of_the_files(client, doomed, many, big_model, tmp_path):
    check_score(client, doomed, many, big_model, tmp_path, 10)
