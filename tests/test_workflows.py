"""Whole jobs on files: what comes out is what Python gives, whatever the kinds of the files."""

import json
import warnings

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vecuq import Settings, fit_ranker, load, read_table, workflows
from vecuq.errors import CalibrationError, ColumnError, ColumnWarning, MissingValueWarning, SettingError, TableError
from vecuq.table import as_csv, as_jsonl, as_parquet, write_batches

KINDS = ("csv", "tsv.gz", "parquet", "feather", "npz", "jsonl")


SCORES = ("entropy", "knn")


@pytest.fixture
def new(make_rows):
    """Rows to score, with ids and labels."""
    rows = make_rows(50, 1)
    return pa.table({"id": [f"{k:03d}" for k in range(50)], **rows, "is_ood": [k % 2 for k in range(50)]})


def save(path, table):
    write_batches(path, table.to_batches())
    return path


def column(path, name):
    return read_table(path, columns=[name]).values[:, 0]


def save_empty(path, table):
    write_batches(path, [pa.RecordBatch.from_pylist([], schema=table.schema)])
    return path


def flags(path):
    return read_table(path, columns=["entropy"]).others["flagged"].to_pylist()


@pytest.mark.parametrize("kind_in", KINDS)
@pytest.mark.parametrize("kind_out", KINDS)
def test_files_and_python_agree_to_the_bit_for_every_pair_of_kinds(tmp_path, ranker, model, new, kind_in, kind_out):
    out = tmp_path / f"ranked.{kind_out}"
    done = workflows.score(model, save(tmp_path / f"new.{kind_in}", new), out, alpha=0.1)
    ranking = ranker.rank(new)
    npt.assert_array_equal(column(out, "uncertainty"), ranking.uncertainty)
    npt.assert_array_equal(column(out, "p_value"), ranking.p_values)
    assert flags(out) == (ranking.p_values <= 0.1).tolist()
    assert done == workflows.Scored(50, 0, int((ranking.p_values <= 0.1).sum()))
    others = read_table(out, columns=["entropy"]).others
    assert others["id"].to_pylist() == new["id"].to_pylist()
    assert others["is_ood"].to_pylist() == new["is_ood"].to_pylist()


def test_a_csv_comes_out_as_it_went_in_with_the_scores_added(tmp_path, model, make_rows):
    rows = make_rows(3, 1)
    cells = {
        "id": ["007", "12345678901234567890", "X"],
        "when": ["2024-01-31", "", "31.1.2024"],
        "truth": ["True", "FALSE", "true"],
        "price": ["1.50", "2", "NA"],
        "text": ["a,b", 'say "x"', "two\nlines"],
    }
    frame = pd.DataFrame({**cells, **rows})
    frame.to_csv(tmp_path / "new.csv", index=False)
    workflows.score(model, tmp_path / "new.csv", tmp_path / "ranked.csv")
    out = pd.read_csv(tmp_path / "ranked.csv", dtype=str, keep_default_na=False)
    assert list(out.columns) == [*frame.columns, "uncertainty", "p_value"]
    assert out[list(cells)].to_dict("list") == cells


def test_parquet_columns_of_any_type_come_out_as_they_went_in(tmp_path, model, new):
    table = pa.table(
        {
            **{name: new[name] for name in ("entropy", "knn")},
            "long": pa.array([2**62 + 1] * 50),
            "when": pa.array([0] * 50, pa.timestamp("us", "UTC")),
            "list": [[1, 2]] * 50,
            "small": pa.array([0.1] * 50, pa.float32()),
            "nothing": pa.nulls(50),
        }
    )
    workflows.score(model, save(tmp_path / "new.parquet", table), tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").drop(["uncertainty", "p_value"]).equals(table)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_scoring_in_many_pieces_gives_the_same_bits_as_in_one(tmp_path, monkeypatch, ranker, model, make_rows, kind):
    table = pa.table(make_rows(3_000, 2))
    save(tmp_path / f"new.{kind}", table)
    monkeypatch.setattr(as_csv, "BLOCK_BYTES", 10_000)
    monkeypatch.setattr(as_jsonl, "BATCH_ROWS", 97)
    monkeypatch.setattr(as_parquet, "BATCH_ROWS", 97)
    pieces = []
    workflows.score(
        model, tmp_path / f"new.{kind}", tmp_path / f"out.{kind}", watch=workflows.Watch(rows=pieces.append)
    )
    assert len(pieces) > 10
    assert sum(pieces) == 3_000
    npt.assert_array_equal(column(tmp_path / f"out.{kind}", "uncertainty"), ranker.uncertainty(table))


def test_many_row_groups_give_the_same_bits_as_one(tmp_path, ranker, model, make_rows):
    table = pa.table(make_rows(2_000, 3))
    pq.write_table(table, tmp_path / "new.parquet", row_group_size=37)
    workflows.score(model, tmp_path / "new.parquet", tmp_path / "out.parquet")
    npt.assert_array_equal(column(tmp_path / "out.parquet", "uncertainty"), ranker.uncertainty(table))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_with_missing_scores_get_none_and_leave_the_others_alone(tmp_path, ranker, model, new, kind):
    spoilt = new["entropy"].to_pylist()
    spoilt[3], spoilt[7] = None, float("inf")
    table = new.set_column(1, "entropy", pa.array(spoilt))
    with pytest.warns(MissingValueWarning, match="2 of 50 rows") as caught:
        done = workflows.score(model, save(tmp_path / f"new.{kind}", table), tmp_path / "out.csv", alpha=0.1)
    assert len(caught) == 1
    assert done.n_missing == 2
    score = column(tmp_path / "out.csv", "uncertainty")
    expected = ranker.uncertainty(new)
    expected[[3, 7]] = np.nan
    npt.assert_array_equal(score, expected)
    assert [flags(tmp_path / "out.csv")[k] for k in (3, 7)] == [True, True]


def test_confidence_columns_are_flipped_in_calibration_and_in_new_rows(tmp_path, make_rows):
    rows = pa.table(make_rows(100, 0))
    turned = pa.table({"entropy": rows["entropy"], "confidence": pa.array(-np.array(rows["knn"]))})
    fitted = workflows.fit(save(tmp_path / "c.parquet", turned), tmp_path / "m.vecuq", flip=["confidence"])
    assert fitted.ranker.flipped == {"confidence"}
    workflows.score(tmp_path / "m.vecuq", tmp_path / "c.parquet", tmp_path / "o.parquet")
    npt.assert_array_equal(column(tmp_path / "o.parquet", "uncertainty"), fit_ranker(rows).uncertainty(rows))


def test_fit_says_which_columns_it_set_aside(tmp_path, new):
    with pytest.warns(ColumnWarning, match=r"Not taken for scores: 'is_ood' \(whole numbers beside decimal ones\)"):
        fitted = workflows.fit(save(tmp_path / "c.csv", new), tmp_path / "m.vecuq")
    assert fitted.ranker.columns == ("entropy", "knn")
    assert fitted.set_aside == ("id", "is_ood")


def test_every_kind_of_file_fits_the_same_model(tmp_path, new):
    models = []
    for kind in KINDS:
        workflows.fit(save(tmp_path / f"c.{kind}", new), tmp_path / f"{kind}.vecuq", columns=SCORES)
        models.append((tmp_path / f"{kind}.vecuq").read_bytes())
    assert models == models[:1] * len(KINDS)


def test_fit_tells_its_watcher_of_every_sweep(tmp_path, new):
    sweeps = []
    watch = workflows.Watch(sweep=lambda number, error: sweeps.append((number, error)))
    fitted = workflows.fit(save(tmp_path / "c.csv", new), tmp_path / "m.vecuq", columns=SCORES, watch=watch)
    assert len(sweeps) >= fitted.ranker.diagnostics.sweeps > 0


@pytest.mark.parametrize("name", ["model", "model.bin", "model.v1.safetensors", ".hidden"])
def test_a_model_may_have_any_name(tmp_path, new, name):
    workflows.fit(save(tmp_path / "c.csv", new), tmp_path / name, columns=SCORES)
    assert load(tmp_path / name).columns == ("entropy", "knn")


def test_a_model_or_a_page_is_never_written_over_a_table(tmp_path, model, new):
    path = save(tmp_path / "c.parquet", new)
    before = path.read_bytes()
    with pytest.raises(TableError, match=r"A model is not a table, and .*c.parquet is the name of one"):
        workflows.fit(path, path)
    with pytest.raises(TableError, match="A web page is not a table"):
        workflows.report(model, path, path)
    assert path.read_bytes() == before


def test_a_table_given_as_the_model_is_recognised(tmp_path, model, new):
    path = save(tmp_path / "new.parquet", new)
    with pytest.raises(TableError, match=r"new.parquet is a table; a model is needed here"):
        workflows.score(path, model, tmp_path / "o.parquet")


def test_a_ranked_table_is_not_scored_again(tmp_path, model, new):
    workflows.score(model, save(tmp_path / "new.csv", new), tmp_path / "ranked.csv")
    with pytest.raises(ColumnError, match=r"has columns \['uncertainty', 'p_value'\] already"):
        workflows.score(model, tmp_path / "ranked.csv", tmp_path / "again.csv")
    assert not (tmp_path / "again.csv").exists()


def test_no_job_overwrites_what_it_reads(tmp_path, model, new):
    path = save(tmp_path / "new.parquet", new)
    (tmp_path / "parts").mkdir()
    save(tmp_path / "parts" / "1.parquet", new)
    (tmp_path / "link.parquet").symlink_to(path)
    before = path.read_bytes()
    places = [(path, path), (path, tmp_path / "link.parquet"), (tmp_path / "*.parquet", path)]
    places += [(tmp_path / "parts", tmp_path / "parts" / "ranked.parquet"), ([tmp_path / "x.csv", path], path)]
    for where, out in places:
        with pytest.raises(SettingError, match="would be, one of the files that this job reads"):
            workflows.score(model, where, out)
    with pytest.raises(SettingError, match="would be, one of the files that this job reads"):
        workflows.report(model, tmp_path / "parts", tmp_path / "parts" / "report.html")
    assert path.read_bytes() == before


def test_a_false_alarm_rate_that_cannot_be_delivered_is_refused_before_reading(tmp_path, model):
    with pytest.raises(SettingError, match=r"alpha=0.001 needs at least 999 held-back"):
        workflows.score(model, tmp_path / "absent.csv", tmp_path / "out.csv", alpha=0.001)


def test_without_held_back_rows_there_are_no_p_values_and_flags_say_why(tmp_path, new):
    path = save(tmp_path / "c.parquet", new)
    workflows.fit(path, tmp_path / "m.vecuq", Settings(holdback=0.0), columns=SCORES)
    workflows.score(tmp_path / "m.vecuq", path, tmp_path / "o.parquet")
    assert "p_value" not in pq.read_schema(tmp_path / "o.parquet").names
    with pytest.raises(CalibrationError, match="fitted with holdback=0"):
        workflows.score(tmp_path / "m.vecuq", path, tmp_path / "o.parquet", alpha=0.1)


def test_a_report_warns_of_nothing_and_needs_rows(tmp_path, model, new):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        workflows.report(model, save(tmp_path / "new.csv", new), tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(TableError, match="has no rows"):
        workflows.report(model, save_empty(tmp_path / "none.parquet", new), tmp_path / "none.html")


def test_reproduced_tables_are_written_as_csv(tmp_path):
    studies = workflows.reproduce("toy", tmp_path / "tables")
    out = pd.read_csv(tmp_path / "tables" / "toy.csv")
    assert len(out) == len(studies[0].sheets[0].rows)
    with pytest.raises(SettingError, match="Did you mean 'toy'"):
        workflows.reproduce("toi")


def test_settings_survive_the_file(tmp_path, new):
    settings = Settings.paper(epsilon=0.25, anchors=0.0)
    workflows.fit(save(tmp_path / "c.csv", new), tmp_path / "m.vecuq", settings, columns=SCORES)
    assert load(tmp_path / "m.vecuq").settings == settings
    assert json.dumps(load(tmp_path / "m.vecuq").settings.to_dict())


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_a_large_file_is_fitted_in_pieces_to_the_same_model(tmp_path, monkeypatch, kind):
    rows = np.random.default_rng(0).gamma(1.0, size=(6000, 2))
    table = pa.table({"id": [f"r{k}" for k in range(6000)], "a": rows[:, 0], "b": rows[:, 1]})
    path = save(tmp_path / f"big.{kind}", table)
    none_held = Settings(holdback=0.0)
    whole = workflows.fit(path, tmp_path / "whole.vecuq", none_held, columns=["a", "b"], flip=["b"])
    monkeypatch.setattr("vecuq.workflows.fitting._MANY_ROWS", 1000)
    monkeypatch.setattr("vecuq.workflows.fitting._MANY_BYTES", 1000)
    streamed = workflows.fit(path, tmp_path / "streamed.vecuq", none_held, columns=["a", "b"], flip=["b"])
    assert streamed.ranker.diagnostics.solver == "sketch"
    assert streamed.set_aside == whole.set_aside == ("id",)
    new = pa.table({"a": rows[:200, 0] * 2, "b": rows[:200, 1]})
    npt.assert_allclose(streamed.ranker.uncertainty(new), whole.ranker.uncertainty(new), atol=1e-8)
    held = workflows.fit(path, tmp_path / "held.vecuq", columns=["a", "b"], flip=["b"]).ranker
    assert held.diagnostics.held_by == "place"
    assert held.diagnostics.n_held + held.diagnostics.n_map == 6000


def test_a_large_file_with_a_steep_kernel_falls_back_to_the_rows(tmp_path, monkeypatch):
    rows = np.random.default_rng(0).gamma(1.0, size=(3000, 2))
    path = save(tmp_path / "big.parquet", pa.table({"a": rows[:, 0], "b": rows[:, 1]}))
    monkeypatch.setattr("vecuq.workflows.fitting._MANY_ROWS", 1000)
    fitted = workflows.fit(path, tmp_path / "m.vecuq", Settings(epsilon=0.05, tol=1e-7))
    assert fitted.ranker.diagnostics.n_sampled is None
    assert fitted.ranker.diagnostics.solver.startswith("separable")


def test_the_demo_leaves_a_users_own_tables_alone(tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "calibration.csv").write_text("mine\n1\n")
    with pytest.raises(TableError, match="is not the bundled table"):
        workflows.demo(tmp_path / "demo")
    assert (tmp_path / "demo" / "calibration.csv").read_text() == "mine\n1\n"
