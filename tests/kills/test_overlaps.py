"""Two runs at once on one file: nothing is lost, nothing is torn, and whoever cannot go on says so in one line."""

import json

import numpy as np
import pandas as pd
import pytest

from vecuq import Gate, Monitor, fit_ranker, load

COLUMNS = ("--columns", "entropy,knn")


def write_rows(path, seed, n_rows=150, scale=1.0):
    rng = np.random.default_rng(seed)
    pd.DataFrame({"entropy": rng.gamma(1.0, size=n_rows) * scale, "knn": rng.gamma(2.0, size=n_rows)}).to_csv(
        path, index=False
    )


@pytest.fixture
def folder(tmp_path):
    """A folder with a model and, of two days, the second with a drift."""
    write_rows(tmp_path / "c.csv", 0, 400)
    fit_ranker(pd.read_csv(tmp_path / "c.csv")).save(tmp_path / "m.vecuq")
    write_rows(tmp_path / "monday.csv", 1)
    write_rows(tmp_path / "tuesday.csv", 2, scale=4.0)
    return tmp_path


def overlap_monitors(drive, folder, state):
    days = ("monday.csv", "tuesday.csv")
    runs = drive.at_once(folder, *(("monitor", "m.vecuq", day, "--state", state) for day in days))
    assert [run["code"] for run in runs] == [0, 0], runs
    found = load(folder / state)
    assert (found.rows, len(found.counted)) == (300, 2)
    assert found.drifted
    again = drive.at_once(folder, *(("monitor", "m.vecuq", day, "--state", state) for day in days))
    assert all("counted on" in run["said"] for run in again)
    assert load(folder / state).rows == 300
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("pair", range(2))
def test_two_monitors_at_once_count_the_rows_of_both(drive, folder, pair):
    overlap_monitors(drive, folder, f"state{pair}.vecuq")


@pytest.mark.slow
def test_of_twenty_overlapping_pairs_nothing_is_lost(drive, folder):
    for pair in range(20):
        overlap_monitors(drive, folder, f"state{pair}.vecuq")


def test_whoever_may_not_wait_is_refused_in_one_line_and_counts_nothing(drive, folder):
    hold = "with locked('s.vecuq'): Path('held').touch(); until('refused')"
    words = ("monitor", "m.vecuq", "monday.csv", "--state", "s.vecuq", "--wait", "0.1")
    wait = f"until('held')\ntry:\n    {cli(words)}\nfinally: Path('refused').touch()"
    held, refused = drive.at_once(folder, ("python", UNTIL + hold), ("python", UNTIL + wait))
    assert held["code"] == 0
    assert refused["code"] == 1
    note, error = refused["said"].splitlines()
    assert note == "note: s.vecuq is being written by another process; waiting up to 0.1 s for it."
    assert error == "error: s.vecuq is still being written by another process after 0.1 s; run again later."
    assert not (folder / "s.vecuq").exists()


UNTIL = """
import time
from pathlib import Path
from vecuq._files import locked
def until(name):
    while not Path(name).exists(): time.sleep(0.01)
"""


def cli(words):
    return f"import sys; from vecuq.cli import main; sys.argv = {['vecuq', *words]!r}; main()"


def overlap_asks(drive, folder, answers):
    lines = [json.dumps({"id": f"q{k}", "question": f"what is {k}"}) + "\n" for k in range(30)]
    (folder / "q.jsonl").write_text("".join(lines))
    words = ("ask", "q.jsonl", "--url", "http://localhost:9", "--model", "m", "--samples", "1", "-o", answers)
    runs = drive.at_once(folder, words, words)
    # One asks, and the other is refused, or came so late that it found everything answered.
    assert 0 in {run["code"] for run in runs}
    assert all(run["code"] == 0 or "being written by another process" in run["said"] for run in runs), runs
    answered = [json.loads(line)["id"] for line in (folder / answers).read_text().splitlines()]
    assert answered == [f"q{k}" for k in range(30)]
    assert not list(folder.glob(".*"))


def test_two_asks_at_once_leave_every_answer_once(drive, tmp_path):
    overlap_asks(drive, tmp_path, "a.jsonl")


@pytest.mark.slow
def test_of_twenty_overlapping_asks_every_answer_is_there_once(drive, tmp_path):
    for pair in range(20):
        overlap_asks(drive, tmp_path, f"a{pair}.jsonl")


def overlap_fits(drive, folder, n_pairs):
    one, other = (("fit", day, *COLUMNS, "-o", "out.vecuq") for day in ("monday.csv", "tuesday.csv"))
    alone = []
    for words in (one, other):
        assert drive(folder, *words)["code"] == 0
        alone.append((folder / "out.vecuq").read_bytes())
    for _ in range(n_pairs):
        assert [run["code"] for run in drive.at_once(folder, one, other)] == [0, 0]
        assert (folder / "out.vecuq").read_bytes() in alone
        assert not list(folder.glob(".*"))


def test_two_fits_of_one_file_leave_one_of_the_two_models_whole(drive, folder):
    overlap_fits(drive, folder, 1)


@pytest.mark.slow
def test_twenty_pairs_of_fits_leave_one_of_the_two_models_whole(drive, folder):
    overlap_fits(drive, folder, 20)


def test_a_part_file_of_a_living_run_is_left_alone(drive, tmp_path):
    write = """
import time
from pathlib import Path
from vecuq._files import atomic_path, write_atomic
with atomic_path("slow") as part:
    part.write_bytes(b"half")
    Path("ready").touch()
    while not Path("done").exists(): time.sleep(0.01)
    assert part.read_bytes() == b"half"
"""
    other = """
import time
from pathlib import Path
from vecuq._files import write_atomic
while not Path("ready").exists(): time.sleep(0.01)
write_atomic("quick", b"")
Path("done").touch()
"""
    assert [run["code"] for run in drive.at_once(tmp_path, ("python", write), ("python", other))] == [0, 0]
    assert (tmp_path / "slow").read_bytes() == b"half"
    assert not list(tmp_path.glob(".*"))


def test_a_monitor_saved_over_what_another_process_saved_is_refused(drive, folder):
    watched = load(folder / "m.vecuq")
    Monitor(watched).save(folder / "s.vecuq")
    mine = load(folder / "s.vecuq")
    assert drive(folder, "monitor", "m.vecuq", "monday.csv", "--state", "s.vecuq")["code"] == 0
    with pytest.raises(ValueError, match="somebody else wrote it"):
        mine.save(folder / "s.vecuq")
    assert load(folder / "s.vecuq").rows == 150
    mine.save(folder / "s.vecuq", force=True)
    assert load(folder / "s.vecuq").rows == 0


def decide(day):
    settings = "workflows.LiveSettings(audit=0.5)"
    how = f"state='live.vecuq', ids='id', settings={settings}, wait=60"
    return (
        "python",
        f"from vecuq import workflows\nworkflows.decide_live('g.vecuq', '{day}.csv', '{day}.out.csv', {how})",
    )


@pytest.fixture
def gated(folder):
    """The same folder, with a gate and an id for every row."""
    write_rows(folder / "l.csv", 3, 400)
    rows = pd.read_csv(folder / "l.csv")
    Gate(load(folder / "m.vecuq"), accuracy=0.5).fit(rows, np.arange(400) % 9 > 0).save(folder / "g.vecuq")
    for day in ("monday", "tuesday"):
        table = pd.read_csv(folder / f"{day}.csv").assign(id=[f"{day}{k}" for k in range(150)], ok=1)
        table.to_csv(folder / f"{day}.csv", index=False)
    return folder


@pytest.mark.parametrize("pair", range(2))
def test_two_days_decided_at_once_are_both_counted_and_labels_find_both(drive, gated, pair):
    runs = drive.at_once(gated, decide("monday"), decide("tuesday"))
    assert [run["code"] for run in runs] == [0, 0], runs
    live = load(gated / "live.vecuq")
    audits = sum(pd.read_csv(gated / f"{day}.out.csv")["audit"].sum() for day in ("monday", "tuesday"))
    assert (live.decided, live.audited) == (300, audits)
    words = ("live", "live.vecuq", "--correct", "ok")
    labelled = drive.at_once(gated, *((*words[:2], f"{day}.csv", *words[2:]) for day in ("monday", "tuesday")))
    assert [run["code"] for run in labelled] == [0, 0], labelled
    assert load(gated / "live.vecuq").n_labels == audits
    assert not list(gated.glob(".*"))
