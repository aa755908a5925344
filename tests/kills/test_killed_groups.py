"""Several files that replace others together: killed at any step, the next job puts all of the old ones back."""

import pytest

WRITE = """
from vecuq._files import atomic_folder
with atomic_folder("out") as part:
    for name in "abc":
        (part / name).write_text("new")
"""
SWEEP = """
from vecuq._files import refuse_unwritable
refuse_unwritable("out/anything")
refuse_unwritable("anything")
"""


def fill(folder):
    (folder / "out").mkdir(parents=True)
    for name in "ab":
        (folder / "out" / name).write_text("old")
    (folder / "out" / "mine").write_text("mine")
    return folder


def texts(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def n_steps(drive, tmp_path_factory):
    return drive(fill(tmp_path_factory.mktemp("count")), "python", WRITE)["steps"]


OLD = {"out/a": "old", "out/b": "old", "out/mine": "mine"}
NEW = {"out/a": "new", "out/b": "new", "out/c": "new", "out/mine": "mine"}


def test_killed_anywhere_all_files_are_old_or_all_are_new_after_the_next_job(drive, tmp_path, n_steps):
    outcomes = []
    for step in range(n_steps):
        folder = fill(tmp_path / str(step))
        assert drive(folder, "python", WRITE, kill_at=step)["code"] == -9
        assert drive(folder, "python", SWEEP)["code"] == 0
        assert texts(folder) in (OLD, NEW), step
        outcomes.append(texts(folder) == NEW)
    # Until the journal is gone it is undone, from then on it is done.
    assert outcomes == sorted(outcomes)
    assert outcomes[0] is False
    assert outcomes[-1] is True


def test_undoing_may_itself_be_killed(drive, tmp_path, n_steps):
    steps = 0
    for step in range(n_steps // 2, n_steps - 4, 3):
        folder = fill(tmp_path / f"{step}")
        drive(folder, "python", WRITE, kill_at=step)
        for stop in range(3):
            steps += drive(folder, "python", SWEEP, kill_at=stop)["code"] == -9
        assert drive(folder, "python", SWEEP)["code"] == 0
        assert texts(folder) in (OLD, NEW), step
    assert steps


def test_a_new_folder_appears_with_all_its_files_or_not_at_all(drive, tmp_path):
    (tmp_path / "count").mkdir()
    steps = drive(tmp_path / "count", "python", WRITE)["steps"]
    for step in range(steps):
        folder = tmp_path / str(step)
        folder.mkdir()
        assert drive(folder, "python", WRITE, kill_at=step)["code"] == -9
        assert texts(folder / "out") in ({}, {"a": "new", "b": "new", "c": "new"})
        assert (folder / "out").exists() == bool(texts(folder / "out"))
        assert drive(folder, "python", SWEEP.replace("out/", "./"))["code"] == 0
        assert not list(folder.glob(".*"))


def test_what_somebody_wrote_after_the_kill_is_not_undone(drive, tmp_path, n_steps):
    for step in range(n_steps):
        folder = fill(tmp_path / str(step))
        drive(folder, "python", WRITE, kill_at=step)
        (folder / "out" / "b").write_text("written by hand")
        drive(folder, "python", SWEEP)
        assert (folder / "out" / "b").read_text() == "written by hand"
