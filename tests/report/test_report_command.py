"""`vecuq report`: models, gates and pipelines in, a page and a table out."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vecuq import Gate, load


@pytest.fixture(scope="module")
def folder(tmp_path_factory, ranker, decided):
    """A model, a gate, a gate by category, and labelled new rows."""
    place = tmp_path_factory.mktemp("report")
    rows = decided(2_500, 5)
    right = 1 - rows["wrong"].to_numpy()
    ranker.save(place / "m.vecuq")
    Gate(ranker, accuracy=0.9).fit(rows, right).save(place / "gate.vecuq")
    Gate(ranker, accuracy=0.88).fit(rows, right, by=rows["by"].to_pylist()).save(place / "by.vecuq")
    new = decided(300, 8)
    gaps = pa.array([None if k < 4 else value for k, value in enumerate(new["knn"].to_pylist())])
    pq.write_table(new.set_column(new.column_names.index("knn"), "knn", gaps), place / "new.parquet")
    return place


@pytest.fixture
def no_page(monkeypatch):
    """Keep what a page would be made of, instead of making it."""
    kept = {}

    def keep(ranker, new, ranking, *, title, beside):
        kept.update(title=title, beside=beside, new=new, ranking=ranking)
        return "<!doctype html>"

    monkeypatch.setattr("vecuq.report.build_report", keep)
    return kept


def test_the_table_holds_all_flagged_rows_with_reasons_most_uncertain_first(run, folder, tmp_path, no_page):
    out, table = tmp_path / "r.html", tmp_path / "flagged.parquet"
    said = run("report", folder / "m.vecuq", folder / "new.parquet", "-o", out, "--alpha", 0.1, "--table", table).stdout
    found, model = pd.read_parquet(table), load(folder / "m.vecuq")
    new = pd.read_parquet(folder / "new.parquet")
    flagged = model.flag(new, 0.1, warn=False)
    assert set(found["id"]) == set(new["id"][flagged])
    scored = found["uncertainty"].dropna()
    assert scored.is_monotonic_decreasing
    assert found["uncertainty"].isna().tail(4).all()
    assert found["flagged"].all()
    expected = dict(zip(new["id"], model.why(new), strict=True))
    assert all(expected[key] == why for key, why in zip(found["id"], found["why"], strict=True))
    assert {"contribution_entropy", "contribution_knn", "p_value", "by"} <= set(found.columns)
    assert f"{len(scored)} of 300 rows flagged, 4 without a score; report -> {out}" in said
    assert f"{len(found)} rows with reasons -> {table}" in said
    assert no_page["beside"].table == str(table)
    assert no_page["beside"].origin.page == str(out)


def test_the_table_of_a_gate_holds_what_it_does_not_accept_in_any_format(run, folder, tmp_path, no_page):
    table = tmp_path / "review.csv.gz"
    words = (
        "report",
        folder / "gate.vecuq",
        folder / "new.parquet",
        "-o",
        tmp_path / "r.html",
        "--table",
        table,
        "--json",
    )
    said = json.loads(run(*words).stdout)
    found, gate = pd.read_csv(table), load(folder / "gate.vecuq")
    new = pq.read_table(folder / "new.parquet")
    with pytest.warns():
        accepted = gate.accept(new)
    assert set(found["id"]) == set(np.array(new["id"])[~accepted])
    assert not found["accept"].any()
    assert (said["n_such"], said["n_unscored"], said["n_written"]) == (len(found) - 4, 4, len(found))


def test_labels_groups_and_categories_reach_the_report(run, folder, tmp_path, no_page):
    words = ("report", folder / "m.vecuq", folder / "new.parquet", "-o", tmp_path / "r.html", "--group", "session")
    run(*words, "--correct", "id>=150", "--ood", "wrong", "--by", "by", "--calibration", folder / "new.parquet")
    beside = no_page["beside"]
    np.testing.assert_array_equal(beside.labels["error"], np.arange(300) < 150)
    assert (beside.by, beside.group, beside.label_columns) == ("by", "session", ("id", "wrong"))
    assert len(beside.calibration) == 300
    assert beside.origin.labels == ("--correct", "id>=150", "--ood", "wrong")
    assert beside.origin.facts["kind"] == "model"
    assert len(beside.origin.facts["checksum"]) == 64


def test_only_the_columns_that_a_page_needs_are_read(run, folder, tmp_path, no_page, decided):
    wide = decided(30, 1)
    for k in range(20):
        wide = wide.append_column(f"extra_{k}", pa.array(np.arange(30.0)))
    pq.write_table(wide, tmp_path / "wide.parquet")
    run("report", folder / "m.vecuq", tmp_path / "wide.parquet", "-o", tmp_path / "r.html")
    assert no_page["new"].column_names == ["id", "entropy", "knn", "wrong", "by", "session"]


def test_a_gate_by_category_needs_its_column(run, refused, folder, tmp_path, no_page):
    words = ("report", folder / "by.vecuq", folder / "new.parquet", "-o", tmp_path / "r.html")
    assert "name the column of categories with --by" in refused(*words)
    assert run(*words, "--by", "by").exit_code == 0
    assert "lacks ['bye']" in refused(*words, "--by", "bye")


def test_other_saved_kinds_get_a_clear_line(refused, folder, tmp_path, make_rows):
    from vecuq.baselines import Conformal, fisher

    Conformal(fisher()).fit(pd.DataFrame(make_rows(100, 0))).save(tmp_path / "c.vecuq")
    words = ("report", tmp_path / "c.vecuq", folder / "new.parquet", "-o", tmp_path / "r.html")
    assert "holds a conformal; a model or a pipeline is needed here" in refused(*words)


def test_neither_page_nor_table_is_left_when_one_fails(refused, folder, tmp_path, no_page, monkeypatch):
    def fail(*_, **__):
        raise OSError("no table")

    monkeypatch.setattr("vecuq.workflows.review_table.write_batches", fail)
    words = ("report", folder / "m.vecuq", folder / "new.parquet", "-o", tmp_path / "r.html")
    assert "no table" in refused(*words, "--table", tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_table_is_not_written_over_what_the_command_reads_or_to_stdout(refused, folder, tmp_path, no_page):
    words = ("report", folder / "m.vecuq", folder / "new.parquet", "-o", tmp_path / "r.html", "--table")
    assert "one of the files that this job reads" in refused(*words, folder / "new.parquet")
    assert "standard output" in refused(*words, "-")


def test_a_pipeline_reports_on_outputs_with_their_labels(run, tmp_path, no_page):
    from vecuq import VecUQPipeline

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    logits = rng.normal(size=(4, 300, 3)) + 2 * np.eye(3)[labels]
    pipeline = VecUQPipeline(measures=["entropy", "mutual_information"]).fit(logits)
    pipeline.save(tmp_path / "p.vecuq")
    np.savez(tmp_path / "o.npz", logits=logits[:, :80], labels=labels[:80])
    run("report", tmp_path / "p.vecuq", tmp_path / "o.npz", "-o", tmp_path / "r.html", "--table", tmp_path / "t.csv")
    wrong = logits[:, :80].mean(axis=0).argmax(axis=1) != labels[:80]
    assert no_page["beside"].labels["error"].mean() == pytest.approx(wrong.mean(), abs=0.05)
    assert no_page["beside"].origin.of_outputs
    assert "why" in pd.read_csv(tmp_path / "t.csv").columns


def test_the_demo_and_rank_write_the_same_report_as_the_command(run, tmp_path, no_page):
    run("demo", "-o", tmp_path / "d")
    made = dict(no_page)
    assert made["beside"].calibration is not None
    assert set(made["beside"].labels) == {"error", "ood"}
    assert made["beside"].origin.model == str(tmp_path / "d" / "model.vecuq")
    assert made["beside"].origin.page == str(tmp_path / "d" / "report.html")
    words = ("--wrong", "is_error", "--ood", "is_ood", "--calibration", tmp_path / "d" / "calibration.csv")
    run("report", tmp_path / "d" / "model.vecuq", tmp_path / "d" / "new.csv", "-o", tmp_path / "r.html", *words)
    np.testing.assert_array_equal(no_page["ranking"].uncertainty, made["ranking"].uncertainty)
    assert no_page["beside"].origin.facts == made["beside"].origin.facts
    assert no_page["beside"].origin.calibration == made["beside"].origin.calibration
