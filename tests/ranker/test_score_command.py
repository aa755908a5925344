"""`vecuq score --explain` and `--missing`: the columns it adds are what Python gives, to the bit."""

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pytest

from vecuq import ScoreTable, load
from vecuq.table import read_batches, write_batches
from vecuq.workflows import scoring


@pytest.fixture
def new(tmp_path, make_rows):
    """A table of new rows on disk, some far out, three with holes."""
    frame = pd.DataFrame(make_rows(40, 1))
    frame.loc[:4, "knn"] *= 20
    frame.loc[7, "entropy"] = np.nan
    frame.loc[8, "knn"] = np.nan
    frame.loc[9] = np.nan
    write_batches(tmp_path / "new.parquet", pa.Table.from_pandas(frame, preserve_index=False).to_batches())
    return tmp_path / "new.parquet"


@pytest.fixture
def in_small_pieces(monkeypatch):
    """Let files be read in batches of 30 rows."""

    def read(*words, **choices):
        for batch in read_batches(*words, **choices):
            yield from (batch.slice(start, 30) for start in range(0, len(batch), 30))

    monkeypatch.setattr(scoring, "read_batches", read)


@pytest.mark.parametrize("missing", ["nan", "marginal"])
@pytest.mark.parametrize("out", ["ranked.parquet", "ranked.csv"])
def test_reasons_are_those_that_python_gives(run, tmp_path, model, new, out, missing):
    words = ("-o", tmp_path / out, "--alpha", 0.1, "--explain", "--missing", missing)
    assert run("score", model, new, *words).exit_code == 0
    read = pd.read_csv if out.endswith("csv") else pd.read_parquet
    got, ranker, rows = read(tmp_path / out), load(model), pd.read_parquet(new)
    added = ["uncertainty", "p_value", "flagged", "why", "contribution_entropy", "contribution_knn"]
    assert list(got.columns) == ["entropy", "knn", *added]
    npt.assert_array_equal(got[added[-2:]], ranker.explain(rows, missing=missing))
    ranking = ranker.rank(rows, missing=missing, warn=False)
    npt.assert_array_equal(got["uncertainty"], ranking.uncertainty)
    npt.assert_array_equal(got["p_value"], ranking.p_values)
    assert (
        got.loc[got["flagged"], "why"].tolist() == np.array(ranker.why(rows, missing=missing))[got["flagged"]].tolist()
    )
    assert got.loc[~got["flagged"], "why"].isna().all()
    assert got["why"][0].startswith("knn is high (contributes +")


def test_without_a_rate_every_row_says_why(run, tmp_path, model, new):
    run("score", model, new, "-o", tmp_path / "o.csv", "--explain")
    got = pd.read_csv(tmp_path / "o.csv")
    assert "flagged" not in got
    assert got["why"].tolist() == load(model).why(pd.read_parquet(new))
    assert got["why"][9] == "not scored: missing or infinite in entropy, knn"


def test_marginal_scores_rows_from_what_they_have_and_says_what_is_left(run, tmp_path, model, new):
    told = run("score", model, new, "-o", tmp_path / "o.csv", "--missing", "marginal")
    assert "1 of 40 rows have missing or infinite scores and got no uncertainty" in told.stderr
    assert pd.read_csv(tmp_path / "o.csv")["uncertainty"].isna().sum() == 1


@pytest.mark.parametrize("name", ["lack.csv", "lack.parquet", "lack.jsonl"])
def test_a_file_without_a_column_is_scored_without_and_told_once(
    run, refused, tmp_path, model, make_rows, in_small_pieces, name
):
    rows = make_rows(100, 2)
    write_batches(tmp_path / name, pa.table({"entropy": rows["entropy"]}).to_batches())
    told = run("score", model, tmp_path / name, "-o", tmp_path / "o.parquet", "--missing", "marginal")
    assert told.stderr.count("The table lacks ['knn']") == 1
    expected = load(model).uncertainty(pd.DataFrame({"entropy": rows["entropy"], "knn": np.nan}), missing="marginal")
    npt.assert_array_equal(pd.read_parquet(tmp_path / "o.parquet")["uncertainty"], expected)
    assert "lacks ['knn']" in refused("score", model, tmp_path / name, "-o", tmp_path / "o2.csv")


def test_error_refuses_holes_and_leaves_nothing_behind(refused, tmp_path, model, new):
    told = refused("score", model, new, "-o", tmp_path / "o.csv", "--missing", "error")
    assert "3 of 40 rows have missing or infinite scores ('entropy': 2, 'knn': 2)" in told


def test_columns_that_explaining_adds_must_be_free(run, refused, tmp_path, model, make_rows):
    taken = {**make_rows(5, 0), "why": ["x"] * 5, "contribution_knn": [0.0] * 5}
    write_batches(tmp_path / "t.csv", pa.table(taken).to_batches())
    told = refused("score", model, tmp_path / "t.csv", "-o", tmp_path / "o.csv", "--explain")
    assert "['why', 'contribution_knn'] already" in told
    assert run("score", model, tmp_path / "t.csv", "-o", tmp_path / "o.csv").exit_code == 0


def test_what_scoring_added_is_never_taken_for_a_score(run, tmp_path, model, new):
    run("score", model, new, "-o", tmp_path / "o.parquet", "--alpha", 0.1, "--explain")
    assert ScoreTable.of(pd.read_parquet(tmp_path / "o.parquet")).columns == ("entropy", "knn")


def test_an_unknown_choice_is_wrong_usage(run, model, new):
    result = run("score", model, new, "--missing", "drop")
    assert result.exit_code == 2
    assert "'nan', 'error', 'marginal'" in " ".join(result.stderr.split())


def test_a_model_with_the_dominance_tail_is_fitted_and_explained(run, tmp_path, calibration_table, new):
    write_batches(tmp_path / "c.csv", calibration_table.to_batches())
    assert run("fit", tmp_path / "c.csv", "-o", tmp_path / "d.vecuq", "--tail", "dominance").exit_code == 0
    assert load(tmp_path / "d.vecuq").settings.tail == "dominance"
    assert run("score", tmp_path / "d.vecuq", new, "-o", tmp_path / "o.csv", "--explain").exit_code == 0
