"""A job over part files, killed while it works and resumed: the same bytes as never killed, and nothing else."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vecuq import fit_ranker

WORDS = ("score", "m.vecuq", "in", "-o", "out/", "--alpha", "0.1", "--resume")


def fill(folder, n_rows, n_parts):
    """Write a model and part files; only their numbers are random, not their times."""
    (folder / "in").mkdir(parents=True)
    rng = np.random.default_rng(0)
    fit_ranker(pa.table({"entropy": rng.gamma(1.0, size=120), "knn": rng.gamma(2.0, size=120)})).save(
        folder / "m.vecuq"
    )
    for k in range(n_parts):
        rows = {"entropy": rng.gamma(1.0, size=n_rows), "knn": rng.gamma(2.0, size=n_rows)}
        pq.write_table(pa.table(rows), folder / "in" / f"p{k}.parquet")
        os.utime(folder / "in" / f"p{k}.parquet", (10**9, 10**9))
    return folder


def bytes_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_killed_at_a_step_and_resumed_it_writes_the_same_bytes(drive, tmp_path):
    whole = fill(tmp_path / "whole", 40, 3)
    steps = drive(whole, *WORDS)["steps"]
    wanted = bytes_in(whole / "out")
    for step in sorted({round(k * (steps - 1) / 5) for k in range(6)}):
        folder = fill(tmp_path / str(step), 40, 3)
        assert drive(folder, *WORDS, kill_at=step)["code"] == -9
        assert not (folder / "out").exists() or bytes_in(folder / "out") == wanted
        again = drive(folder, *WORDS)
        assert again["code"] == 0, again
        assert bytes_in(folder / "out") == wanted
        assert {path.name for path in folder.iterdir()} <= {"in", "m.vecuq", "out", "tmp"}


def test_killed_at_a_step_of_force_and_resumed_every_file_is_whole_all_the_time(drive, tmp_path):
    force, resume = ((*WORDS[:5], "--alpha", "0.2", how) for how in ("--force", "--resume"))
    whole = fill(tmp_path / "whole", 40, 3)
    drive(whole, *WORDS)
    old, steps = bytes_in(whole / "out"), drive(whole, *force)["steps"]
    new = bytes_in(whole / "out")
    for step in sorted({round(k * (steps - 1) / 8) for k in range(9)}):
        folder = fill(tmp_path / str(step), 40, 3)
        drive(folder, *WORDS)
        assert drive(folder, *force, kill_at=step)["code"] == -9
        assert all(content in (old[name], new[name]) for name, content in bytes_in(folder / "out").items())
        if (folder / "out.vecuq-part").exists():
            again = drive(folder, *resume)
            assert again["code"] == 0, again
            assert bytes_in(folder / "out") == new
        assert not (folder / "out.vecuq-part").exists()


@contextmanager
def started(folder):
    """Run the job in two processes of its own; what it says goes to a file."""
    words = [sys.executable, "-m", "vecuq", *WORDS, "--jobs", "2"]
    how = {"cwd": folder}
    with (folder / "said").open("w") as said, subprocess.Popen(words, stdout=said, stderr=said, **how) as process:
        yield process


def finished(folder):
    with started(folder) as process:
        assert process.wait() == 0, (folder / "said").read_text()
    return bytes_in(folder / "out")


def killed_after(folder, seconds):
    """Whether a job was still running after so many seconds, and was killed."""
    with started(folder) as process:
        try:
            assert process.wait(seconds) == 0, (folder / "said").read_text()
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    return False


@pytest.mark.slow
def test_twenty_kills_of_processes_then_the_same_bytes(tmp_path):
    """Jobs are killed at random moments and resumed until they are finished; this until there were twenty kills."""
    wanted = finished(fill(tmp_path / "whole", 400_000, 8))
    rng, n_killed, number = np.random.default_rng(0), 0, 0
    while n_killed < 20:
        folder, number = fill(tmp_path / f"now{number}", 400_000, 8), number + 1
        longest = 4.0
        while killed_after(folder, rng.uniform(0.3, longest)):
            n_killed, longest = n_killed + 1, longest * 1.3  # a busy machine needs longer to get anywhere
            assert not (folder / "out").exists() or bytes_in(folder / "out") == wanted
        assert bytes_in(folder / "out") == wanted
        shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_signal_leaves_what_resume_needs_and_says_so(tmp_path, number):
    wanted = finished(fill(tmp_path / "whole", 400_000, 8))
    folder = fill(tmp_path / "now", 400_000, 8)
    with started(folder) as process:
        while not (folder / "out.vecuq-part" / "_vecuq_manifest.json").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        assert process.wait() == 128 + number
    assert "--resume" in (folder / "said").read_text()
    assert not (folder / "out").exists()
    assert all(
        re.fullmatch(r"_vecuq_manifest\.json|p\d+\.parquet", name) for name in bytes_in(folder / "out.vecuq-part")
    )
    assert finished(folder) == wanted
