"""Probabilities of being wrong beside what happened."""

import json
import sys

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from vecuq.errors import SettingError, TableError
from vecuq.evaluation import (
    Bootstrap,
    brier_score,
    calibration,
    evaluate,
    expected_calibration_error,
    reliability_curve,
    task_sheets,
)

NUMBERS = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0]), st.booleans()), min_size=1, max_size=40)


def probabilities(rng, n_rows, *, off=0.0):
    """Probabilities, and labels that are wrong with them; ``off`` more often than they say."""
    given = 0.5 * rng.beta(1.0, 3.0, size=n_rows)
    return given, (rng.random(n_rows) < given + off).astype(float)


@given(NUMBERS)
def test_brier_is_the_mean_squared_distance_and_splits_into_parts(rows):
    """Murphy (1973): on bins of one probability each, Brier = reliability - resolution + uncertainty."""
    p, w = np.array(rows, dtype=float).T
    parts = sum(
        (p == value).mean() * ((value - w[p == value].mean()) ** 2 - (w[p == value].mean() - w.mean()) ** 2)
        for value in np.unique(p)
    )
    assert brier_score(p, w) == pytest.approx(parts + w.mean() * (1 - w.mean()), abs=1e-12)


@given(NUMBERS, st.integers(1, 12))
def test_the_calibration_error_is_that_of_the_curve(rows, bins):
    p, w = np.array(rows, dtype=float).T
    curve = reliability_curve(p, w, bins=bins)
    error = (curve.n * np.abs(curve.probability - curve.wrong)).sum() / len(p)
    assert expected_calibration_error(p, w, bins=bins) == pytest.approx(error, abs=1e-12)
    assert curve.n.sum() == len(p)
    assert len(curve.n) <= bins
    assert (np.diff(curve.probability) > 0).all()
    assert ((curve.low <= curve.wrong) & (curve.wrong <= curve.high)).all()


@given(NUMBERS)
def test_the_order_of_the_rows_does_not_matter(rows):
    p, w = np.array(rows, dtype=float).T
    assert expected_calibration_error(p[::-1], w[::-1]) == pytest.approx(expected_calibration_error(p, w), abs=1e-12)


def test_bins_hold_equal_numbers_of_rows_and_equal_probabilities_stay_together():
    p = np.concatenate([np.zeros(50), np.linspace(0.1, 1.0, 50)])
    curve = reliability_curve(p, p > 0.5, bins=10)
    npt.assert_array_equal(curve.n, [50, 10, 10, 10, 10, 10])
    npt.assert_array_equal(reliability_curve(np.linspace(0, 1, 100), p > 0.5, bins=4).n, [25] * 4)


def test_intervals_of_the_curve_are_those_of_clopper_and_pearson():
    rng = np.random.default_rng(0)
    p, w = probabilities(rng, 200)
    curve = reliability_curve(p, w, bins=5, level=0.9)
    for n, share, low, high in zip(curve.n, curve.wrong, curve.low, curve.high, strict=True):
        exact = binomtest(round(n * share), n).proportion_ci(0.9, method="exact")
        assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_a_right_probability_stays_below_the_error_by_chance_and_a_wrong_one_does_not():
    """200 test sets of 300 rows: 10 above are expected, with a standard deviation of 3."""
    rng = np.random.default_rng(0)
    right = [calibration(*probabilities(rng, 300), random_state=k) for k in range(200)]
    assert 1 <= sum(one.ece > one.ece_by_chance for one in right) <= 20
    off = [calibration(*probabilities(rng, 300, off=0.15), random_state=k) for k in range(20)]
    assert sum(one.ece > one.ece_by_chance for one in off) >= 19
    assert np.mean([one.brier < one.brier_of_constant for one in right]) > 0.9


def test_many_rows_are_not_drawn_one_by_one_and_give_the_same_error_by_chance(monkeypatch):
    p, w = probabilities(np.random.default_rng(0), 5_000)
    drawn = calibration(p, w)
    monkeypatch.setattr(sys.modules["vecuq.evaluation.calibration"], "_MANY", 1_000)
    normal = calibration(p, w)
    assert normal.ece_by_chance != drawn.ece_by_chance
    assert normal.ece_by_chance == pytest.approx(drawn.ece_by_chance, rel=0.05)


def test_intervals_of_the_curve_hold_the_truth_where_rows_come_in_groups():
    """60 groups of 10 rows that are mostly right or wrong together; rows alone would hold it in about 60 %."""
    rng, codes, held = np.random.default_rng(0), np.repeat(np.arange(60), 10), []
    for _ in range(300):
        rate = rng.beta(0.3, 0.7, size=60)
        wrong = rng.random(600) < rate[codes]
        ends = [reliability_curve(np.full(600, 0.3), wrong, groups=together) for together in (codes, None)]
        held.append([one.low[0] <= 0.3 <= one.high[0] for one in ends])
    by_group, by_row = np.mean(held, axis=0)
    assert by_group >= 0.92
    assert by_row <= 0.75


def test_groups_of_rows_that_are_all_right_count_once_each():
    alone = reliability_curve(np.zeros(20), np.zeros(20)).high[0]
    together = reliability_curve(np.zeros(20), np.zeros(20), groups=[0] * 10 + [1] * 10).high[0]
    assert alone == pytest.approx(1 - 0.025 ** (1 / 20))
    assert together == pytest.approx(1 - 0.025 ** (1 / 2))


def test_an_evaluation_looks_at_the_rows_that_have_a_probability_and_a_label():
    rng = np.random.default_rng(0)
    p, w = probabilities(rng, 200)
    ood = np.repeat([0.0, 1.0], [150, 50])
    p[:10], w[10:30] = np.nan, np.nan
    done = evaluate({"a": rng.normal(size=200)}, error=w, ood=ood, p_wrong=p, bootstrap=Bootstrap(0))
    assert done.calibration.n == 120
    assert done.calibration.brier == brier_score(p[30:150], w[30:150])
    assert task_sheets(done)[-1].title == "Probability of being wrong (120 rows)"
    json.dumps(done.calibration.to_dict())
    assert evaluate({"a": rng.normal(size=200)}, ood=ood, p_wrong=p, bootstrap=Bootstrap(0)).calibration is None


def test_without_rows_there_is_nothing_to_say():
    assert np.isnan([brier_score([], []), expected_calibration_error([], [])]).all()
    found = calibration([], [])
    assert (found.n, len(found.curve.n)) == (0, 0)


@pytest.mark.parametrize(
    ("p", "w", "said"),
    [
        ([1.2], [1], r"must lie in \[0, 1\]; got 1.2"),
        ([np.nan], [1], "no probability"),
        ([0.5], [2], "must be 0 or 1"),
        ([0.5, 0.5], [1], "two lists of one length"),
    ],
)
def test_what_is_no_probability_is_refused(p, w, said):
    for function in (brier_score, expected_calibration_error, reliability_curve, calibration):
        with pytest.raises(TableError, match=said):
            function(p, w)


def test_settings_of_bins_and_levels_are_checked():
    with pytest.raises(SettingError, match="bins"):
        expected_calibration_error([0.5], [1], bins=0)
    with pytest.raises(SettingError, match="level"):
        reliability_curve([0.5], [1], level=1.0)
