"""State that somebody planted beside an output, or in it: nothing outside the output folder changes."""

import json
import os
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hunting import bounded
from manners import contents, run_command

MANIFEST, BESIDE = "_vecuq_manifest.json", "data.vecuq-part"
EIGHT_DAYS = 8 * 24 * 3600  # tar keeps times: what is that old is taken for the rest of a dead job


@pytest.fixture
def place(tmp_path, ranker, make_rows):
    """A home with a file and a folder that are dear to somebody, and beside it a model, rows and outputs."""
    home, work = tmp_path / "home", tmp_path / "work"
    for folder in (home / "dear", work / "in", work / "raw", work / "data"):
        folder.mkdir(parents=True)
    (home / "dear.txt").write_text("dear to somebody")
    (home / "dear" / "inner.txt").write_text("this, too")
    ranker.save(work / "m.vecuq")
    for k in range(2):
        pq.write_table(pa.table(make_rows(40, k)), work / "in" / f"p{k}.parquet")
        np.savez(work / "raw" / f"p{k}.npz", logits=np.random.default_rng(k).normal(size=(3, 20, 4)))
    return work


# Jobs over folders write `data`; jobs over one file write a file in it.
FOLDER_JOBS = {
    "score": ("score", "m.vecuq", "in", "-o", "data/"),
    "measure": ("measure", "raw", "--measures", "entropy", "-o", "data/"),
}
FILE_JOBS = {
    "score": ("score", "m.vecuq", "in/p0.parquet", "-o", "data/out.csv"),
    "score of a folder": ("score", "m.vecuq", "in", "-o", "data/out.csv"),
    "fit": ("fit", "in", "-o", "data/new.vecuq"),
    "measure": ("measure", "raw/p0.npz", "--measures", "entropy", "-o", "data/out.csv"),
}


def nothing_else_changes(work, words):
    """Run a command; all but the folder `data` is as it was, whatever the command thinks of it."""
    before = outside(work)
    with bounded(seconds=10):
        done = run_command(words, work)
    assert done.code in (0, 1, 2), done
    assert "Traceback" not in done.stderr
    assert "unexpected" not in done.stderr
    assert outside(work) == before
    return done


def outside(work):
    found = contents(work.parent)
    return {name: one for name, one in found.items() if not name.startswith(("work/data/", "work/.scratch"))}


def is_link(path):
    path.symlink_to(path.parents[2] / "home" / "dear.txt")


def ways_to(target, folder):
    """The path of a file in the home, seen from a folder: absolute, climbing, and through a link."""
    home = target.parent
    if not (folder / "link").is_symlink():
        (folder / "link").symlink_to(home)
    return {"absolute": str(target), "climbs": os.path.relpath(target, folder), "link": f"link/{target.name}"}


def plant_journals(folder, home):
    """Hidden folders as a killed job of vecuq 0.2 left them, with journals of moves that name files of the user."""
    for number, final in enumerate([*ways_to(home / "dear.txt", folder).values()] * 2):
        part, facts = folder / f".vecuq-0a1b2c3d-{number}.part", (home / "dear.txt").stat()
        (part / "old").mkdir(parents=True)
        (part / "old" / "0").write_text("of the attacker")
        (part / "lock").touch()
        (part / "old" / "1").symlink_to(home)
        old = "0" if number < 3 else None  # overwritten or deleted
        record = {"final": final, "old": old, "size": facts.st_size, "time": facts.st_mtime_ns}
        (part / "moves.json").write_text(json.dumps([record]))
        os.utime(part, (time.time() - EIGHT_DAYS,) * 2)
    (folder / ".vecuq-0a1b2c3d-link.part").symlink_to(home)
    (folder / ".vecuq-0a1b2c3d-pipe.part").mkdir()
    os.mkfifo(folder / ".vecuq-0a1b2c3d-pipe.part" / "moves.json")


@pytest.mark.parametrize("job", FILE_JOBS)
def test_a_journal_beside_the_output_moves_no_file_of_the_user(place, job):
    plant_journals(place / "data", place.parent / "home")
    assert nothing_else_changes(place, FILE_JOBS[job]).code == 0


def honest(place, job):
    """Run a job, and return its manifest as it was written."""
    assert run_command(FOLDER_JOBS[job], place).code == 0
    return json.loads((place / "data" / MANIFEST).read_text())


@pytest.mark.parametrize("more", ["--force", "--resume", "--jobs=1"])
@pytest.mark.parametrize("job", FOLDER_JOBS)
def test_a_manifest_and_a_stopped_job_name_no_file_outside(place, job, more):
    manifest, home, data = honest(place, job), place.parent / "home", place / "data"
    lies = [one for target in (home / "dear.txt", home / "dear") for one in ways_to(target, data).values()]
    manifest["parts"] += [{**manifest["parts"][0], "output": name} for name in lies]
    (data / MANIFEST).write_text(json.dumps(manifest))
    (data / ".vecuq-job").mkdir()  # where vecuq 0.2 kept the state of a job
    about = {**manifest, "inputs": manifest["parts"], "run": "../../../home", "replaces": lies}
    (data / ".vecuq-job" / "job.json").write_text(json.dumps(about))
    nothing_else_changes(place, (*FOLDER_JOBS[job], more))


@pytest.mark.parametrize("more", ["--force", "--resume"])
@pytest.mark.parametrize("name", [MANIFEST, "p0.parquet", "p1.parquet", ".vecuq-job"])
@pytest.mark.parametrize("make", [os.mkfifo, is_link], ids=["pipe", "link"])
def test_a_pipe_or_a_link_in_the_output_is_not_waited_for_nor_written_through(place, make, name, more):
    make(place / "data" / name)
    nothing_else_changes(place, (*FOLDER_JOBS["score"], more))


@pytest.fixture
def left(place):
    """A job that was stopped when all but the last part were finished: its folder beside the output."""
    honest(place, "score")
    (place / "data").rename(place / BESIDE)
    manifest = json.loads((place / BESIDE / MANIFEST).read_text())
    manifest["parts"].pop()
    (place / BESIDE / MANIFEST).write_text(json.dumps(manifest))
    (place / BESIDE / "p1.parquet").unlink()
    return place / BESIDE


def said_of(left, change):
    """Let the list of a stopped job say something else."""
    manifest = json.loads((left / MANIFEST).read_text())
    change(manifest)
    (left / MANIFEST).write_text(json.dumps(manifest))


def leads_out(way):
    return lambda left: said_of(
        left, lambda said: said["parts"][0].update(output=ways_to(left.parent.parent / "home" / "dear.txt", left)[way])
    )


def replaced(name, make):
    def change(left):
        (left / name).unlink(missing_ok=True)
        make(left / name)

    return change


def is_sparse(path):
    with path.open("wb") as file:
        file.truncate(2**26)


def elsewhere(left):
    """The folder is a link to one of the user's."""
    left.rename(left.parent.parent / "home" / "dear" / "job")
    left.symlink_to(left.parent.parent / "home" / "dear" / "job")


ODD = {
    "a name that climbs": leads_out("climbs"),
    "an absolute name": leads_out("absolute"),
    "fields of other types": lambda left: said_of(left, lambda said: said.update(parts={"p0.parquet": 1})),
    "negative counts": lambda left: said_of(left, lambda said: said["parts"][0]["counts"].update(rows=-1)),
    "a list that is a link": replaced(MANIFEST, is_link),
    "a list that is a pipe": replaced(MANIFEST, os.mkfifo),
    "a list of 64 MiB": replaced(MANIFEST, is_sparse),
    "a list that nests deep": replaced(MANIFEST, lambda path: path.write_text("[" * 100_000)),
    "an output that is a link": replaced("p0.parquet", is_link),
    "an output to come that is a link": replaced("p1.parquet", is_link),
    "an output that is a pipe": replaced("p1.parquet", os.mkfifo),
    "an output that is a folder": replaced("p1.parquet", lambda path: path.mkdir()),
    "a file of the user": lambda left: (left / "notes.txt").write_text("dear, too"),
    "a folder of the user": lambda left: (left / "notes").mkdir(),
    "a temporary name that is a link": replaced(".vecuq-0123456789abcdef.part-p1.parquet", is_link),
    "a link in place of the folder": elsewhere,
    "a pipe in place of the folder": lambda left: (left.rename(left.with_name("was")), os.mkfifo(left)),
}


@pytest.mark.parametrize("odd", ODD)
def test_what_is_odd_in_the_folder_of_a_stopped_job_is_refused_and_nothing_changes(place, left, odd):
    ODD[odd](left)
    before = contents(left)
    done = nothing_else_changes(place, (*FOLDER_JOBS["score"], "--resume"))
    assert done.code == 1
    assert done.stderr.count("\n") == 1
    assert contents(left) == before
    assert not (place / "data").exists()


@pytest.mark.parametrize(
    "odd", [name for name in ODD if "list" not in name and not name.startswith(("a name", "an abs"))]
)
def test_force_is_no_more_trusting(place, left, odd):
    ODD[odd](left)
    before = contents(place.parent / "home")
    run_command((*FOLDER_JOBS["score"], "--force"), place)
    assert contents(place.parent / "home") == before


@pytest.mark.parametrize("more", ["--resume", "--force"])
def test_a_second_name_of_a_file_in_the_folder_of_a_job_is_not_written_through(place, left, more):
    dear = place.parent / "home" / "dear.txt"
    os.link(dear, left / "p1.parquet")
    assert run_command((*FOLDER_JOBS["score"], more), place).code == 0
    assert dear.read_text() == "dear to somebody"
    assert pq.read_table(place / "data" / "p1.parquet").num_rows == 40


def test_the_stopped_job_itself_goes_on(place, left):
    assert "--resume" in run_command(FOLDER_JOBS["score"], place).stderr
    done = run_command((*FOLDER_JOBS["score"], "--resume"), place)
    assert done.code == 0, done
    assert "1 of them before" in done.stdout
    assert not left.exists()


@pytest.mark.parametrize("make", [is_link, lambda path: path.write_text("dear, too")], ids=["link", "file"])
def test_a_lock_that_is_not_ours_is_left_alone(place, make):
    make(place / f".{BESIDE}.lock")
    before = contents(place)
    done = run_command(FOLDER_JOBS["score"], place)
    assert done.code == 1
    assert contents(place) == before
