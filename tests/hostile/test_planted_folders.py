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

MANIFEST, JOB, PART = "_vecuq_manifest.json", ".vecuq-job", ".vecuq-0a1b2c3d-planted.part"
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
    root = work.parent
    before = contents(root)
    with bounded(seconds=10):
        done = run_command(words, work)
    assert done.code in (0, 1, 2), done
    assert "Traceback" not in done.stderr
    assert "unexpected" not in done.stderr

    def outside(found):
        return {name: one for name, one in found.items() if not name.startswith(("work/data/", "work/.scratch"))}

    assert outside(contents(root)) == outside(before)
    return done


# A journal of moves -------------------------------------------------------------------------------------------------


def planted(folder, records, name=PART):
    """A hidden folder as a killed job would have left it, with a journal and one old file."""
    part = folder / name
    (part / "old").mkdir(parents=True)
    (part / "old" / "0").write_text("of the attacker")
    (part / "lock").touch()
    (part / "moves.json").write_text(json.dumps(records))
    return part


def as_old_as_a_dead_job(part):
    os.utime(part, (time.time() - EIGHT_DAYS,) * 2)


def record(final, target, old):
    """What a journal says of one file: where it lies, and that it is as the job left it."""
    facts = target.stat()
    return {"final": final, "old": old, "size": facts.st_size, "time": facts.st_mtime_ns}


def ways_to(target, folder):
    """The path of a file in the home, seen from a folder: absolute, climbing, and through a link."""
    home = target.parent
    if not (folder / "link").is_symlink():
        (folder / "link").symlink_to(home)
    return {"absolute": str(target), "climbs": os.path.relpath(target, folder), "link": f"link/{target.name}"}


@pytest.mark.parametrize("old", ["0", None], ids=["overwrites", "deletes"])
@pytest.mark.parametrize("job", FILE_JOBS)
def test_a_journal_beside_the_output_moves_no_file_of_the_user(place, job, old):
    for number, way in enumerate(("absolute", "climbs", "link")):
        target = place.parent / "home" / f"{way}.txt"
        target.write_text("dear to somebody")
        final = ways_to(target, place / "data")[way]
        part = planted(place / "data", [record(final, target, old)], f"{PART[:-5]}{number}.part")
        as_old_as_a_dead_job(part)
    nothing_else_changes(place, FILE_JOBS[job])


def test_a_journal_may_not_be_a_pipe(place):
    part = planted(place / "data", [])
    (part / "moves.json").unlink()
    os.mkfifo(part / "moves.json")
    as_old_as_a_dead_job(part)
    nothing_else_changes(place, FILE_JOBS["score"])


def test_what_links_lead_to_is_not_swept_away(place):
    part = planted(place / "data", [])
    (part / "old" / "1").symlink_to(place.parent / "home")
    (part / "new").symlink_to(place.parent / "home" / "dear")
    as_old_as_a_dead_job(part)
    (place / "data" / f"{PART[:-5]}2.part").symlink_to(place.parent / "home")
    nothing_else_changes(place, FILE_JOBS["score"])


# A manifest, a job that was stopped ---------------------------------------------------------------------------------


def honest(place, job):
    """Run a job, and return its manifest as it was written."""
    assert run_command(FOLDER_JOBS[job], place).code == 0
    return json.loads((place / "data" / MANIFEST).read_text())


def lies(place):
    """Names of outputs that lead out of the folder, to a file and to a folder each."""
    home, data = place.parent / "home", place / "data"
    return [one for target in (home / "dear.txt", home / "dear") for one in ways_to(target, data).values()]


@pytest.mark.parametrize("job", FOLDER_JOBS)
def test_a_manifest_names_no_file_outside(place, job):
    manifest = honest(place, job)
    manifest["parts"] += [{**manifest["parts"][0], "output": name} for name in lies(place)]
    (place / "data" / MANIFEST).write_text(json.dumps(manifest))
    nothing_else_changes(place, (*FOLDER_JOBS[job], "--force"))


def stopped(place, **fields):
    """The state of a job that was stopped before its first part, as an attacker would write it."""
    manifest = honest(place, "score")
    for path in [*(place / "data").glob("p*"), place / "data" / MANIFEST]:
        path.unlink()
    fields = {name: find(place) for name, find in fields.items()}
    kept = {name: manifest[name] for name in ("vecuq", "job", "model", "options")}
    inputs = [{name: part[name] for name in ("input", "output", "size", "stamp")} for part in manifest["parts"]]
    (place / "data" / JOB).mkdir()
    about = {**kept, "inputs": inputs, "run": "ab" * 8, "replaces": [], **fields}
    (place / "data" / JOB / "job.json").write_text(json.dumps(about))


@pytest.mark.parametrize("more", ["--force", "--resume"])
def test_a_stopped_job_replaces_no_file_outside(place, more):
    stopped(place, replaces=lies)
    nothing_else_changes(place, (*FOLDER_JOBS["score"], more))


@pytest.mark.parametrize("more", ["--force", "--resume"])
def test_a_stopped_job_works_in_no_folder_outside(place, more):
    stopped(place, run=lambda _: "../../../home")
    nothing_else_changes(place, (*FOLDER_JOBS["score"], more))


@pytest.mark.parametrize("name", [MANIFEST, f"{JOB}/job.json"])
def test_a_pipe_in_place_of_a_state_is_not_waited_for(place, name):
    (place / "data" / name).parent.mkdir(exist_ok=True)
    os.mkfifo(place / "data" / name)
    nothing_else_changes(place, (*FOLDER_JOBS["score"], "--resume"))


@pytest.mark.parametrize("more", ["--force", "--resume"])
@pytest.mark.parametrize("name", [MANIFEST, "p0.parquet", "p1.parquet"])
def test_a_link_in_place_of_an_output_is_not_written_through(place, name, more):
    (place / "data" / name).symlink_to(place.parent / "home" / "dear.txt")
    nothing_else_changes(place, (*FOLDER_JOBS["score"], more))


@pytest.mark.parametrize("more", ["--force", "--resume"])
def test_a_link_in_place_of_the_state_of_a_job_is_not_written_through(place, more):
    (place / "data" / JOB).symlink_to(place.parent / "home" / "dear")
    nothing_else_changes(place, (*FOLDER_JOBS["score"], more))


def test_without_force_a_folder_that_holds_something_is_left_alone(place):
    (place / "data" / MANIFEST).write_text(json.dumps({"parts": [{"output": name} for name in lies(place)]}))
    assert nothing_else_changes(place, FOLDER_JOBS["score"]).code == 1


# The folder of a job that was stopped -------------------------------------------------------------------------------

BESIDE = "data.vecuq-part"


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


def is_link(path):
    path.symlink_to(path.parent.parent.parent / "home" / "dear.txt")


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
    root = place.parent
    before = contents(root / "home")
    run_command((*FOLDER_JOBS["score"], "--force"), place)
    assert contents(root / "home") == before


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
