"""The monitor: rarely wrong over all time, quick to notice, the same however its stream is cut or interrupted."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq import Monitor, Ranker, VecUQ, fit_ranker, load
from vecuq.cli.monitoring import advice
from vecuq.conformal import Fortune, bets_on, play
from vecuq.errors import CalibrationError, ModelFileError, SettingError, TableError
from vecuq.monitor import Alarm
from vecuq.ranker import Settings
from vecuq.workflows.monitoring import Monitored, Passage


def rows(rng, n):
    """Three columns: skewed, correlated with it, and of six levels."""
    first = rng.beta(1, 6, size=n)
    return np.column_stack([first, rng.gamma(3.0, size=n) + first, np.round(rng.beta(2, 5, size=n) * 5) / 5])


def drifted(rng, n, column, calibration):
    moved = rows(rng, n)
    moved[:, column] += calibration[:, column].std()
    return moved


@pytest.fixture(scope="module")
def calibration():
    return rows(np.random.default_rng(0), 400)


@pytest.fixture(scope="module")
def watched(calibration):
    return fit_ranker(calibration)


@pytest.fixture
def stream(calibration):
    rng = np.random.default_rng(1)
    return np.concatenate([rows(rng, 300), drifted(rng, 200, 1, calibration)])


def state_of(monitor):
    return monitor.alarms, monitor.evidence, monitor.rows


def false_alarms(n, n_runs, n_steps, alpha):
    """Count runs with an alarm though nothing drifts."""
    count = 0
    for run in range(n_runs):
        rng = np.random.default_rng([run, n])
        calibration = rows(rng, 2 * n)
        monitor = Monitor(fit_ranker(calibration), calibration, alpha=alpha, random_state=run)
        monitor.observe(rows(rng, n_steps))
        count += monitor.drifted
    return count


def rows_to_alarm(n, column, start, n_runs):
    """Return, for each run, after how many drifted rows the column's own alarm came."""
    delays = []
    for run in range(n_runs):
        rng = np.random.default_rng([run, n, column])
        calibration = rows(rng, 2 * n)
        monitor = Monitor(fit_ranker(calibration), calibration, alpha=0.01)
        monitor.observe(np.concatenate([rows(rng, start), drifted(rng, 400, column, calibration)]))
        raised = {alarm.stream: alarm.row - start + 1 for alarm in monitor.alarms}
        delays.append(raised.get(f"x{column}", np.inf))
    return delays


def test_false_alarms_are_rare_over_many_rows():
    # 5 % of 40 runs would be 2; more than 6 has a chance below one in a hundred at a rate of exactly 5 %.
    assert false_alarms(100, 40, 600, alpha=0.05) <= 6


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1_000])
def test_at_most_one_run_in_a_hundred_raises_a_false_alarm_in_ten_thousand_rows(n, record_property):
    count = false_alarms(n, 1_000, 10_000, alpha=0.01)
    record_property("false alarms in 1,000 runs", int(count))
    assert count <= 10


def test_p_values_against_a_fixed_calibration_set_would_raise_many():
    # Why the monitor ranks anew: the same bets on plain conformal p-values are fooled by unlucky calibration sets.
    bets, count = bets_on("both"), 0
    for run in range(40):
        rng = np.random.default_rng(run)
        calibration, scores = np.sort(rng.normal(size=25)), rng.normal(size=5_000)
        above = 25 - np.searchsorted(calibration, scores)
        p = (above + rng.random(5_000)) / 26
        count += play(Fortune.new(len(bets)), p, np.arange(5_000), bets).log_total.max() > np.log(100)
    assert count > 4  # of 40, where 1 % was asked for


@pytest.mark.parametrize("start", [0, 2_000])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_shift_by_one_standard_deviation_is_noticed_within_200_rows(column, start):
    assert np.median(rows_to_alarm(200, column, start, n_runs=7)) <= 200


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1_000])
@pytest.mark.parametrize("start", [0, 10_000])
def test_the_median_delay_over_a_hundred_runs_is_at_most_200_rows(n, start, record_property):
    for column in range(3):
        delay = np.median(rows_to_alarm(n, column, start, n_runs=100))
        record_property(f"median delay of x{column}", float(delay))
        assert delay <= 200


def test_the_alarm_names_the_column_the_change_and_about_the_row(calibration, watched, stream):
    monitor = Monitor(watched, calibration)
    first, *_ = monitor.observe(stream)
    assert (first.stream, first.change) == ("x1", "higher")
    assert 300 <= first.row < 400
    assert abs(first.since - 300) <= 25
    assert first.evidence >= 5 / 0.01
    assert not {"x0", "x2"} & {alarm.stream for alarm in monitor.alarms}


@pytest.mark.parametrize(
    ("change", "spoil"),
    [("lower", lambda x: x * 0), ("less spread out", lambda x: np.median(x) + 0.01 * (x - np.median(x)))],
)
def test_a_column_that_breaks_downwards_or_freezes_is_noticed_too(calibration, watched, change, spoil):
    rng = np.random.default_rng(5)
    broken = rows(rng, 300)
    broken[:, 1] = spoil(broken[:, 1])
    raised = {alarm.stream: alarm.change for alarm in Monitor(watched, calibration).observe(broken)}
    assert raised["x1"] == change


def test_recalibration_is_advised_when_the_joint_score_drifts(calibration, watched):
    monitor = Monitor(watched, calibration)
    assert not monitor.recalibrate
    monitor.observe(rows(np.random.default_rng(2), 300) * 3)
    assert monitor.drifted
    assert monitor.recalibrate


@settings(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(0, 500), max_size=4).map(sorted))
def test_a_stream_in_pieces_gives_the_same_bits(calibration, watched, cuts):
    rng = np.random.default_rng(1)
    whole = np.concatenate([rows(rng, 300), drifted(rng, 200, 1, calibration)])
    at_once, by_parts = Monitor(watched, calibration), Monitor(watched, calibration)
    at_once.observe(whole)
    for part in np.split(whole, cuts):
        by_parts.observe(part)
    assert state_of(by_parts) == state_of(at_once)


def test_a_restored_monitor_goes_on_as_if_it_had_never_stopped(calibration, watched, stream, tmp_path):
    through, stopped = (Monitor(watched, calibration, random_state=3) for _ in range(2))
    through.observe(stream)
    stopped.observe(stream[:320])
    stopped.save(tmp_path / "state.vecuq")
    restored = load(tmp_path / "state.vecuq", ranker=watched)
    restored.observe(stream[320:])
    assert state_of(restored) == state_of(through)
    restored.save(tmp_path / "again.vecuq")
    assert state_of(load(tmp_path / "again.vecuq")) == state_of(through)


def test_a_state_goes_with_its_model_only(calibration, watched, tmp_path):
    Monitor(watched).save(tmp_path / "state.vecuq")
    with pytest.raises(ModelFileError, match="another model"):
        load(tmp_path / "state.vecuq", ranker=fit_ranker(calibration, Settings(random_state=1)))
    watched.save(tmp_path / "model.vecuq")
    assert isinstance(load(tmp_path / "model.vecuq"), Ranker)


def test_updating_with_p_values_is_observing_the_joint_score(watched, stream):
    # No score ties with a calibration score here, so both place the rows in the same bins.
    by_rows, by_p = Monitor(watched), Monitor(watched)
    by_p.update(watched.p_values(stream[:400]))
    assert by_p.update(float(watched.p_values(stream[400:401])[0])) == ()
    by_p.update(watched.p_values(stream[401:]))
    by_rows.observe(stream)
    only_joint = Monitor(watched)
    only_joint.update(watched.p_values(stream))
    assert state_of(by_p) == state_of(only_joint)
    assert by_p.evidence["uncertainty"] == by_rows.evidence["uncertainty"]
    assert by_p.evidence["x1"] == 1.0


def test_p_values_that_count_ties_against_the_row_are_taken_for_bets_on_growth_only():
    levels = np.random.default_rng(6).integers(0, 3, size=(1_200, 1)).astype(float)
    tied = fit_ranker(levels[:400])
    upward, both = Monitor(tied, direction="up"), Monitor(tied)
    assert upward.update(tied.p_values(levels[400:])) == ()
    # Counted against the row, p-values are too large, which the other bets would take for a change.
    with pytest.raises(
        SettingError, match=r"'uncertainty' tie\. Give the rows to observe instead, or .*direction='up'"
    ):
        both.update(tied.p_values(levels[400:]))
    assert both.rows == 0
    assert Monitor(tied).observe(levels[400:]) == ()
    assert [alarm.stream for alarm in upward.update(tied.p_values(np.full((200, 1), 2.0)))] == ["uncertainty"]


def test_p_values_by_column_are_refused_where_that_column_ties(watched, stream):
    p = np.tile(watched.p_values(stream)[:, None], 4)
    with pytest.raises(SettingError, match="'x2' tie"):
        Monitor(watched).update(p)
    monitor = Monitor(watched, direction="up")
    monitor.update(p)
    assert [one.fortune.steps for one in monitor.streams] == [len(stream)] * 5


def test_rows_with_missing_values_are_left_out_of_the_streams_that_lack_them(calibration, watched, stream):
    holes = stream.copy()
    holes[::3, 0] = np.nan
    monitor = Monitor(watched, calibration)
    monitor.observe(holes)
    steps = {one.name: one.fortune.steps for one in monitor.streams}
    assert steps["x1"] == steps["x2"] == len(stream)
    assert steps["x0"] == len(stream) - len(stream[::3])
    assert all(np.isfinite(list(monitor.evidence.values())))


def test_flipped_columns_are_watched_in_the_direction_of_the_model(calibration):
    frame = pd.DataFrame(calibration, columns=["a", "b", "c"])
    confident = frame.assign(b=-frame["b"])
    plain, flipped = (
        Monitor(fit_ranker(table), table) for table in (vecuq_table(frame, ()), vecuq_table(confident, ("b",)))
    )
    plain.observe(vecuq_table(frame, ()))
    flipped.observe(vecuq_table(confident, ("b",)))
    assert state_of(flipped) == state_of(plain)


def vecuq_table(frame, flip):
    from vecuq import ScoreTable

    return ScoreTable.of(frame, flip=flip)


def test_what_cannot_be_watched_is_refused(calibration, watched):
    with pytest.raises(CalibrationError, match="holdback"):
        Monitor(fit_ranker(calibration, Settings(holdback=0.0)))
    with pytest.raises(SettingError, match="alpha must lie in"):
        Monitor(watched, alpha=0.0)
    with pytest.raises(SettingError, match="Did you mean 'up'"):
        Monitor(watched, direction="upp")
    with pytest.raises(SettingError, match="multiples of 1 / 201"):
        Monitor(watched).update([0.0123])
    with pytest.raises(TableError, match="one per row and stream"):
        Monitor(watched, calibration).update(np.ones((3, 2)))
    for nonsense in ("x", ["0.5", "many"], {"p": 0.5}, [[0.5], [0.5, 0.5]]):
        with pytest.raises(TableError, match="p-values must be numbers; got"):
            Monitor(watched).update(nonsense)
    for outside in (0.0, 1.5, -1.0, np.inf):
        with pytest.raises(SettingError, match="multiples of 1 / 201"):
            Monitor(watched).update(outside)


@pytest.fixture
def files(tmp_path, calibration, watched, stream):
    """A model, its calibration table and a stream in two files."""
    watched.save(tmp_path / "model.vecuq")
    for name, part in (("cal", calibration), ("one", stream[:310]), ("two", stream[310:])):
        pd.DataFrame(part, columns=["x0", "x1", "x2"]).to_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


def test_the_command_agrees_with_python_and_names_file_and_row(run, files, calibration, watched, stream):
    words = [
        files / "model.vecuq",
        files / "one.parquet",
        files / "two.parquet",
        "--calibration",
        files / "cal.parquet",
    ]
    told = json.loads(run("monitor", *words, "--json").stdout)
    monitor = Monitor(watched, calibration)
    first, *_ = monitor.observe(stream)
    assert told["evidence"] == monitor.evidence
    assert told["recalibrate"] == monitor.recalibrate
    assert (told["alarms"][0]["stream"], told["alarms"][0]["row"]) == ("x1", first.row)
    assert told["alarms"][0]["file"].endswith("two.parquet")
    assert told["alarms"][0]["row_in_file"] == first.row - 310
    text = run("monitor", *words).stdout
    assert f"row {first.row - 310} of two.parquet" in text
    assert "advice: recalibrate" in text


def test_the_table_sets_the_evidence_of_an_alarm_apart_from_that_of_now(run, files, calibration, watched, stream):
    """Evidence fades when a drift is over; the alarm stays, and its line must not look as if it were wrong."""
    monitor = Monitor(watched, calibration)
    monitor.observe(stream)
    first = monitor.alarms[0]
    words = (files / "one.parquet", files / "two.parquet", "--calibration", files / "cal.parquet")
    text = run("monitor", files / "model.vecuq", *words).stdout
    head = next(line for line in text.splitlines() if "stream" in line and "since about" in line)
    assert [cell.strip() for cell in head.strip("┃ ").split("┃")][:3] == ["stream", "evidence now", "at the alarm"]
    line = next(line for line in text.splitlines() if line.startswith(f"│ {first.stream} "))
    cells = [cell.strip() for cell in line.strip("│ ").split("│")]
    assert cells[1:3] == [f"{monitor.evidence[first.stream]:.3g}", f"{first.evidence:.3g}"]
    assert cells[1] != cells[2]


def test_the_command_goes_on_from_its_state(run, files):
    model, calibration = files / "model.vecuq", ["--calibration", files / "cal.parquet"]
    at_once = run("monitor", model, files / "one.parquet", files / "two.parquet", *calibration, "--json")
    run("monitor", model, files / "one.parquet", *calibration, "--state", files / "s.vecuq")
    later = run("monitor", model, files / "two.parquet", "--state", files / "s.vecuq", "--json")
    once, twice = json.loads(at_once.stdout), json.loads(later.stdout)
    assert twice["evidence"] == once["evidence"]
    assert [alarm["row"] for alarm in twice["alarms"]] == [alarm["row"] for alarm in once["alarms"]]


def test_drift_is_an_error_only_when_asked_for(run, files):
    words = ["monitor", files / "model.vecuq", files / "two.parquet"]
    assert run(*words).exit_code == 0
    assert run(*words, "--strict").exit_code == 1
    assert run("monitor", files / "model.vecuq", files / "one.parquet", "--strict").exit_code == 0


def test_a_failure_leaves_the_state_as_it_was(refused, run, files):
    model = files / "model.vecuq"
    run("monitor", model, files / "one.parquet", "--state", files / "s.vecuq")
    (files / "bad.parquet").write_bytes(b"nothing of the kind")
    assert "cannot be read" in refused(
        "monitor", model, files / "two.parquet", files / "bad.parquet", "--state", files / "s.vecuq"
    )
    assert "cannot become" in refused(
        "monitor", model, files / "two.parquet", "--state", files / "s.vecuq", "--alpha", "0.2"
    )


def test_a_state_goes_on_with_the_calibration_rows_it_began_with_and_no_others(refused, run, files):
    words = ["monitor", files / "model.vecuq", files / "two.parquet", "--state", files / "s.vecuq"]
    same = ["--calibration", files / "cal.parquet"]
    assert (
        run("monitor", files / "model.vecuq", files / "one.parquet", *same, "--state", files / "s.vecuq").exit_code == 0
    )
    assert "begun with other calibration rows" in refused(*words, "--calibration", files / "one.parquet")
    assert "There is no file" in refused(*words, "--calibration", files / "none.parquet")
    again = json.loads(run(*words, *same, "--json").stdout)
    assert again["rows"] == 500
    run("monitor", files / "model.vecuq", files / "one.parquet", "--state", files / "kept.vecuq")
    assert "begun with other calibration rows" in refused(*words[:-1], files / "kept.vecuq", *same)


def test_the_advice_on_the_joint_score_names_where_the_joint_score_drifted(watched):
    monitor = Monitor(watched)
    monitor.alarms = (Alarm("uncertainty", 20, 4, "higher", 1e3), Alarm("x1", 60, 33, "higher", 1e3))
    monitor.streams[2].log_evidence = 99.0
    passage = Passage("new.csv", 0, 100, n_missing=0, n_infinite=0, n_watched=100)
    joint = advice(Monitored(monitor, (passage,), 0))
    assert "no longer hold from row 4 of new.csv on. Look at x1 first." in joint
    monitor.alarms = monitor.alarms[1:]
    assert "what changed in x1 from row 33 of new.csv on" in advice(Monitored(monitor, (passage,), 0))


def test_a_fitted_estimator_will_do_for_a_ranker_and_nothing_else():
    rows = np.random.default_rng(0).gamma(2.0, size=(200, 2))
    model = VecUQ().fit(rows)
    assert Monitor(model).ranker is model.ranker_
    with pytest.raises(TableError, match="A fitted VecUQ or a Ranker is needed; got str"):
        Monitor("model.vecuq")


def test_a_flipped_column_is_reported_in_the_direction_in_which_it_came():
    rng = np.random.default_rng(0)
    rows = {"entropy": rng.gamma(2.0, size=400), "confidence": rng.beta(8, 2, size=400)}
    monitor = Monitor(VecUQ(flip=["confidence"]).fit(rows))
    alarms = monitor.observe({"entropy": rng.gamma(2.0, size=300), "confidence": rng.beta(4, 4, size=300)})
    changes = {alarm.stream: alarm.change for alarm in alarms}
    assert changes["confidence"] == "lower"
    assert changes["uncertainty"] == "higher"
