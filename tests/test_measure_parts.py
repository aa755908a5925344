"""A folder with outputs of a classifier, measured into a folder of tables."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

MANIFEST = "_vecuq_manifest.json"


@pytest.fixture
def outputs(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for k in range(3):
        rng = np.random.default_rng(k)
        rows = {"logits": rng.normal(size=(2, 20 + k, 4)), "labels": rng.integers(0, 4, size=20 + k)}
        np.savez(folder / f"p{k}.npz", **rows, embeddings=rng.normal(size=(20 + k, 3)))
    return folder


def test_every_file_is_measured_as_it_is_alone(run, outputs, tmp_path):
    more = ("--measures", "entropy,knn", "--train", outputs / "p0.npz")
    done = run("measure", outputs, "-o", f"{tmp_path / 'out'}/", *more)
    assert done.exit_code == 0, done.output
    assert "63 rows measured" in done.stdout
    for k in range(3):
        assert run("measure", outputs / f"p{k}.npz", "-o", tmp_path / "one.parquet", *more).exit_code == 0
        assert (tmp_path / "out" / f"p{k}.parquet").read_bytes() == (tmp_path / "one.parquet").read_bytes()
    said = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert said["job"] == "measure"
    assert said["counts"]["rows"] == 63


def test_another_measure_is_another_job(run, refused, outputs, tmp_path):
    run("measure", outputs, "-o", f"{tmp_path / 'out'}/", "--measures", "entropy")
    assert "other options (measures" in refused(
        "measure", outputs, "-o", tmp_path / "out", "--measures", "msp", "--resume"
    )


def test_a_corrupt_file_of_outputs_is_named_and_left_out_on_request(run, refused, outputs, tmp_path):
    (outputs / "p1.npz").write_bytes((outputs / "p1.npz").read_bytes()[:300])
    out = f"{tmp_path / 'out'}/"
    result = run("measure", outputs, "-o", out, "--measures", "entropy")
    assert result.exit_code == 1
    assert "p1.npz" in result.stderr
    done = run("measure", outputs, "-o", out, "--measures", "entropy", "--skip-bad", "--resume")
    assert done.exit_code == 0, done.output
    assert "left out" in done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [MANIFEST, "p0.parquet", "p2.parquet"]


def test_a_file_without_rows_gives_a_table_without_rows(run, outputs, tmp_path):
    np.savez(outputs / "p1.npz", logits=np.empty((2, 0, 4)), labels=np.empty(0, dtype=int))
    done = run("measure", outputs, "-o", f"{tmp_path / 'out'}/", "--measures", "entropy")
    assert done.exit_code == 0, done.output
    assert len(pq.read_table(tmp_path / "out" / "p1.parquet")) == 0


def test_warnings_about_parts_name_them(run, outputs, tmp_path):
    np.savez(outputs / "p1.npz", logits=np.full((2, 5, 4), np.nan))
    done = run("measure", outputs, "-o", f"{tmp_path / 'out'}/", "--measures", "entropy")
    assert done.exit_code == 0, done.output
    assert "note: p1.parquet: 5 of 5 rows" in done.stderr


def test_answers_are_one_table(run, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "q", "texts": ["a", "b"]}\n')
    result = run("measure", tmp_path / "a.jsonl", "-o", f"{tmp_path / 'out'}/")
    assert result.exit_code == 2
    assert "one table" in " ".join(result.stderr.split())
