"""`vecuq fit --weights` and `vecuq fit --labelled`: weights on the command line are those of Python."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vecuq import VecUQ, learn_weights, load

RNG = np.random.default_rng(0)
NAMES = ["entropy", "knn"]


def scores(n_rows):
    return {name: RNG.gamma(1.0 + k, size=n_rows) for k, name in enumerate(NAMES)}


@pytest.fixture
def tables(tmp_path):
    rows = scores(400)
    wrong = RNG.random(400) < rows["entropy"] / (1.5 + rows["entropy"])
    pq.write_table(pa.table(scores(300)), tmp_path / "calibration.parquet")
    labelled = pa.table({**rows, "quality": RNG.random(400), "is_wrong": wrong.astype(int)})
    pq.write_table(labelled, tmp_path / "labelled.parquet")
    return tmp_path


def test_weights_are_given_by_column(run, tables):
    model = tables / "model.vecuq"
    text = run("fit", tables / "calibration.parquet", "-o", model, "--weights", "entropy=2,knn=0.5").stdout
    assert "entropy 1, knn 0.25 (given)" in text
    assert dict(load(model).settings.weights) == {"entropy": 1.0, "knn": 0.25}
    assert "entropy=1 knn=0.25" in run("info", model).stdout


def test_weights_are_learned_from_labelled_rows_as_in_python(run, tables):
    model, labelled = tables / "model.vecuq", pq.read_table(tables / "labelled.parquet")
    words = ["--labelled", tables / "labelled.parquet", "--wrong", "is_wrong"]
    text = run("fit", tables / "calibration.parquet", "-o", model, *words).stdout
    weights = learn_weights(labelled, labelled["is_wrong"], columns=NAMES)
    assert "learned from 400 labels" in text
    known = VecUQ(weights=weights, columns=NAMES).fit(pq.read_table(tables / "calibration.parquet"))
    assert load(model).to_bytes() == known.to_bytes()
    found = json.loads(run("info", model, "--json").stdout)["weights"]
    assert found == {"columns": dict(weights), "labels": 400, "wrong": weights.n_wrong}


def test_many_rows_that_are_streamed_take_learned_weights_too(run, tables, monkeypatch):
    monkeypatch.setattr("vecuq.workflows.fitting._MANY_ROWS", 10)
    words = ["--labelled", tables / "labelled.parquet", "--wrong", "is_wrong"]
    run("fit", tables / "calibration.parquet", "-o", tables / "model.vecuq", *words)
    ranker = load(tables / "model.vecuq")
    assert ranker.diagnostics.held_by == "place"
    assert ranker.settings.weights.n_labels == 400


def test_labelled_rows_with_gaps_are_dropped_with_the_calibration_rows(run, refused, tables):
    table = pq.read_table(tables / "labelled.parquet")
    gap = table.set_column(0, "entropy", pa.array([None, *table["entropy"].to_pylist()[1:]], pa.float64()))
    pq.write_table(gap, tables / "gaps.parquet")
    words = ["fit", tables / "calibration.parquet", "-o", tables / "m.vecuq"]
    words += ["--labelled", tables / "gaps.parquet", "--wrong", "is_wrong"]
    assert "Labelled rows must have no NaN" in refused(*words)
    run(*words, "--missing", "drop")
    assert load(tables / "m.vecuq").settings.weights.n_labels == 399


WRONG_USAGE = {
    "no number": (["--weights", "entropy=much,knn=1"], "COLUMN=NUMBER"),
    "no name": (["--weights", "1,2"], "COLUMN=NUMBER"),
    "a negative weight": (["--weights", "entropy=-1,knn=1"], "must lie in"),
    "labels without a table": (["--wrong", "is_wrong"], "--labelled and --wrong go together"),
    "given and learned": (["--weights", "entropy=1", "--labelled", "l.csv", "--wrong", "w"], "leave one out"),
}


@pytest.mark.parametrize("name", WRONG_USAGE)
def test_wrong_usage_is_named(run, tables, name):
    words, message = WRONG_USAGE[name]
    done = run("fit", tables / "calibration.parquet", "-o", tables / "m.vecuq", *words)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_labels_that_are_no_labels_are_refused(refused, tables):
    words = ["fit", tables / "calibration.parquet", "-o", tables / "m.vecuq", "--labelled", tables / "labelled.parquet"]
    assert "0 or 1" in refused(*words, "--wrong", "quality")
    assert "Did you mean 'is_wrong'" in refused(*words, "--wrong", "was_wrong")
    assert not (tables / "m.vecuq").exists()


def test_weights_of_other_columns_are_refused(refused, tables):
    words = ["fit", tables / "calibration.parquet", "-o", tables / "m.vecuq"]
    assert "'nkn'" in refused(*words, "--weights", "entropy=1,nkn=0.5")
    assert "--weights" in refused(*words, "--weights", "entropy=1")
