"""Python and the command line treat columns alike, and say so in their own words."""

import warnings

import numpy as np
import pandas as pd
import pytest

from vecuq import VecUQ, workflows
from vecuq.cli.wording import as_options
from vecuq.errors import CalibrationError, ColumnWarning

N = 300


def frame_of(n_rows=N, **more):
    rng = np.random.default_rng(3)
    uncertain = rng.gamma(1.0, size=n_rows)
    scores = {name: uncertain + 0.4 * rng.gamma(1.0, size=n_rows) for name in ("entropy", "knn")}
    columns = {"n_trees_against": rng.integers(0, 100, n_rows), "probability": np.exp(-uncertain)}
    return pd.DataFrame({**scores, **columns, "when": 1.7e9 + 0.5 * np.arange(n_rows), **more})


KINDS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True, double_precision=15),
    "npz": lambda frame, path: np.savez(path, **{name: frame[name].to_numpy() for name in frame}),
}


def notes_of(result):
    assert result.exit_code == 0, result.output
    return [line.removeprefix("note: ") for line in result.stderr.splitlines() if line.startswith("note: ")]


@pytest.mark.parametrize("kind", KINDS)
def test_the_notes_of_the_command_line_are_the_warnings_of_python_with_options(run, tmp_path, kind):
    frame, path = frame_of(), tmp_path / f"c.{kind}"
    KINDS[kind](frame, path)
    with pytest.warns(ColumnWarning) as caught:
        model = VecUQ().fit(frame)
    notes = notes_of(run("fit", path, "-o", tmp_path / "m.vecuq"))
    assert notes == [as_options(str(one.message)) for one in caught]
    assert "--columns entropy,knn,probability,when,n_trees_against;" in notes[0]
    assert (
        "fit with --flip probability. Leave out what is no score, as in --columns entropy,knn,probability." in notes[1]
    )
    assert model.ranker_.columns == ("entropy", "knn", "probability", "when")


def test_what_was_named_is_not_doubted_by_either(run, tmp_path):
    frame, path = frame_of(), tmp_path / "c.csv"
    frame.to_csv(path, index=False)
    chosen = ["entropy", "n_trees_against", "probability", "when"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VecUQ(columns=chosen, flip=["probability"]).fit(frame)
    asked = ("fit", path, "-o", tmp_path / "m.vecuq", "--columns", ",".join(chosen), "--flip", "probability")
    assert notes_of(run(*asked)) == []


def test_scoring_says_nothing_more_of_columns(run, tmp_path):
    path = tmp_path / "c.csv"
    frame_of().to_csv(path, index=False)
    assert len(notes_of(run("fit", path, "-o", tmp_path / "m.vecuq"))) == 2
    assert notes_of(run("score", tmp_path / "m.vecuq", path, "-o", tmp_path / "s.csv")) == []


def test_comparing_names_a_column_once_for_all_methods(run, tmp_path):
    path = tmp_path / "c.csv"
    frame_of(is_ood=np.arange(N) % 2).to_csv(path, index=False)
    notes = notes_of(run("compare", path, path, "--ood", "is_ood", "--resamples", "0"))
    assert sum("n_trees_against" in note for note in notes) == 1
    assert sum("'when' (a time" in note for note in notes) == 1


def test_a_table_that_is_streamed_is_looked_at_too(tmp_path, monkeypatch):
    frame_of(9_000).to_parquet(tmp_path / "c.parquet", index=False)
    monkeypatch.setattr("vecuq.workflows.fitting._MANY_ROWS", 1_000)
    with pytest.warns(ColumnWarning) as caught:
        fitted = workflows.fit(tmp_path / "c.parquet", tmp_path / "m.vecuq")
    assert fitted.ranker.diagnostics.solver == "sketch"
    assert ["n_trees_against" in str(one.message) for one in caught] == [True, False]


def test_a_table_that_is_streamed_names_the_row_with_a_gap_and_how_to_drop_it(run, tmp_path, monkeypatch):
    rows = np.random.default_rng(0).gamma(1.0, size=(70_000, 2))
    rows[66_000, 0] = np.nan
    pd.DataFrame(rows, columns=["entropy", "knn"]).to_parquet(tmp_path / "c.parquet", index=False)
    monkeypatch.setattr("vecuq.workflows.fitting._MANY_ROWS", 1_000)
    with pytest.raises(CalibrationError, match=r"missing='drop' drops them\. \(First one: row 66,000"):
        workflows.fit(tmp_path / "c.parquet", tmp_path / "m.vecuq")
    refused = run("fit", tmp_path / "c.parquet", "-o", tmp_path / "m.vecuq")
    assert "--missing drop drops them." in refused.stderr
    assert workflows.fit(tmp_path / "c.parquet", tmp_path / "m.vecuq", missing="drop").n_dropped == 1
