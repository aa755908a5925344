"""`vecuq rank` notices tables that are the same, swapped, or no tables."""

import numpy as np
import pandas as pd
import pytest

from vecuq import fit_ranker
from vecuq.errors import CalibrationWarning
from vecuq.workflows.two_tables import doubt_order


@pytest.fixture(autouse=True)
def small_page(monkeypatch):
    """Reports are not what these tests are about."""
    monkeypatch.setattr("vecuq.report.build_report", lambda *_, **__: "<!doctype html>")


@pytest.fixture
def files(tmp_path, ranker, make_rows):
    """Calibration rows, and new rows of which every second one is far out."""
    ranker.save(tmp_path / "m.vecuq")
    pd.DataFrame(make_rows(300, 0)).to_csv(tmp_path / "c.csv", index=False)
    new = pd.DataFrame(make_rows(300, 1))
    new.iloc[::2] *= 4
    new.assign(is_ood=(np.arange(300) % 2 == 0).astype(int)).to_csv(tmp_path / "n.csv", index=False)
    return tmp_path


def rank(run, files, calibration, new, *more):
    done = run("rank", files / calibration, files / new, "--columns", "entropy,knn", "-o", files / "out", *more)
    assert done.exit_code == 0, done.output
    return done.stderr


def test_rank_says_nothing_of_two_good_tables(run, files):
    assert rank(run, files, "c.csv", "n.csv") == ""


@pytest.mark.parametrize("new", ["c.csv", "copy.csv", "link.csv", "parts"])
def test_rank_notices_that_the_new_rows_are_the_calibration_rows(run, files, new):
    (files / "copy.csv").write_bytes((files / "c.csv").read_bytes())
    (files / "link.csv").symlink_to(files / "c.csv")
    (files / "parts").mkdir()
    (files / "parts" / "0.csv").write_bytes((files / "c.csv").read_bytes())
    assert "holds the calibration rows themselves" in rank(run, files, "c.csv", new)


def test_rank_asks_whether_the_tables_are_swapped(run, files):
    told = rank(run, files, "n.csv", "c.csv")
    assert "The calibration rows are more uncertain than the new rows, in 6" in told
    assert "Are the two tables swapped? The calibration rows come first, then the new rows." in told


def test_a_label_that_only_the_calibration_table_has_is_a_sign_of_swapped_tables(refused, files):
    told = refused("rank", files / "n.csv", files / "c.csv", "--ood", "is_ood", "-o", files / "out")
    assert "lacks ['is_ood'], named as a label, and" in told
    assert "Swapped? The calibration rows come first" in told


def test_a_model_in_place_of_a_table_is_told(refused, files):
    for words in ((files / "m.vecuq", files / "n.csv"), (files / "c.csv", files / "m.vecuq")):
        told = refused("rank", *words, "-o", files / "out")
        assert "m.vecuq holds a model, and two tables are needed here" in told


def test_tables_of_one_law_are_hardly_ever_taken_for_swapped(recwarn):
    for seed in range(100):
        rng = np.random.default_rng(seed)
        rows = rng.gamma(2.0, size=(280, 2))
        rows = rows if seed % 2 else np.ceil(rows)  # with ties
        ranker = fit_ranker(rows[:80])
        doubt_order(ranker, ranker.uncertainty(rows[80:]))
    assert not recwarn.list


def test_a_row_without_a_score_and_a_model_without_held_back_rows_raise_no_doubt(ranker, recwarn):
    doubt_order(ranker, np.full(5, np.nan))
    with pytest.warns(CalibrationWarning, match="100% of all pairs"):
        doubt_order(ranker, np.r_[np.zeros(300), np.nan])
