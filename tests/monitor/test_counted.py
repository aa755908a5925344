"""A file is counted once, however often a job shows it to the monitor, and somebody is told."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from vecuq import Monitor, load, workflows
from vecuq._files import read_tensors, write_tensors
from vecuq.cli import app
from vecuq.errors import ModelFileError, TableError
from vecuq.monitor.counted import MOST, CountedFile, CountedFiles

SAVED = Path(__file__).parents[1] / "golden" / "saved"


@pytest.fixture
def days(tmp_path, make_rows, ranker):
    """A model and three files, of which the second is a copy of the first under another name."""
    ranker.save(tmp_path / "m.vecuq")
    for name, seed in (("1.csv", 1), ("2.csv", 1), ("3.csv", 3)):
        pd.DataFrame(make_rows(50, seed)).to_csv(tmp_path / name, index=False)
    return tmp_path


@pytest.fixture
def watch(days, run):
    """Run the monitor on some files with a state; return what it prints as JSON."""

    def invoke(*names, more=()):
        files = [days / name for name in names]
        done = run("monitor", days / "m.vecuq", *files, "--state", days / "s.vecuq", "--json", *more)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return invoke


def test_a_file_that_comes_again_is_skipped_and_named_with_its_date(watch, run, days):
    first = watch("1.csv")
    before = (days / "s.vecuq").read_bytes()
    again = watch("1.csv")
    assert (first["rows"], again["rows"]) == (50, 50)
    assert again["evidence"] == first["evidence"]
    assert again["files"] == []
    assert again["skipped"][0]["path"].endswith("1.csv")
    assert (days / "s.vecuq").read_bytes() == before
    told = run("monitor", days / "m.vecuq", days / "1.csv", days / "3.csv", "--state", days / "s.vecuq").stdout
    date = again["skipped"][0]["counted"]
    assert f"skipped         1.csv, counted on {date}; --again counts what was counted before" in told
    assert "50 rows in 1 file, 100 since the monitor began" in told


def test_content_counts_and_not_the_name(watch, days):
    assert watch("1.csv", "2.csv")["rows"] == 50
    shutil.move(days / "3.csv", days / "1.csv")
    assert watch("1.csv")["rows"] == 100


def test_a_whole_folder_can_be_shown_every_day(watch, run, days):
    (days / "all").mkdir()
    for day, name in enumerate(("1.csv", "3.csv")):
        shutil.copy(days / name, days / "all" / name)
        told = watch("all")
        assert (told["rows"], len(told["skipped"])) == (50 * (day + 1), day)
    words = ("monitor", days / "m.vecuq", days / "all", "--state", days / "s.vecuq")
    assert "and 1 other file; --again" in run(*words).stdout


def test_a_file_is_counted_again_if_that_is_wanted(watch):
    watch("1.csv")
    assert watch("1.csv", more=["--again"])["rows"] == 100
    assert watch("1.csv")["rows"] == 100


def test_without_a_state_nothing_is_remembered(run, days):
    done = run("monitor", days / "m.vecuq", days / "1.csv", days / "1.csv", "--json")
    assert json.loads(done.stdout)["rows"] == 100


def test_standard_input_is_not_remembered_and_that_is_told(days):
    line = json.dumps({"entropy": 0.5, "knn": 1.5}) + "\n"
    words = ["monitor", str(days / "m.vecuq"), "-", "--state", str(days / "s.vecuq")]
    for seen in (1, 2):
        done = CliRunner().invoke(app, words, input=line, catch_exceptions=False)
        assert done.exit_code == 0
        assert "not remembered  standard input: if it comes again, it is counted again" in done.stdout
        assert load(days / "s.vecuq").rows == seen


def test_a_retry_fails_like_the_first_run_if_nothing_could_be_watched(run, days):
    pd.DataFrame({"entropy": [np.nan] * 5, "knn": [np.nan] * 5}).to_csv(days / "blind.csv", index=False)
    pd.DataFrame({"entropy": [], "knn": []}).to_csv(days / "empty.csv", index=False)
    words = ("monitor", days / "m.vecuq", "--state", days / "s.vecuq", "--strict")
    assert run(*words, days / "1.csv").exit_code == 0
    for name in ("blind.csv", "blind.csv", "empty.csv", "empty.csv"):
        assert run(*words, days / name).exit_code == 1
    assert load(days / "s.vecuq").rows == 55


def test_a_file_that_grows_while_it_is_read_is_not_counted(days, monkeypatch):
    observe = Monitor.observe

    def growing(monitor, rows, **how):
        with (days / "1.csv").open("a") as file:
            file.write("0.5,0.5\n")
        return observe(monitor, rows, **how)

    monkeypatch.setattr(Monitor, "observe", growing)
    with pytest.raises(TableError, match=r"1.csv changed while it was read; nothing was saved"):
        workflows.monitor(days / "m.vecuq", [days / "1.csv"], state=days / "s.vecuq")
    assert not (days / "s.vecuq").exists()


def test_the_latest_files_are_remembered_and_the_earliest_forgotten():
    counted = CountedFiles()
    for k in range(MOST + 5):
        counted.add(k.to_bytes(32), CountedFile(k, 1, 1))
    counted.add((5).to_bytes(32), CountedFile(9, 1, 1))
    assert len(counted) == MOST
    assert counted.find((4).to_bytes(32)) is None
    assert counted.find((5).to_bytes(32)).time == 9
    again = CountedFiles.of(counted.arrays())
    assert again == counted
    assert list(again.by_digest)[-1] == (5).to_bytes(32)
    assert sum(array.nbytes for array in counted.arrays().values()) == 56 * MOST


def test_what_was_counted_is_saved_with_the_state(days):
    workflows.monitor(days / "m.vecuq", [days / "1.csv"], state=days / "s.vecuq")
    found = load(days / "s.vecuq")
    assert [(file.rows, file.watched) for file in found.counted.by_digest.values()] == [(50, 50)]
    assert load(found.to_bytes()).counted == found.counted


def test_a_state_of_an_earlier_version_goes_on_and_remembers_from_then_on(tmp_path, make_rows):
    ranker = load(SAVED / "ranker.vecuq")
    shutil.copy(SAVED / "monitor.vecuq", tmp_path / "s.vecuq")
    before = load(tmp_path / "s.vecuq", ranker=ranker)
    assert len(before.counted) == 0
    ranker.save(tmp_path / "m.vecuq")
    rows = np.random.default_rng(0).gamma(2.0, size=(40, len(ranker.columns)))
    pd.DataFrame(rows, columns=list(ranker.columns)).to_csv(tmp_path / "n.csv", index=False)
    for _ in range(2):
        workflows.monitor(tmp_path / "m.vecuq", [tmp_path / "n.csv"], state=tmp_path / "s.vecuq")
        assert load(tmp_path / "s.vecuq").rows == before.rows + 40


def short(arrays):
    arrays["counted/sha256"] = arrays["counted/sha256"][:, :5].copy()


def negative(arrays):
    arrays["counted/rows"] = -arrays["counted/rows"]


def far_future(arrays):
    arrays["counted/time"] = arrays["counted/time"] + 2**60


def too_few(arrays):
    arrays["counted/time"] = arrays["counted/time"][:0].copy()


def of_floats(arrays):
    arrays["counted/watched"] = arrays["counted/watched"].astype(float)


def absent(arrays):
    del arrays["counted/time"]


@pytest.mark.parametrize("spoil", [short, negative, far_future, too_few, of_floats, absent])
def test_a_memory_that_makes_no_sense_is_damage(days, spoil):
    workflows.monitor(days / "m.vecuq", [days / "1.csv"], state=days / "s.vecuq")
    header, arrays = read_tensors(days / "s.vecuq")
    spoil(arrays)
    kept = {name: value for name, value in header.items() if name not in ("format", "kind", "library")}
    write_tensors(days / "bad.vecuq", "monitor", kept, arrays)
    with pytest.raises(ModelFileError, match=r"bad.vecuq was altered or damaged: .*Start again"):
        load(days / "bad.vecuq")


def test_a_monitor_is_saved_where_it_came_from_and_where_nothing_is(ranker, tmp_path, make_rows):
    one = Monitor(ranker)
    one.save(tmp_path / "a.vecuq")
    one.observe(make_rows(20, 1))
    one.save(tmp_path / "b.vecuq")
    one.save(tmp_path / "a.vecuq")
    other = load(tmp_path / "a.vecuq")
    other.observe(make_rows(20, 2))
    other.save(tmp_path / "a.vecuq")
    with pytest.raises(ModelFileError, match=r"a.vecuq holds something that this monitor was not loaded from"):
        one.save(tmp_path / "a.vecuq")
    with pytest.raises(ModelFileError, match="was not loaded from"):
        Monitor(ranker).save(tmp_path / "a.vecuq")
    assert load(tmp_path / "a.vecuq").rows == 40
