"""Rows that lack values or hold infinite ones: the monitor is blind to neither."""

import json

import numpy as np
import pandas as pd
import pytest

from vecuq import Monitor, fit_ranker
from vecuq.errors import CalibrationError
from vecuq.monitor import JOINT, MISSING

COLUMNS = ["x0", "x1"]


def rows(seed, n):
    return np.random.default_rng(seed).gamma(2.0, size=(n, 2))


def with_holes(table, share, seed=9):
    holed = table.copy()
    holed[np.random.default_rng(seed).random(len(table)) < share, 1] = np.nan
    return holed


@pytest.fixture(scope="module")
def watched():
    return fit_ranker(pd.DataFrame(rows(0, 400), columns=COLUMNS))


def raised_by(monitor, table):
    return {alarm.stream: alarm.change for alarm in monitor.observe(table)}


@pytest.mark.parametrize(("value", "change"), [(np.inf, "higher"), (-np.inf, "lower")])
def test_an_infinite_value_is_the_most_extreme_of_its_column(watched, value, change):
    broken = rows(1, 100)
    broken[50:, 0] = value
    monitor = Monitor(watched)
    assert raised_by(monitor, broken) == {"x0": change, JOINT: "higher"}
    assert all(alarm.row >= 50 for alarm in monitor.alarms)
    assert monitor.n_missing == 0


def test_infinite_values_rank_like_values_beyond_all_others(watched):
    beyond, infinite = rows(1, 100), rows(1, 100)
    beyond[::3], infinite[::3] = 1e9, np.inf
    far, endless = Monitor(watched), Monitor(watched)
    far.observe(beyond)
    endless.observe(infinite)
    assert endless.evidence == far.evidence


def test_rows_that_lack_values_raise_an_alarm_of_their_own(watched):
    monitor = Monitor(watched)
    monitor.observe(rows(1, 500))
    alarm = monitor.observe(with_holes(rows(2, 300), 0.4))[0]
    assert (alarm.stream, alarm.change) == (MISSING, "higher")
    assert 500 <= alarm.row < 600
    assert abs(alarm.since - 500) <= 25
    assert not monitor.recalibrate


def test_rows_are_counted_by_what_could_be_made_of_them(watched):
    table = rows(1, 30)
    table[:4, 0] = np.nan
    table[4:9] = np.nan
    monitor = Monitor(watched)
    monitor.observe(table)
    assert (monitor.rows, monitor.n_missing, monitor.n_watched) == (30, 9, 25)


def test_a_share_of_missing_values_that_is_usual_is_no_drift(watched):
    usual = with_holes(rows(0, 400), 0.3, seed=4)
    assert Monitor(watched, usual).observe(with_holes(rows(2, 1_000), 0.3)) == ()
    assert MISSING in raised_by(Monitor(watched), with_holes(rows(2, 1_000), 0.3))
    assert MISSING in raised_by(Monitor(watched, usual), with_holes(rows(2, 1_000), 0.8))


def test_more_missing_values_are_a_false_alarm_rarely():
    # One column of zeros and ones, drawn anew with its calibration rows: at a rate of 10 %, more than 12 of 60 have a
    # chance below one in a hundred.
    count = 0
    for run in range(60):
        calibration = with_holes(rows([run, 1], 120), 0.2, seed=[run, 2])
        complete = calibration[~np.isnan(calibration).any(axis=1)]
        monitor = Monitor(fit_ranker(complete), calibration, alpha=0.1, random_state=run)
        monitor.observe(with_holes(rows([run, 3], 400), 0.2, seed=[run, 4]))
        count += monitor.drifted
    assert count <= 12


def test_complete_rows_never_raise_the_alarm_of_missing_ones(watched):
    # The evidence of a stream that is constant moves by chance alone; it must not be taken for missing values.
    monitor = Monitor(watched)
    monitor.streams[-1].fortune.staked[:] = 50.0
    monitor.observe(rows(1, 20))
    assert monitor.evidence[MISSING] > 1e6
    assert monitor.alarms == ()
    assert raised_by(monitor, np.full((1, 2), np.nan)) == {MISSING: "higher"}


def test_p_values_that_are_not_there_count_as_missing(watched):
    table = with_holes(rows(1, 200), 0.5)
    by_rows, by_p = Monitor(watched), Monitor(watched)
    by_rows.observe(table)
    by_p.update(watched.p_values(table, warn=False))
    assert by_p.evidence[MISSING] == by_rows.evidence[MISSING]
    assert by_p.n_missing == by_rows.n_missing
    assert MISSING in {alarm.stream for alarm in by_p.alarms}


def test_calibration_rows_without_any_value_of_a_column_are_refused(watched):
    with pytest.raises(CalibrationError, match=r"hold no value of \['x1'\]"):
        Monitor(watched, with_holes(rows(0, 50), 2.0))
    with pytest.raises(CalibrationError, match=r"hold no value of \['x0', 'x1'\]"):
        Monitor(watched, np.empty((0, 2)))


def test_columns_may_have_the_names_of_the_streams():
    table = dict(zip((JOINT, MISSING), rows(0, 200).T, strict=True))
    from vecuq import ScoreTable

    monitor = Monitor(fit_ranker(ScoreTable.of(table, columns=[JOINT, MISSING])))
    assert [stream.name for stream in monitor.streams] == ["uncertainty_", "uncertainty", "missing", "missing_"]
    assert not monitor.recalibrate
    monitor.observe(np.full((50, 2), 1e6))
    assert monitor.recalibrate


@pytest.fixture
def told(watched, run, tmp_path):
    """Show a table to the command; return its result and its words for machines."""
    watched.save(tmp_path / "model.vecuq")

    def show(table, *words):
        pd.DataFrame(table, columns=COLUMNS).to_csv(tmp_path / "new.csv", index=False)
        result = run("monitor", tmp_path / "model.vecuq", tmp_path / "new.csv", *words)
        as_json = run("monitor", tmp_path / "model.vecuq", tmp_path / "new.csv", "--json")
        return result, json.loads(as_json.stdout)

    return show


@pytest.mark.parametrize(
    ("table", "why"),
    [(np.empty((0, 2)), "it has no rows"), (np.full((30, 2), np.nan), "none of its 30 rows has a score")],
)
def test_a_file_of_which_no_row_can_be_watched_is_named(told, table, why):
    result, as_json = told(table, "--strict")
    assert result.exit_code == 1
    assert f"new.csv: {why}" in result.stdout
    assert "No row of new.csv could be watched" in result.stdout
    assert "nothing to do" not in result.stdout
    assert [path.rpartition("/")[2] for path in as_json["unwatched"]] == ["new.csv"]


def test_a_few_missing_values_are_told_beside_those_of_calibration(told):
    table = rows(1, 300)
    table[7, 0] = np.nan
    result, as_json = told(table, "--strict")
    assert result.exit_code == 0
    assert "1 of 300 rows lack a value, none of 200 in calibration" in result.stdout
    assert (as_json["missing"], as_json["files"][0]["n_missing"], as_json["files"][0]["n_watched"]) == (1, 1, 300)


def test_infinite_values_are_drift_to_the_command_too(told):
    result, as_json = told(np.full((1_000, 2), np.inf), "--strict")
    assert result.exit_code == 1
    assert "1,000 rows with an infinite value" in result.stdout
    assert as_json["recalibrate"]
    result, as_json = told(np.where(rows(1, 400) > 0, [[np.nan, 1.0]], 0.0), "--strict")
    assert "More rows lack a value than in calibration from row 0 of new.csv on" in result.stdout
    assert as_json["files"][0]["n_infinite"] == 0
