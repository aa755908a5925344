"""Rows that come together: whole groups are held back, and every decision counts groups."""

import warnings

import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from vecuq import Settings, VecUQ, VecUQPipeline, fit_ranker, load
from vecuq.conformal import grouped_p_values, tail_weights
from vecuq.errors import CalibrationError, SettingError, TableError

SMALL = Settings(n_targets=25, tol=1e-6)


def clustered(rng, n_groups, size=10, m=2, likeness=0.8):
    """Return rows of groups whose rows share most of their scores, and the group of each row."""
    groups = np.repeat(np.arange(n_groups), size)
    shared = rng.normal(size=(n_groups, m)) + rng.normal(size=(n_groups, 1))
    rows = likeness * shared[groups] + (1 - likeness) * rng.normal(size=(len(groups), m))
    return np.exp(rows), groups


ROWS, GROUPS = clustered(np.random.default_rng(0), 40)
NEW = clustered(np.random.default_rng(1), 30)[0]


@pytest.fixture(scope="module")
def ranker():
    return fit_ranker(ROWS, SMALL, groups=GROUPS)


def test_whole_groups_are_held_back(ranker):
    held = {tuple(row) for row in ranker.kept.held}
    aside = np.array([tuple(row) in held for row in ROWS])
    assert ranker.n_groups == 20
    assert [len(set(aside[group == GROUPS])) for group in range(40) for group in [group]] == [1] * 40
    assert aside.sum() == ranker.diagnostics.n_held == 200
    assert len(ranker.calibration_scores) == 200


def test_p_values_count_the_groups(ranker):
    by_row = {tuple(row): group for row, group in zip(ROWS, GROUPS, strict=True)}
    scores = ranker.uncertainty(ranker.as_table(ranker.kept.held))
    groups = np.array([by_row[tuple(row)] for row in ranker.kept.held])
    shares = [[np.mean(scores[groups == one] >= new) for one in np.unique(groups)] for new in ranker.uncertainty(NEW)]
    npt.assert_allclose(ranker.p_values(NEW), (1 + np.sum(shares, axis=1)) / 21)
    assert ranker.p_values([[1e9, 1e9]])[0] == pytest.approx(1 / 21)


def test_flags_thresholds_and_predictions_agree(ranker):
    for alpha in (0.05, 0.1, 0.3):
        npt.assert_array_equal(ranker.flag(NEW, alpha), ranker.uncertainty(NEW) > ranker.threshold(alpha))
    npt.assert_array_equal(ranker.predict(NEW) == -1, ranker.flag(NEW, 0.05))
    npt.assert_array_equal(ranker.decision_function(NEW) < 0, ranker.flag(NEW, 0.05))
    lacking = np.where(np.arange(len(NEW))[:, None] % 3 == [0, 1], np.nan, NEW)
    how = {"missing": "marginal"}
    npt.assert_array_equal(ranker.predict(lacking, **how) == -1, ranker.flag(lacking, 0.05, **how))


def test_a_rate_that_the_groups_cannot_deliver_is_refused(ranker):
    with pytest.raises(SettingError, match=r"alpha=0.01 needs at least 99 held-back groups; this model has 20, which"):
        ranker.flag(NEW, 0.01)
    with pytest.raises(SettingError, match=r"confidence=0.9 needs at least 45 held-back groups; this model has 20"):
        ranker.flag(NEW, 0.05, confidence=0.9)
    assert fit_ranker(ROWS, SMALL).threshold(0.01) < np.inf  # 200 rows can


def test_groups_of_one_row_are_rows():
    alone, rows = fit_ranker(ROWS, SMALL, groups=np.arange(400)), fit_ranker(ROWS, SMALL)
    npt.assert_allclose(alone.p_values(NEW), rows.p_values(NEW))
    npt.assert_array_equal(alone.uncertainty(NEW), rows.uncertainty(NEW))
    assert alone.threshold(0.05) == rows.threshold(0.05)


@pytest.mark.parametrize(
    "kind", [list, np.asarray, pd.Series, pl.Series, pa.array, lambda one: pa.chunked_array([one])]
)
@pytest.mark.parametrize("name", [int, str, lambda group: f"session {group}"])
def test_groups_may_come_as_anything_with_one_name_per_row(ranker, kind, name):
    named = kind([name(group) for group in GROUPS])
    npt.assert_array_equal(fit_ranker(ROWS, SMALL, groups=named).p_values(NEW), ranker.p_values(NEW))


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (GROUPS[:-1], r"groups needs one value per row, 400 in all; got an array of shape \(399,\)"),
        (ROWS, "got an array of shape"),
        ([None, *GROUPS[1:]], r"1 of 400 rows have no group \(the first: row 0"),
        (np.where(GROUPS == 3, np.nan, GROUPS), r"10 of 400 rows have no group \(the first: row 30"),
        (pd.Series(GROUPS.astype(str)).where(GROUPS != 3, pd.NA), "10 of 400 rows have no group"),
        (np.zeros(400), "All calibration rows are in one group"),
    ],
)
def test_groups_that_make_no_sense_are_refused(groups, said):
    with pytest.raises((TableError, CalibrationError), match=said):
        fit_ranker(ROWS, SMALL, groups=groups)


def test_nothing_held_back_needs_no_groups():
    assert fit_ranker(ROWS, Settings(holdback=0.0), groups=np.zeros(400)).n_groups is None


def test_the_order_of_rows_within_the_table_does_not_matter_for_which_groups_are_held_back(ranker):
    again = fit_ranker(ROWS, SMALL, groups=GROUPS + 100)
    assert again.to_bytes() == ranker.to_bytes()


def test_estimator_and_pipeline_take_groups_too(ranker):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = VecUQ(n_targets=25, tol=1e-6).fit(ROWS, groups=GROUPS)
        logits = np.random.default_rng(2).normal(size=(3, 100, 4))
        pipeline = VecUQPipeline(measures="bayes_rules").fit(logits, groups=np.repeat(np.arange(25), 4))
    npt.assert_array_equal(model.p_values(NEW), ranker.p_values(NEW))
    npt.assert_array_equal(model.flag(NEW, 0.1), ranker.flag(NEW, 0.1))
    assert pipeline.ranker_.n_groups == 12
    npt.assert_array_equal(load(pipeline.to_bytes()).p_values(logits), pipeline.p_values(logits))


def test_a_model_with_groups_is_saved_and_found_again(ranker, tmp_path):
    ranker.save(tmp_path / "m.vecuq")
    again = load(tmp_path / "m.vecuq")
    npt.assert_array_equal(again.p_values(NEW), ranker.p_values(NEW))
    npt.assert_array_equal(again.kept.groups, ranker.kept.groups)
    assert again.to_bytes() == ranker.to_bytes()
    assert "200 held back in 20 groups" in repr(again)
    assert again.describe()["rows"]["held-back groups"] == 20


def test_incomplete_rows_count_groups_as_well(ranker):
    lacking = NEW.copy()
    lacking[:, 1] = np.nan
    scores = ranker._incomplete.rank(ranker.kept.held, (1,))[1]
    order = np.argsort(scores)
    tails = tail_weights(ranker.kept.weights[order])
    expected = grouped_p_values(ranker._incomplete.rank(lacking, (1,))[1], scores[order], tails)
    npt.assert_allclose(ranker.p_values(lacking, missing="marginal"), expected)


@pytest.mark.parametrize(("n_groups", "alpha", "runs"), [(40, 0.05, 150), (400, 0.05, 25), (400, 0.01, 25)])
def test_false_alarms_stay_below_alpha_where_rows_come_in_groups(n_groups, alpha, runs):
    """The long version is benchmarks/groups.py."""
    rng, rates = np.random.default_rng(5), np.empty(runs)
    for run in range(runs):
        rows, groups = clustered(rng, n_groups)
        new = clustered(rng, 200, size=1)[0]
        rates[run] = fit_ranker(rows, SMALL, groups=groups).flag(new, alpha).mean()
    assert rates.mean() <= alpha + 3 * rates.std() / np.sqrt(runs)


def test_the_split_by_rows_would_be_seen_to_flag_too_many():
    rng, rates = np.random.default_rng(6), np.empty(60)
    for run in range(60):
        rows, _ = clustered(rng, 40)
        rates[run] = fit_ranker(rows, SMALL).flag(clustered(rng, 200, size=1)[0], 0.05).mean()
    assert rates.mean() > 0.05 + 3 * rates.std() / np.sqrt(60)
