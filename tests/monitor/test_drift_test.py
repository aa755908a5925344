"""The test of drift: false alarms stay below their rate with a finite calibration set, and drift is found."""

import numpy as np
import pytest
from scipy.stats import binom

from vecuq import ScoreTable, fit_ranker
from vecuq.conformal import rows_beyond_p_value
from vecuq.errors import CalibrationError, SettingError
from vecuq.monitor import drift_test

RNG = np.random.default_rng(0)
RANKER = fit_ranker(RNG.gamma(2.0, size=(2_000, 2)))
ROWS = RNG.gamma(2.0, size=(3_000, 2))


def smallest(ranker, rows, **how):
    return drift_test(ranker, rows, **how)[0].p_value


def ranks_of(n_held):
    return [n_held >> k for k in range(1, n_held.bit_length()) if n_held >> k >= 8]


def test_p_values_are_those_of_plain_comparisons():
    rows = ROWS[:500] * 1.1
    (found,) = [one for one in drift_test(RANKER, rows) if one.stream == "uncertainty"]
    scores, held = RANKER.uncertainty(rows), np.sort(RANKER.calibration_scores)
    n, ranks = len(held), ranks_of(len(held))
    above = [rows_beyond_p_value((scores > held[-rank]).sum(), 500, rank, n) for rank in ranks]
    below = [rows_beyond_p_value((scores < held[rank - 1]).sum(), 500, rank, n) for rank in ranks]
    assert found.p_value == pytest.approx(min(1.0, min(above + below) * 2 * len(ranks) * 3))


def test_the_order_of_the_rows_does_not_matter():
    assert drift_test(RANKER, ROWS[::-1]) == drift_test(RANKER, ROWS)


def test_drift_of_a_column_is_found_and_named_with_its_direction():
    found = drift_test(RANKER, ROWS + np.array([0.0, 0.5]))
    assert [(one.stream, one.change) for one in found[:1]] == [("x1", "higher")]
    assert found[0].p_value < 1e-6
    assert found[0].share > found[0].expected
    lower = drift_test(RANKER, ROWS * [0.7, 1.0])
    assert (lower[0].stream, lower[0].change) == ("x0", "lower")


def test_a_flipped_column_moves_as_the_user_sees_it():
    table = {"confidence": -ROWS[:, 0], "entropy": ROWS[:, 1]}
    ranker = fit_ranker(ScoreTable.of(table, flip=["confidence"]))
    new = {"confidence": -ROWS[:, 0] - 0.7, "entropy": RNG.gamma(2.0, size=3_000)}
    found = {one.stream: one.change for one in drift_test(ranker, new)}
    assert found["confidence"] == "lower"


def test_rows_with_missing_values_are_left_out_of_their_streams():
    rows = ROWS.copy()
    rows[:100, 1] = np.nan
    found = {one.stream: one.n_rows for one in drift_test(RANKER, rows)}
    assert found == {"uncertainty": 2_900, "x0": 3_000, "x1": 2_900}


def test_each_further_look_costs_more():
    rows = ROWS[:400] + np.array([0.0, 0.25])
    once = smallest(RANKER, rows)
    assert 0 < once < 0.05
    assert smallest(RANKER, rows, look=1) == pytest.approx(2 * once)
    assert smallest(RANKER, rows, look=3) == pytest.approx(min(1.0, 12 * once))
    with pytest.raises(SettingError):
        drift_test(RANKER, rows, look=0)


def test_held_back_groups_are_refused():
    with pytest.raises(CalibrationError):
        drift_test(fit_ranker(ROWS, groups=np.arange(3_000) // 3), ROWS)


def false_alarms(n_runs, seed, *, rounded=False, looks=1):
    """Return how often rows of the calibration law raise an alarm at 0.1, each time with a new calibration set."""
    rng, alarms = np.random.default_rng(seed), []
    for _ in range(n_runs):
        rows = rng.gamma(2.0, size=(200 + 900 * looks, 2))
        rows = rows.round(1) if rounded else rows
        ranker = fit_ranker(rows[:200])
        seen = [smallest(ranker, rows[200 : 1100 + 900 * k], look=k + 1 if looks > 1 else None) for k in range(looks)]
        alarms.append(min(seen) <= 0.1)
    return float(np.mean(alarms))


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize(("n_runs", "seed"), [(60, 0), pytest.param(1_500, 1, marks=pytest.mark.slow)])
def test_false_alarms_stay_below_their_rate_with_few_calibration_rows(n_runs, seed, rounded):
    assert false_alarms(n_runs, seed, rounded=rounded) <= 0.1 + 3 * np.sqrt(0.09 / n_runs)


@pytest.mark.slow
def test_all_looks_together_keep_the_rate():
    assert false_alarms(600, 2, looks=5) <= 0.1 + 3 * np.sqrt(0.09 / 600)


def test_to_take_the_calibration_set_for_the_truth_would_raise_false_alarms():
    """The simulation can fail: a binomial test at the very same ranks forgets that the held-back rows are few."""
    rng, alarms = np.random.default_rng(3), []
    for _ in range(60):
        rows = rng.gamma(2.0, size=(1_100, 2))
        ranker = fit_ranker(rows[:200])
        scores, held = ranker.uncertainty(rows[200:]), np.sort(ranker.calibration_scores)
        beyond = [((scores > held[-rank]).sum(), (scores < held[rank - 1]).sum()) for rank in ranks_of(100)]
        chances = [
            binom.sf(x - 1, 900, rank / 101) for sides, rank in zip(beyond, ranks_of(100), strict=True) for x in sides
        ]
        alarms.append(min(chances) * len(chances) <= 0.1)
    assert np.mean(alarms) > 0.1 + 3 * np.sqrt(0.09 / 60)
