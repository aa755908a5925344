"""`vecuq score --explain`, `--missing` and `--select`: the columns it adds are what Python gives, to the bit."""

import contextlib
import json

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow.csv import ConvertOptions, read_csv

from vecuq import ScoreTable, load
from vecuq.errors import CalibrationWarning, SettingError
from vecuq.table import TableReader, write_batches
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
    whole = TableReader.batches

    def batches(self):
        for batch in whole(self):
            yield from (batch.slice(start, 30) for start in range(0, len(batch), 30))

    monkeypatch.setattr(TableReader, "batches", batches)


def exactly(path):
    """Read a table to the last bit, which pandas 2 may lose in a csv file."""
    gaps = ConvertOptions(strings_can_be_null=True)
    return read_csv(path, convert_options=gaps).to_pandas() if path.suffix == ".csv" else pd.read_parquet(path)


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
    assert "3 of 40 have some ('entropy': 2, 'knn': 2)" in told


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


@pytest.mark.parametrize(("method", "alpha"), [("bh", 0.3), ("by", 0.8)])
@pytest.mark.parametrize("out", ["ranked.parquet", "ranked.csv"])
def test_the_selection_of_a_file_is_that_of_python_over_all_its_rows(
    run, tmp_path, model, new, in_small_pieces, out, method, alpha
):
    """The file comes in pieces, and each alone would be judged otherwise."""
    words = ("-o", tmp_path / out, "--alpha", alpha, "--select", method, "--missing", "marginal")
    told = run("score", model, new, *words)
    assert told.exit_code == 0
    got = exactly(tmp_path / out)
    assert list(got.columns) == ["entropy", "knn", "uncertainty", "p_value", "flagged", "selected"]
    ranker, rows = load(model), pd.read_parquet(new)
    expected = ranker.select(rows, alpha, method=method, missing="marginal", warn=False)
    npt.assert_array_equal(got["selected"], expected)
    npt.assert_array_equal(got["p_value"], ranker.p_values(rows, missing="marginal", warn=False))
    assert 0 < expected.sum() < got["flagged"].sum()
    # One row has no score: it is flagged in the table, and counted by itself.
    n_flagged = got["flagged"].sum() - 1
    flagged = f"{n_flagged} flagged at alpha {alpha} and 1 because it has no score"
    assert f"39 of 40 rows scored, {flagged}, {expected.sum()} selected ->" in told.stdout
    assert (
        "1 of 40 rows have missing or infinite scores and got no uncertainty; `flagged` is true for them" in told.stderr
    )


def test_a_selection_looks_at_the_whole_file_and_not_at_its_pieces(tmp_path, ranker, model, in_small_pieces):
    """Three foreign rows are enough among 30, where the step-up rule may take them, and not among 300."""
    foreign, usual = np.full((3, 2), 50.0), np.full((297, 2), 0.1)
    few, many = np.concatenate([foreign, usual[:27]]), np.concatenate([foreign, usual])
    needed = "With 60 held-back rows, .* of 300 rows at least 25 must be that far out at once .* more calibration rows"
    for rows, chosen, said in (
        (few, 3, contextlib.nullcontext()),
        (many, 0, pytest.warns(CalibrationWarning, match=needed)),
    ):
        write_batches(tmp_path / "n.csv", pa.table(dict(zip(ranker.columns, rows.T, strict=True))).to_batches())
        with said:
            done = scoring.score(model, tmp_path / "n.csv", tmp_path / "o.csv", alpha=0.2, select="bh")
            assert done.n_selected == chosen == ranker.select(ScoreTable.of(rows, columns=ranker.columns), 0.2).sum()
        assert done.n_flagged == 3


def test_the_selection_is_counted_in_json_if_one_was_asked_for(run, tmp_path, model, new):
    words = ("score", model, new, "-o", tmp_path / "o.csv", "--alpha", 0.3, "--json")
    assert "n_selected" not in json.loads(run(*words).stdout)
    told = json.loads(run(*words, "--select", "bh").stdout)
    assert told["n_selected"] == pd.read_csv(tmp_path / "o.csv")["selected"].sum() > 0


def test_a_selection_without_a_rate_or_by_an_unknown_rule_is_wrong_usage(run, tmp_path, model, new):
    for rule, needed in (("bh", "--select bh needs a rate. Give --alpha 0.1"), ("none", "'bh', 'by'")):
        result = run("score", model, new, "-o", tmp_path / "o.csv", "--select", rule)
        assert result.exit_code == 2
        assert needed in " ".join(result.stderr.split())
    with pytest.raises(SettingError, match=r"select='bh' needs a rate. Give alpha=0.1"):
        scoring.score(model, new, tmp_path / "o.csv", select="bh")
    assert not (tmp_path / "o.csv").exists()


def test_a_selection_that_cannot_be_had_or_has_no_place_leaves_nothing_behind(refused, tmp_path, model, new, make_rows):
    told = refused("score", model, new, "-o", tmp_path / "o.csv", "--alpha", 0.05, "--select", "by")
    assert "--alpha 0.05 with --select by over 40 rows needs at least" in told
    write_batches(tmp_path / "t.csv", pa.table({**make_rows(5, 0), "selected": [True] * 5}).to_batches())
    told = refused("score", model, tmp_path / "t.csv", "-o", tmp_path / "o.csv", "--alpha", 0.3, "--select", "bh")
    assert "['selected'] already" in told


def test_one_row_is_not_rows(run, tmp_path, model, make_rows):
    write_batches(tmp_path / "t.csv", pa.table(make_rows(1, 0)).to_batches())
    assert "1 row scored ->" in run("score", model, tmp_path / "t.csv", "-o", tmp_path / "o.csv").stdout


def test_help_says_when_p_values_of_incomplete_rows_are_valid(run):
    told = " ".join(run("score", "--help").stdout.replace("\u2502", " ").split())
    assert "valid if what is missing does not depend on the values" in told


def test_a_column_of_the_users_own_called_selected_is_kept(run, tmp_path, model, make_rows):
    frame = pd.DataFrame(make_rows(20, 5)).assign(selected="yes")
    frame.to_parquet(tmp_path / "new.parquet")
    result = run("score", model, tmp_path / "new.parquet", "-o", tmp_path / "ranked.parquet", "--alpha", 0.1)
    assert result.exit_code == 0, result.output
    assert set(pd.read_parquet(tmp_path / "ranked.parquet")["selected"]) == {"yes"}


def test_texts_that_a_spreadsheet_would_compute_are_quoted_on_request(run, tmp_path, make_rows):
    rows = make_rows(60, 0)
    write_batches(tmp_path / "c.parquet", pa.table(rows).to_batches())
    write_batches(tmp_path / "n.csv", pa.table({**rows, "note": ["=cmd|' /C calc'!A0"] * 60}).to_batches())
    assert run("fit", tmp_path / "c.parquet", "-o", tmp_path / "m.vecuq").exit_code == 0
    for option, cell in (((), "=cmd"), (("--no-formulas",), "'=cmd")):
        assert run("score", tmp_path / "m.vecuq", tmp_path / "n.csv", "-o", tmp_path / "o.csv", *option).exit_code == 0
        assert f'"{cell}' in (tmp_path / "o.csv").read_text()
