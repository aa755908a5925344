"""Folders of part files on one machine: one output per input, the same numbers as one file, resumable."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from vecuq import Gate, workflows
from vecuq.options import ScoreOptions
from vecuq.workflows import part_jobs

MANIFEST = "_vecuq_manifest.json"
N_PARTS = 4


@pytest.fixture
def folder(tmp_path, make_rows):
    """Four part files."""
    place = tmp_path / "in"
    place.mkdir()
    for k in range(N_PARTS):
        rows = make_rows(50 + k, k)
        pq.write_table(pa.table({"id": [f"{k}-{row}" for row in range(50 + k)], **rows}), place / f"p{k}.parquet")
    return place


@pytest.fixture
def processes(monkeypatch):
    """Start processes however small the parts are."""
    monkeypatch.setattr(part_jobs, "_WORTH_A_PROCESS", 0)


def bytes_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows_in(folder):
    return ds.dataset(sorted(str(path) for path in folder.glob("p*")), format="parquet").to_table()


def manifest(folder):
    return json.loads((folder / MANIFEST).read_text())


def test_parts_together_are_the_one_file_to_the_bit(run, model, folder, tmp_path):
    more = ("--alpha", "0.1", "--explain")
    assert run("score", model, folder, "-o", tmp_path / "one.parquet", *more).exit_code == 0
    done = run("score", model, folder, "-o", f"{tmp_path / 'out'}/", *more)
    assert done.exit_code == 0, done.output
    assert "206 rows scored" in done.stdout
    assert "in 4 parts" in done.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        MANIFEST,
        *(f"p{k}.parquet" for k in range(4)),
    ]
    assert rows_in(tmp_path / "out").equals(pq.read_table(tmp_path / "one.parquet"))


def test_processes_write_the_bytes_that_one_process_writes(model, folder, tmp_path, processes):
    rows = []
    watch = workflows.Watch(rows=rows.append)
    for jobs in (1, 2):
        workflows.score_parts(model, folder, tmp_path / str(jobs), ScoreOptions(), n_jobs=jobs, watch=watch)
    assert bytes_in(tmp_path / "1") == bytes_in(tmp_path / "2")
    assert sum(rows) == 2 * 206


def test_the_manifest_lists_inputs_outputs_counts_and_checksums(run, model, folder, tmp_path):
    run("score", model, folder, "-o", tmp_path / "out", "--parts", "--alpha", "0.2")
    said = manifest(tmp_path / "out")
    assert said["counts"]["rows"] == 206
    assert said["options"]["alpha"] == 0.2
    assert len(said["model"]["sha256"]) == 64
    assert said["skipped"] == []
    first = said["parts"][0]
    import hashlib

    assert first["sha256"] == hashlib.sha256((tmp_path / "out" / "p0.parquet").read_bytes()).hexdigest()
    assert first["size"] == (folder / "p0.parquet").stat().st_size
    assert first["counts"]["rows"] == 50


def test_an_existing_empty_folder_means_parts(run, model, folder, tmp_path):
    (tmp_path / "out").mkdir()
    assert run("score", model, folder, "-o", tmp_path / "out").exit_code == 0
    assert manifest(tmp_path / "out")["counts"]["rows"] == 206


def test_empty_parts_other_column_order_one_row_and_missing_values(run, model, folder, tmp_path):
    table = pq.read_table(folder / "p0.parquet")
    pq.write_table(table.slice(0, 0), folder / "p0.parquet")
    pq.write_table(pq.read_table(folder / "p1.parquet").select(["knn", "id", "entropy"]), folder / "p1.parquet")
    pq.write_table(pq.read_table(folder / "p2.parquet").slice(0, 1), folder / "p2.parquet")
    empty = pa.nulls(len(pq.read_table(folder / "p3.parquet")), pa.float64())
    pq.write_table(pq.read_table(folder / "p3.parquet").set_column(1, "entropy", empty), folder / "p3.parquet")
    done = run("score", model, folder, "-o", f"{tmp_path / 'out'}/")
    assert done.exit_code == 0, done.output
    assert "53 of 105 rows have missing" in done.stderr
    run("score", model, folder, "-o", tmp_path / "one.parquet")
    assert rows_in(tmp_path / "out").equals(pq.read_table(tmp_path / "one.parquet"))
    assert [part["counts"]["rows"] for part in manifest(tmp_path / "out")["parts"]] == [0, 51, 1, 53]


def test_a_pattern_keeps_the_folders_below_the_common_one(run, model, folder, tmp_path):
    for k in range(2):
        (tmp_path / "deep" / f"day={k}").mkdir(parents=True)
        shutil.copy(folder / f"p{k}.parquet", tmp_path / "deep" / f"day={k}" / "rows.parquet")
    assert run("score", model, f"{tmp_path}/deep/*/*", "-o", f"{tmp_path / 'out'}/").exit_code == 0
    assert (tmp_path / "out" / "day=1" / "rows.parquet").is_file()


def test_csv_parts_stay_csv_and_another_format_is_a_choice(run, model, folder, tmp_path, make_rows):
    import pandas as pd

    (tmp_path / "csv").mkdir()
    for k in range(2):
        pd.DataFrame({"code": ["007"] * 5, **make_rows(5, k)}).to_csv(tmp_path / "csv" / f"p{k}.csv", index=False)
    assert run("score", model, tmp_path / "csv", "-o", f"{tmp_path / 'out'}/").exit_code == 0
    assert (tmp_path / "out" / "p0.csv").read_text().splitlines()[1].startswith('"007"')
    assert run("score", model, tmp_path / "csv", "-o", f"{tmp_path / 'pq'}/", "--format", "parquet").exit_code == 0
    assert pq.read_table(tmp_path / "pq" / "p1.parquet")["code"].to_pylist() == ["007"] * 5


def test_a_folder_that_holds_something_is_refused_and_force_replaces_files_of_the_same_names(
    run, refused, model, folder, tmp_path
):
    out = tmp_path / "out"
    run("score", model, folder, "-o", f"{out}/")
    assert "earlier job" in refused("score", model, folder, "-o", out)
    assert run("score", model, folder, "-o", out, "--alpha", "0.2", "--force").exit_code == 0
    assert manifest(out)["options"]["alpha"] == 0.2
    assert rows_in(out).column_names[-1] == "flagged"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert "notes.txt" in refused("score", model, folder, "-o", tmp_path / "mine")
    assert run("score", model, folder, "-o", tmp_path / "mine", "--force").exit_code == 0
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"
    assert beside(out) == beside(tmp_path / "mine") == []


def test_force_leaves_no_table_of_an_earlier_job_among_the_outputs(refused, run, model, folder, tmp_path):
    out = tmp_path / "out"
    run("score", model, folder, "-o", f"{out}/")
    before = bytes_in(out)
    (folder / "p3.parquet").unlink()
    assert "p3.parquet" in refused("score", model, folder, "-o", out, "--force")
    assert bytes_in(out) == before
    assert beside(out) == []


def test_the_folder_that_is_read_is_never_written(refused, model, folder):
    assert "which this job reads" in refused("score", model, folder, "-o", folder, "--force")


def beside(out):
    """What a job left beside its output."""
    return [path.name for path in out.parent.iterdir() if "vecuq-" in path.name]


def cut(path):
    """Spoil the pages of the last column; what the file says about itself stays."""
    column = pq.read_metadata(path).row_group(0).column(2)
    start = column.dictionary_page_offset or column.data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 64] = b"\xff" * 64
    path.write_bytes(content)


def here_and_then(stop, n_parts=N_PARTS):
    """Return an engine that makes some parts here, and then does something."""

    def engine(make, parts, tick):
        for part in parts[:n_parts]:
            yield part, make(part, tick or (lambda _: None))
        stop()

    return engine


def interrupt():
    raise KeyboardInterrupt


def stopped(model, folder, out, n_parts=2, **how):
    """Interrupt a job when so many parts are finished; return where it left them."""
    with pytest.raises(KeyboardInterrupt):
        workflows.score_parts(model, folder, out, engine=here_and_then(interrupt, n_parts), **how)
    return out.with_name(f"{out.name}.vecuq-part")


def test_a_stopped_job_shows_no_part_and_resume_makes_only_the_missing_ones(run, refused, model, folder, tmp_path):
    out, whole = tmp_path / "out", tmp_path / "whole"
    run("score", model, folder, "-o", f"{whole}/")
    left = stopped(model, folder, out)
    assert not out.exists()
    assert sorted(bytes_in(left)) == [MANIFEST, "p0.parquet", "p1.parquet"]
    before = (left / "p0.parquet").stat().st_ino
    assert "--resume" in refused("score", model, folder, "-o", f"{out}/")
    done = run("score", model, folder, "-o", f"{out}/", "--resume")
    assert done.exit_code == 0, done.output
    assert "(2 of them before)" in done.stdout
    assert (out / "p0.parquet").stat().st_ino == before
    assert bytes_in(out) == bytes_in(whole)
    assert beside(out) == []


def test_an_interrupt_before_any_part_is_finished_leaves_nothing(model, folder, tmp_path):
    stopped(model, folder, tmp_path / "out" / "deep", n_parts=0)
    assert not (tmp_path / "out").exists()


def test_a_stopped_job_goes_on_with_its_own_model_and_options_only(run, refused, model, folder, tmp_path, make_rows):
    out = tmp_path / "out"
    stopped(model, folder, out)
    assert "other options (alpha" in refused("score", model, folder, "-o", f"{out}/", "--resume", "--alpha", "0.1")
    other = tmp_path / "other.vecuq"
    from vecuq import fit_ranker

    fit_ranker(pa.table(make_rows(99, 7))).save(other)
    assert "another model" in refused("score", other, folder, "-o", f"{out}/", "--resume")
    assert run("score", other, folder, "-o", f"{out}/", "--force").exit_code == 0
    run("score", other, folder, "-o", f"{tmp_path / 'whole'}/")
    assert bytes_in(out) == bytes_in(tmp_path / "whole")


def test_parts_whose_input_or_output_has_changed_are_made_again(run, model, folder, tmp_path):
    out, whole = tmp_path / "out", tmp_path / "whole"
    left = stopped(model, folder, out, n_parts=3)
    shutil.copyfile(folder / "p3.parquet", folder / "p0.parquet")
    content = bytearray((left / "p1.parquet").read_bytes())
    content[100] ^= 1
    (left / "p1.parquet").write_bytes(content)
    done = run("score", model, folder, "-o", f"{out}/", "--resume")
    assert done.exit_code == 0, done.output
    assert "(1 of them before)" in done.stdout
    run("score", model, folder, "-o", f"{whole}/")
    assert bytes_in(out) == bytes_in(whole)


def test_an_input_that_is_gone_leaves_no_output_behind(refused, model, folder, tmp_path):
    left = stopped(model, folder, tmp_path / "out")
    (folder / "p0.parquet").unlink()
    assert "p0.parquet" in refused("score", model, folder, "-o", f"{tmp_path / 'out'}/", "--resume")
    assert sorted(bytes_in(left)) == [MANIFEST, "p0.parquet", "p1.parquet"]


def test_inputs_of_other_types_are_another_job(refused, model, folder, tmp_path):
    table = pq.read_table(folder / "p3.parquet")
    stopped(model, folder, tmp_path / "out")
    pq.write_table(table.set_column(0, "id", pa.array(range(len(table)))), folder / "p3.parquet")
    message = refused("score", model, folder, "-o", f"{tmp_path / 'out'}/", "--resume")
    assert "columns" in message or "id" in message


def test_resuming_a_finished_job_changes_nothing(run, refused, model, folder, tmp_path):
    out = tmp_path / "out"
    run("score", model, folder, "-o", f"{out}/")
    before = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    assert run("score", model, folder, "-o", out, "--resume").exit_code == 0
    assert {path.name: path.stat().st_mtime_ns for path in out.iterdir()} == before
    assert "other options" in refused("score", model, folder, "-o", out, "--resume", "--explain")
    (out / "p1.parquet").write_bytes(b"")
    assert "p1.parquet" in refused("score", model, folder, "-o", out, "--resume")


@pytest.mark.parametrize("damage", [cut, lambda path: path.write_bytes(b"no parquet at all")])
def test_a_corrupt_part_is_named_and_left_out_only_on_request(run, model, folder, tmp_path, damage):
    whole, out = tmp_path / "whole", tmp_path / "out"
    run("score", model, folder, "-o", f"{whole}/")
    damage(folder / "p2.parquet")
    result = run("score", model, folder, "-o", f"{out}/")
    assert result.exit_code == 1
    assert "p2.parquet" in result.stderr
    assert "--skip-bad" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not out.exists()
    more = ("--resume",) if beside(out) else ()
    done = run("score", model, folder, "-o", f"{out}/", "--skip-bad", *more)
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith("note: 1 input was left out: ")
    assert "1 input left out" in done.stdout
    assert {path.name for path in out.iterdir()} == {MANIFEST, "p0.parquet", "p1.parquet", "p3.parquet"}
    assert (out / "p3.parquet").read_bytes() == (whole / "p3.parquet").read_bytes()
    assert [bad["input"] for bad in manifest(out)["skipped"]] == [str(folder / "p2.parquet")]


def test_a_corrected_file_may_be_resumed(run, model, folder, tmp_path):
    whole, out = tmp_path / "whole", tmp_path / "out"
    content = (folder / "p2.parquet").read_bytes()
    run("score", model, folder, "-o", f"{whole}/")
    cut(folder / "p2.parquet")
    assert run("score", model, folder, "-o", f"{out}/").exit_code == 1
    (folder / "p2.parquet").write_bytes(content)
    assert run("score", model, folder, "-o", f"{out}/", "--resume").exit_code == 0
    assert rows_in(out).equals(rows_in(whole))


def test_a_full_disk_is_no_bad_part(model, folder, tmp_path, monkeypatch):
    from vecuq.errors import TableError

    def full(*_, **__):
        raise TableError("out cannot be written as parquet: no space left on device")

    monkeypatch.setattr("vecuq.workflows.scoring_parts.write_batches", full)
    with pytest.raises(TableError, match="no space"):
        workflows.score_parts(model, folder, tmp_path / "out", ScoreOptions(), skip_bad=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [("--select", "bh", "--alpha", "0.1"), ("--sort",), ("--top", "3")])
def test_what_needs_all_rows_is_refused(refused, model, folder, tmp_path, words):
    assert "all rows together" in refused("score", model, folder, "-o", f"{tmp_path / 'out'}/", *words)


@pytest.mark.parametrize(
    "words", [("--resume",), ("--skip-bad",), ("--format", "csv"), ("--resume", "--force", "--parts")]
)
def test_options_that_do_not_go_with_one_file_or_each_other_are_wrong_usage(run, model, folder, tmp_path, words):
    out = tmp_path / "out.parquet"
    assert run("score", model, folder, "-o", out, *words).exit_code == 2
    assert not out.exists()


def test_a_slash_makes_a_folder_of_any_name(run, model, folder, tmp_path):
    assert run("score", model, folder, "-o", f"{tmp_path / 'out.parquet'}/").exit_code == 0
    assert (tmp_path / "out.parquet" / "p0.parquet").is_file()


def test_a_gate_decides_parts_as_it_decides_one_file(run, ranker, folder, tmp_path, make_rows):
    rows = make_rows(400, 9)
    gate = Gate(ranker, accuracy=0.8).fit(pa.table(rows), np.arange(400) % 10 > 0)
    gate.save(tmp_path / "gate.vecuq")
    done = run("score", tmp_path / "gate.vecuq", folder, "-o", f"{tmp_path / 'out'}/")
    assert done.exit_code == 0, done.output
    assert "accepted" in done.stdout
    assert run("score", tmp_path / "gate.vecuq", folder, "-o", tmp_path / "one.parquet").exit_code == 0
    assert rows_in(tmp_path / "out").equals(pq.read_table(tmp_path / "one.parquet"))


def test_a_gate_that_decides_a_batch_is_refused(refused, ranker, folder, tmp_path, make_rows):
    gate = Gate(ranker, accuracy=0.8, promise="average").fit(pa.table(make_rows(400, 9)), np.arange(400) % 10 > 0)
    gate.save(tmp_path / "gate.vecuq")
    assert "all rows of a batch" in refused("score", tmp_path / "gate.vecuq", folder, "-o", f"{tmp_path / 'out'}/")


def test_two_jobs_at_once_on_one_folder_are_refused(refused, model, folder, tmp_path):
    out = tmp_path / "out"
    said = []

    def second():
        said.append(refused("score", model, folder, "-o", f"{out}/"))
        said.append(refused("score", model, folder, "-o", f"{out}/", "--resume"))
        said.append(refused("score", model, folder, "-o", f"{out}/", "--force"))

    workflows.score_parts(model, folder, out, engine=here_and_then(second))
    assert all("another process" in one for one in said)
    assert len(rows_in(out)) == 206


def test_force_repairs_a_damaged_folder_of_the_same_job(model, folder, tmp_path):
    out = tmp_path / "out"
    workflows.score_parts(model, folder, out)
    whole = bytes_in(out)
    (out / "p0.parquet").unlink()
    (out / "p1.parquet").write_bytes(b"damaged")
    workflows.score_parts(model, folder, out, force=True)
    assert bytes_in(out) == whole


def test_a_part_that_vanishes_before_its_place_is_an_error_and_resume_makes_it_again(model, folder, tmp_path):
    from vecuq.errors import TableError

    out = tmp_path / "out"
    engine = here_and_then((tmp_path / "out.vecuq-part" / "p2.parquet").unlink)
    with pytest.raises(TableError, match="resume=True"):
        workflows.score_parts(model, folder, out, engine=engine)
    assert not out.exists()
    done = workflows.score_parts(model, folder, out, resume=True)
    assert (done.n_kept, done.n_parts) == (3, 4)
    assert len(rows_in(out)) == 206


def test_resuming_a_finished_job_with_inputs_left_out_changes_nothing(run, model, folder, tmp_path):
    out = tmp_path / "out"
    cut(folder / "p2.parquet")
    assert run("score", model, folder, "-o", f"{out}/", "--skip-bad").exit_code == 0
    before = bytes_in(out)
    done = run("score", model, folder, "-o", out, "--skip-bad", "--resume")
    assert done.exit_code == 0, done.output
    assert "1 input left out" in done.stdout
    assert bytes_in(out) == before


def test_what_a_late_worker_of_a_job_that_was_given_up_writes_is_seen_and_made_again(model, folder, tmp_path):
    from vecuq import fit_ranker
    from vecuq.errors import TableError

    out, late, parts = tmp_path / "out", [], []
    other = fit_ranker(pa.table({name: pq.read_table(folder / "p3.parquet")[name] for name in ("entropy", "knn")}))

    def given_up(make, some, tick):
        late.append(make)
        parts.extend(some)
        yield some[0], make(some[0], lambda _: None)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workflows.score_parts(other, folder, out, engine=given_up)
    engine = here_and_then(lambda: late[0](parts[1], lambda _: None))
    with pytest.raises(TableError, match="was changed"):
        workflows.score_parts(model, folder, out, engine=engine, force=True)
    workflows.score_parts(model, folder, out, resume=True)
    workflows.score_parts(model, folder, tmp_path / "whole")
    assert bytes_in(out) == bytes_in(tmp_path / "whole")


def test_what_a_dead_worker_left_is_not_among_the_outputs(model, folder, tmp_path):
    half = tmp_path / "out.vecuq-part" / ".vecuq-0123456789abcdef.part-p1.parquet"
    workflows.score_parts(model, folder, tmp_path / "out", engine=here_and_then(half.touch))
    assert sorted(bytes_in(tmp_path / "out")) == [MANIFEST, *(f"p{k}.parquet" for k in range(4))]


def test_jobs_and_an_engine_are_wrong_usage(run, model, folder, tmp_path):
    done = run("score", model, folder, "-o", f"{tmp_path / 'out'}/", "--engine", "dask", "--jobs", "2")
    assert done.exit_code == 2
    assert "--jobs" in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_output_folder_inside_the_folder_that_is_read_is_refused(run, folder, model):
    done = run("score", model, folder, "-o", f"{folder / 'sub'}/")
    assert done.exit_code in (1, 2)
    assert "which this job reads; choose another folder" in done.stderr
    assert not (folder / "sub").exists()
