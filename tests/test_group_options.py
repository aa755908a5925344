"""`--group` and `--confidence`: rows that come together, and a rate for the one calibration set at hand."""

import json

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from pyarrow import csv

from vecuq import Settings, fit_ranker, load, read_table, workflows
from vecuq.doctor import examine


@pytest.fixture
def sessions(tmp_path):
    """A table of 60 sessions of 8 rows that nearly repeat each other."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(60), 8)
    near = rng.gamma(1.0, size=(60, 2))[group] * np.exp(0.02 * rng.normal(size=(480, 2)))
    table = pd.DataFrame({"session": [f"s{k}" for k in group], "entropy": near[:, 0], "knn": near[:, 1]})
    table.to_csv(tmp_path / "c.csv", index=False)
    return tmp_path / "c.csv"


def test_a_fit_by_group_is_that_of_the_library(run, sessions, tmp_path):
    said = run("fit", sessions, "--group", "session", "-o", tmp_path / "m.vecuq").stdout
    assert "240 held back in 30 groups for p-values" in said
    table = csv.read_csv(sessions).to_pandas()
    expected = fit_ranker(table[["entropy", "knn"]], groups=table["session"])
    assert load(tmp_path / "m.vecuq").to_bytes() == expected.to_bytes()
    assert (
        json.loads(run("fit", sessions, "--group", "session", "-o", tmp_path / "m.vecuq", "--json").stdout)[
            "held_back_groups"
        ]
        == 30
    )
    shown = run("info", tmp_path / "m.vecuq").stdout
    assert "held-back groups: 30" in shown
    assert f"{expected.held.interval(0.05)[0]:.6g} to {expected.held.interval(0.05)[1]:.6g} at alpha 0.05" in shown


@pytest.mark.parametrize("name", [float, int])
def test_groups_that_look_like_scores_are_none(run, sessions, tmp_path, name):
    table = csv.read_csv(sessions).to_pandas()
    table["session"] = [name(one[1:]) + (0.5 if name is float else 0) for one in table["session"]]
    table.to_parquet(tmp_path / "c.parquet")
    said = run("fit", tmp_path / "c.parquet", "--group", "session", "-o", tmp_path / "m.vecuq")
    assert load(tmp_path / "m.vecuq").columns == ("entropy", "knn")
    assert "warning" not in said.stderr


def test_dropped_rows_take_their_group_along(run, sessions, tmp_path):
    table = csv.read_csv(sessions).to_pandas()
    table.loc[::5, "knn"] = np.nan
    table.to_csv(tmp_path / "gaps.csv", index=False)
    run("fit", tmp_path / "gaps.csv", "--group", "session", "--missing", "drop", "-o", tmp_path / "m.vecuq")
    whole = table.dropna()
    expected = fit_ranker(whole[["entropy", "knn"]], groups=whole["session"].to_numpy())
    assert load(tmp_path / "m.vecuq").to_bytes() == expected.to_bytes()


def test_a_group_that_is_no_column_or_a_score_is_refused(refused, sessions, tmp_path):
    words = ("fit", sessions, "-o", tmp_path / "m.vecuq")
    assert "lacks ['sesion'], which should name the groups" in refused(*words, "--group", "sesion")
    assert "Did you mean 'session'?" in refused(*words, "--group", "sesion")
    said = refused(*words, "--columns", "entropy,knn", "--group", "knn")
    assert "'knn' is named as a score column and as group" in said


def test_the_confidence_of_a_scored_table_is_that_of_the_library(run, model, ranker, tmp_path, make_rows):
    new = pd.DataFrame(make_rows(500, 7))
    new.to_csv(tmp_path / "n.csv", index=False)
    words = ("score", model, tmp_path / "n.csv", "-o", tmp_path / "o.csv", "--alpha", 0.1)
    said = run(*words, "--confidence", 0.9).stdout
    flags = pd.read_csv(tmp_path / "o.csv")["flagged"]
    npt.assert_array_equal(flags, ranker.flag(read_table(tmp_path / "n.csv"), 0.1, confidence=0.9))
    assert f"{flags.sum()} flagged at alpha 0.1 with confidence 0.9" in said
    assert 0 < flags.sum() < ranker.flag(new, 0.1).sum()


def test_a_confidence_that_cannot_be_had_says_what_is_needed(run, refused, model, tmp_path, make_rows):
    pd.DataFrame(make_rows(5, 7)).to_csv(tmp_path / "n.csv", index=False)
    words = ("score", model, tmp_path / "n.csv", "-o", tmp_path / "o.csv")
    said = refused(*words, "--alpha", 0.02, "--confidence", 0.9)
    assert "--alpha 0.02 with --confidence 0.9 needs at least 114 held-back rows; this model has 60" in said
    for wrong, needed in ((("--confidence", 0.9), "needs a rate"), (("--alpha", 0.1, "--confidence", 2), "must lie")):
        result = run(*words, *wrong)
        assert result.exit_code == 2
        assert needed in " ".join(result.stderr.split())


def test_the_doctor_counts_groups_and_no_longer_warns_of_them(run, sessions):
    table = csv.read_csv(sessions).to_pandas()
    by_row = {one.check: one for one in examine(table[["entropy", "knn"]])}
    by_group = {one.check: one for one in examine(table[["entropy", "knn"]], groups=table["session"])}
    assert by_row["clusters"].severity in ("warning", "serious")
    assert "groups=" in by_row["clusters"].remedy
    assert by_group["clusters"].severity == by_group["copies"].severity == by_group["order"].severity == "ok"
    assert by_group["size"].what.startswith("480 rows in 60 groups, 30 of them held back: alpha can be 0.032 or more.")
    assert by_group["size"].remedy == "Give at least 198 groups of rows for alpha 0.01."
    assert "480 rows in 60 groups, 30 of them held back" in " ".join(
        json.loads(run("doctor", sessions, "--group", "session", "--json").stdout)["findings"][k]["what"]
        for k in range(10)
    )


def test_the_doctor_compares_new_rows_by_group_too(sessions):
    table = pd.read_csv(sessions)[["entropy", "knn"]]
    groups = np.repeat(np.arange(60), 8)
    rng = np.random.default_rng(4)
    new = rng.gamma(1.0, size=(60, 2))[groups] * np.exp(0.02 * rng.normal(size=(480, 2)))
    found = {one.check: one.severity for one in examine(table, new, groups=groups)}
    assert found["drift"] == found["flagged"] == "ok"
    assert {one.severity for one in examine(table, 3 * new, groups=groups) if one.check == "drift"} != {"ok"}
    alone = {one.check: one for one in examine(table, groups=np.zeros(480))}
    assert "480 rows in one group" in alone["size"].what


def test_a_report_on_groups_claims_no_chance(sessions, tmp_path):
    workflows.fit(sessions, tmp_path / "m.vecuq", Settings(), group="session")
    workflows.report(tmp_path / "m.vecuq", sessions, tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text()
    assert "chance explains" not in page
    assert "30 held-back groups" in page
