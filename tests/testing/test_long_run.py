"""The long run: inputs are counted, finds are made small, kept, replayed, and forgotten once they are mended."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes with bounded memory need Linux")
# A target of our own in place of all others: numbers up to 1000, of which some break something.
SCRIPT = """
import sys, time
from pathlib import Path
from hypothesis import strategies as st
import vecuq.testing.registry as room
from vecuq.testing import Attack, BrokenPromiseError, Limits, Target, fuzz

def check(attack):
    number = attack.facts["number"]
    {body}
    return True

attacks = st.integers(0, 1000).map(lambda number: Attack("numbers", facts={{"number": number}}))
room.targets = lambda: {{"numbers": Target(attacks, check)}}
limits = Limits(memory=50, seconds={most}, batch=3.0, shrink=30.0)
found = fuzz(["numbers"], seconds=float(sys.argv[2]), finds=Path(sys.argv[1]), limits=limits, say=print)
print("tried", found["numbers"].tried if "numbers" in found else 0)
"""
BODIES = {
    "a promise": "if number > 500: raise BrokenPromiseError('wrong score', 'too large')",
    "memory": "if number > 500: kept = bytearray(80 * 2**20)",
    "a crash": "if number > 500: import os; os.abort()",
    "time": "if number > 500: time.sleep(60)",
    "nothing": "pass",
}


def run(folder, body, seconds):
    # On a busy machine, a second may be too short for anything but sleep.
    script = SCRIPT.format(body=BODIES[body], most=2.0 if body == "time" else 60.0)
    done = subprocess.run(
        [sys.executable, "-c", script, folder, str(seconds)], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("body", ["a promise", "memory", "a crash", "time"])
def test_what_breaks_is_found_and_kept(tmp_path, body):
    told = run(tmp_path, body, 3.0)
    assert told.startswith("found ")
    (kept,) = [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]
    assert kept["facts"]["number"] > 500
    if body == "a promise":
        assert kept["facts"]["number"] == 501


def test_a_find_is_replayed_first_and_forgotten_once_it_is_mended(tmp_path):
    run(tmp_path, "a promise", 3.0)
    assert "found " in run(tmp_path, "a promise", 0.0)
    told = run(tmp_path, "nothing", 0.0)
    assert told.startswith("mended numbers")
    assert list(tmp_path.glob("*.json")) == []


def test_the_command_prints_a_table_of_what_it_tried(tmp_path):
    words = [
        "--minutes",
        "0.03",
        "--jobs",
        "1",
        "--only",
        "frame numpy,frame columns",
        "--finds",
        tmp_path,
        "--seed",
        "1",
    ]
    done = subprocess.run([sys.executable, "-m", "vecuq.testing", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    heads, *rows = done.stdout.splitlines()[1:]
    assert heads.split() == ["target", "tried", "taken", "finds", "peak", "MiB", "slowest", "s"]
    assert rows[-1].startswith("all ")
    assert Path(tmp_path).is_dir()
