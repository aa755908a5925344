"""Tables with more rows than are kept: `vecuq evaluate` and `vecuq gate` count them; partitions are counted alike."""

import json
from functools import partial

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pytest

from vecuq import Gate, load
from vecuq.evaluation import PartialEvaluation, evaluate
from vecuq.workflows import LabelColumns, Labels, drift_part, evaluation_part, gate_part, large

SCORES = ("entropy", "knn")


def frame(n, seed):
    rng = np.random.default_rng(seed)
    rows = rng.gamma(1.0, size=(n, 2))
    chance = rows.sum(axis=1) / 16
    wrong = rng.random(n) < chance
    quality = 10 * np.clip(1 - chance * rng.random(n) * 2, 0, 1)
    scores = {**dict(zip(SCORES, rows.T, strict=True)), "confidence": -rows[:, 0], "p_wrong": chance.clip(0, 1)}
    site = np.where(np.arange(n) % 3, "a", "b")
    return pd.DataFrame({**scores, "is_error": wrong.astype(int), "quality": quality, "site": site})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Four part files, and the limits so low that they are large."""
    monkeypatch.setattr(large, "MANY_ROWS", 1_000)
    monkeypatch.setattr(large, "MANY_BYTES", 50_000)
    parts = tmp_path / "parts"
    parts.mkdir()
    for k in range(4):
        frame(700, k).to_parquet(parts / f"{k}.parquet")
    pd.concat([frame(700, k) for k in range(4)]).to_csv(tmp_path / "all.csv", index=False)
    frame(300, 9)[list(SCORES)].to_parquet(tmp_path / "calibration.parquet")
    return tmp_path


LABELS = ("--error", "is_error", "--quality", "quality", "--flip", "confidence", "--resamples", "20")


def exact():
    rows = pd.concat([frame(700, k) for k in range(4)])
    scores = {"entropy": rows.entropy, "knn": rows.knn, "confidence": -rows.confidence}
    return evaluate(scores, error=rows.is_error, quality=rows.quality, p_wrong=rows.p_wrong)


@pytest.mark.parametrize("table", ["parts", "all.csv"])
def test_a_large_table_is_evaluated_from_counts(run, folder, table):
    told = json.loads(run("evaluate", folder / table, *LABELS, "--json").stdout)
    assert told["summary"]
    assert told["flipped"] == ["confidence"]
    found = {(row["method"], row["metric"], row["task"]): row for row in told["estimates"]}
    for row in exact().rows():
        mine = found[row["method"], row["metric"], row["task"]]
        npt.assert_allclose(mine["value"], row["value"], atol=1e-9)
        assert mine["lowest"] <= mine["value"] <= mine["highest"]
    assert told["calibration"]["brier"] == pytest.approx(exact().calibration.brier, abs=1e-9)


def test_it_is_said_that_numbers_come_from_a_summary_and_how_exact_they_are(run, folder, monkeypatch):
    assert "From a summary of 2,800 rows that lost nothing" in run("evaluate", folder / "parts", *LABELS[:2]).stdout
    monkeypatch.setattr(large, "PartialEvaluation", partial(PartialEvaluation, cells=64))
    said = run("evaluate", folder / "parts", *LABELS[:2]).stdout
    assert "the exact value lies within ± of the one printed, by at most" in " ".join(said.split())


def test_tables_and_curves_are_written(run, folder):
    run("evaluate", folder / "parts", *LABELS, "-o", folder / "t.csv", "--curves", folder / "c.csv")
    table, curves = pd.read_csv(folder / "t.csv"), pd.read_csv(folder / "c.csv")
    assert {"lowest", "highest", "value", "metric"} <= set(table.columns)
    assert set(curves.task) == {"generation", "selective"}
    run("evaluate", folder / "parts", *LABELS, "-o", folder / "t.md", "--curves", folder / "c.svg")
    assert "| score | roc_auc |" in (folder / "t.md").read_text()


def test_with_groups_rows_are_kept_and_nothing_is_said_of_a_summary(run, folder):
    done = run("evaluate", folder / "parts", *LABELS, "--group", "site")
    assert "summary" not in done.stdout


def test_a_bad_label_in_a_later_file_is_refused(refused, folder):
    frame(700, 5).assign(is_error=2).to_parquet(folder / "parts" / "9.parquet")
    assert "0 or 1" in refused("evaluate", folder / "parts", "--error", "is_error")


@pytest.mark.parametrize("more", [(), ("--by", "site"), ("--by", "site", "--simultaneous"), ("--order", "knn")])
def test_a_large_table_is_gated_from_counts_as_it_is_from_rows(run, folder, monkeypatch, more):
    model = folder / "model.vecuq"
    run("fit", folder / "calibration.parquet", "-o", model)
    how = ("--wrong", "is_error", "--accuracy", "0.9", *more)
    done = run("gate", model, folder / "parts", *how, "-o", folder / "counts.vecuq")
    assert "Fitted to counts" in done.stdout
    monkeypatch.setattr(large, "MANY_ROWS", 10**9)
    done = run("gate", model, folder / "parts", *how, "-o", folder / "rows.vecuq")
    assert "Fitted to counts" not in done.stdout
    counts, rows = load(folder / "counts.vecuq"), load(folder / "rows.vecuq")
    assert counts.rules_ == rows.rules_
    assert counts.learned_.labelled.counts is not None
    new = frame(300, 7)
    by = {"by": new.site} if "--by" in more else {}
    npt.assert_array_equal(counts.accept(new[list(SCORES)], **by), rows.accept(new[list(SCORES)], **by))


def test_what_counts_cannot_give_is_fitted_to_rows(run, folder):
    model = folder / "model.vecuq"
    run("fit", folder / "calibration.parquet", "-o", model)
    how = ("--wrong", "is_error", "--accuracy", "0.9", "-o", folder / "gate.vecuq")
    for more in (("--group", "site"), ("--promise", "average")):
        assert "Fitted to counts" not in run("gate", model, folder / "parts", *how, *more).stdout


@pytest.mark.parametrize("holdback", ["0.3", "0"], ids=["held back", "no scores"])
def test_rows_are_kept_where_no_other_rows_set_the_thresholds(run, folder, monkeypatch, holdback):
    """Labelled rows that the model held back, or a model that holds back none: some labelled rows lend their scores."""
    model, labelled = folder / "model.vecuq", folder / "labelled.parquet"
    pd.concat([frame(700, k) for k in range(4)]).to_parquet(labelled)
    fitted = labelled if float(holdback) else folder / "calibration.parquet"
    run("fit", fitted, "--columns", ",".join(SCORES), "--holdback", holdback, "-o", model)
    pd.concat([frame(700, k) for k in range(6)]).to_parquet(labelled)
    how = ("--wrong", "is_error", "--accuracy", "0.85", "--order", "knn")
    done = run("gate", model, labelled, *how, "-o", folder / "large.vecuq")
    assert done.exit_code == 0, done.stderr
    assert "Fitted to counts" not in done.stdout
    monkeypatch.setattr(large, "MANY_ROWS", 10**9)
    small = run("gate", model, labelled, *how, "-o", folder / "small.vecuq")
    assert done.stderr == small.stderr
    assert load(folder / "large.vecuq").rules_ == load(folder / "small.vecuq").rules_


def test_with_rows_without_labels_they_are_counted_even_if_the_model_held_some_back(run, folder):
    model, others = folder / "model.vecuq", folder / "others.parquet"
    run("fit", folder / "parts", "--columns", ",".join(SCORES), "--holdback", "0.3", "-o", model)
    frame(500, 8).to_parquet(others)
    how = ("--wrong", "is_error", "--accuracy", "0.85", "-o", folder / "gate.vecuq")
    assert "Fitted to counts" in run("gate", model, folder / "parts", *how, "--unlabelled", others).stdout


def test_the_gate_of_counts_scores_is_audited_and_shown(run, folder):
    model, gate = folder / "model.vecuq", folder / "gate.vecuq"
    run("fit", folder / "calibration.parquet", "-o", model)
    run("gate", model, folder / "parts", "--wrong", "is_error", "--accuracy", "0.85", "-o", gate)
    frame(500, 8).drop(columns="p_wrong").to_parquet(folder / "new.parquet")
    done = run("score", gate, folder / "new.parquet", "-o", folder / "decided.parquet")
    assert done.exit_code == 0, done.stderr
    assert pd.read_parquet(folder / "decided.parquet")["accept"].any()
    assert "Accepted rows" in run("audit", gate, folder / "new.parquet", "--wrong", "is_error").stdout
    assert json.loads(run("info", gate, "--json").stdout)["n_labels"] == 2_800


PARTS = [frame(500, seed) for seed in range(3)]


@pytest.mark.parametrize("as_given", [lambda part: part, pa.Table.from_pandas, pa.RecordBatch.from_pandas])
def test_partitions_as_pandas_or_arrow_give_summaries_that_add_up(as_given):
    """What docs/scale-decisions.md shows for Dask and Spark, without them."""
    labels = Labels(error="is_error", quality="quality")
    parts = [evaluation_part(as_given(part), labels, flip=["confidence"], quality_range=(0, 10)) for part in PARTS]
    found = sum(parts).evaluate(["roc_auc"])
    rows = pd.concat(PARTS)
    expected = evaluate({"knn": rows.knn}, error=rows.is_error, metrics=["roc_auc"]).estimate("knn", "error roc_auc")
    assert found.estimate("knn", "error roc_auc").value == pytest.approx(expected.value)


def test_partitions_give_a_gate_and_a_test_of_drift(ranker):
    gate = Gate(ranker, accuracy=0.85)
    labels = LabelColumns(wrong="is_error", by="site")
    rows = pd.concat(PARTS)
    made = sum(gate_part(gate, part, labels) for part in PARTS).fit()
    whole = Gate(ranker, accuracy=0.85).fit(rows, 1 - rows.is_error, by=rows.site)
    assert made.rules_ == whole.rules_
    moved = sum(drift_part(ranker, part[list(SCORES)]) for part in PARTS).test()
    assert {one.n_rows for one in moved} == {1_500}
