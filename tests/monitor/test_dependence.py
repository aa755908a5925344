"""Rows that depend on each other: every K-th row, one row per group, and advice that is no recalibration."""

import json

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest

from vecuq import Monitor, fit_ranker, load, workflows
from vecuq.cli.monitoring import advice
from vecuq.errors import ColumnError, SettingError, TableError
from vecuq.monitor import first_rows
from vecuq.monitor.neighbours import LAG, Neighbours
from vecuq.ranker import Settings


def series(seed, n_rows, rho):
    rows = np.random.default_rng(seed).normal(size=(n_rows, 2))
    for t in range(1, n_rows):
        rows[t] = rho * rows[t - 1] + np.sqrt(1 - rho**2) * rows[t]
    return np.exp(rows)


def sessions(seed, n_sessions, size=5):
    rng = np.random.default_rng(seed)
    names = np.repeat(np.arange(n_sessions), size)
    shared = rng.normal(size=(n_sessions, 2))[names]
    return np.exp(np.sqrt(0.5) * (shared + rng.normal(size=shared.shape))), names


def alarms(seed, *, thin):
    rows = series(seed, 2_400, 0.5)
    watcher = Monitor(fit_ranker(rows[:600], Settings(n_targets=64)), thin=thin, alpha=0.05)
    watcher.observe(rows[600:])
    return watcher.drifted


def test_thinning_out_a_series_keeps_the_rate_that_it_breaks_otherwise():
    assert sum(alarms(seed, thin=1) for seed in range(8)) >= 6
    # One in twenty is promised: more than 4 of 20 have a chance below one in a hundred.
    assert sum(alarms(seed, thin=8) for seed in range(20)) <= 4


def grouped_alarms(seed, *, by_group):
    rows, names = sessions(seed, 480)
    first = np.unique(names[:600], return_index=True)[1] if by_group else slice(None)
    watcher = Monitor(fit_ranker(rows[:600][first], Settings(n_targets=64)), alpha=0.05)
    watcher.observe(rows[600:], groups=names[600:] if by_group else None)
    return watcher.drifted


def test_one_row_per_session_keeps_the_rate_that_sessions_break():
    assert sum(grouped_alarms(seed, by_group=False) for seed in range(8)) >= 6
    assert sum(grouped_alarms(seed, by_group=True) for seed in range(20)) <= 4


@pytest.fixture(scope="module")
def ranker():
    return fit_ranker(series(0, 400, 0.0))


def test_thinning_is_watching_every_kth_row_alone(ranker):
    new = series(1, 90, 0.0)
    thinned = Monitor(ranker, thin=3)
    for part in np.split(new, [10, 11, 50]):
        thinned.observe(part)
    assert (thinned.rows, thinned.n_skipped, thinned.n_watched) == (90, 60, 30)
    held = ranker.kept.held
    npt.assert_array_equal(thinned.streams[1].calibration.scores, np.sort(held[::2][:, 0]))
    npt.assert_array_equal(thinned.streams[0].calibration.scores, np.sort(ranker.uncertainty(held[::2])))
    assert all(stream.fortune.steps == 30 for stream in thinned.streams)


def test_the_first_row_of_every_group_counts_however_the_stream_is_cut(ranker):
    new, names = series(1, 60, 0.0), [f"s{k // 4}" for k in range(60)]
    whole, parts = Monitor(ranker), Monitor(ranker)
    whole.observe(new, groups=names)
    for start, stop in ((0, 6), (6, 7), (7, 60)):
        parts.observe(new[start:stop], groups=names[start:stop])
    assert whole.evidence == parts.evidence
    assert (whole.n_skipped, whole.n_watched, whole.rows) == (45, 15, 60)


def test_of_the_held_back_groups_of_a_model_one_row_each_is_compared():
    rows, names = sessions(0, 60)
    ranker = fit_ranker(rows, groups=names)
    watcher = Monitor(ranker)
    assert {len(stream.calibration.scores) for stream in watcher.streams} == {ranker.n_groups}
    kept = {group: set() for group in ranker.kept.groups.tolist()}
    for group, score in zip(ranker.kept.groups.tolist(), ranker.calibration_scores, strict=True):
        kept[group].add(score)
    found = watcher.streams[0].calibration.scores
    assert all(sum(np.isclose(score, list(scores)).any() for score in found) for scores in kept.values())
    watcher.observe(rows, groups=names)
    assert load(watcher.to_bytes()).to_bytes() == watcher.to_bytes()


def test_groups_that_were_seen_long_ago_are_forgotten(ranker, monkeypatch):
    monkeypatch.setattr(first_rows, "MOST_GROUPS", 3)
    watcher = Monitor(ranker)
    watcher.observe(series(1, 5, 0.0), groups=["a", "b", "a", "c", "d"])
    assert watcher.n_skipped == 1
    assert len(watcher.groups.seen) == 3
    watcher.observe(series(2, 2, 0.0), groups=["b", "a"])
    assert watcher.n_watched == 5


@pytest.mark.parametrize("how", [{"thin": 4}, {"groups": True}])
def test_a_restored_monitor_goes_on_as_if_it_had_never_stopped(ranker, how):
    new, names = series(1, 200, 0.3), np.arange(200) // 3
    through, stopped = (Monitor(ranker, thin=how.get("thin", 1)) for _ in range(2))
    for watcher in (through, stopped):
        watcher.observe(new[:101], groups=names[:101] if "groups" in how else None)
    restored = load(stopped.to_bytes())
    for watcher in (through, restored):
        watcher.observe(new[101:], groups=names[101:] if "groups" in how else None)
    assert restored.to_bytes() == through.to_bytes()
    assert restored.neighbours == through.neighbours


def test_what_contradicts_how_a_monitor_began_is_refused(ranker):
    new = series(1, 8, 0.0)
    grouped, thinned, plain = Monitor(ranker), Monitor(ranker, thin=2), Monitor(ranker)
    grouped.observe(new, groups=range(8))
    plain.observe(new)
    with pytest.raises(SettingError, match="takes one row per group"):
        grouped.observe(new)
    with pytest.raises(SettingError, match="takes one row per group"):
        grouped.update(ranker.p_values(new))
    for watcher in (thinned, plain):
        with pytest.raises(SettingError, match="Begin a new one"):
            watcher.observe(new, groups=range(8))
    with pytest.raises(SettingError, match="needs rows"):
        thinned.update(ranker.p_values(new))
    with pytest.raises(SettingError, match="thin must be at least 1"):
        Monitor(ranker, thin=0)
    with pytest.raises(TableError, match="8 rows, and shape"):
        Monitor(ranker).observe(new, groups=[1, 2])
    with pytest.raises(TableError, match="1 of 8 rows have no group"):
        Monitor(ranker).observe(new, groups=[None, *range(7)])


def test_neighbours_are_found_alike_in_a_series_and_not_in_drift():
    rng = np.random.default_rng(0)
    alike = {"series": 0, "independent": 0, "shift": 0, "trend": 0}
    for run in range(40):
        shifted = np.where(np.arange(500) < 250, 0.0, 3.0) + rng.normal(size=500)
        laws = {
            "series": np.log(series(run, 500, 0.5)[:, 0]),
            "independent": rng.normal(size=500),
            "shift": shifted,
            "trend": rng.normal(size=500) + np.linspace(0, 3, 500),
        }
        for name, places in laws.items():
            alike[name] += Neighbours().after(places).alike
    assert alike["series"] >= 36
    assert max(alike["independent"], alike["shift"], alike["trend"]) <= 1


def test_neighbours_are_counted_alike_in_one_piece_and_in_many():
    places = np.random.default_rng(0).integers(0, 9, size=60)
    whole, parts = Neighbours().after(places), Neighbours()
    for part in np.split(places, [1, 3, 30]):
        parts = parts.after(part)
    assert parts == whole
    assert whole.pairs == 60 - LAG
    assert Neighbours().after(np.zeros(99)).share == 0.5


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame(series(3, 2_400, 0.6), columns=["a", "b"])
    rows["session"] = np.arange(2_400) // 10
    fit_ranker(rows[["a", "b"]][:600]).save("m.vecuq")
    rows[600:].to_csv("s.csv", index=False)
    return tmp_path


def test_a_series_is_not_advised_to_recalibrate(files):
    done = workflows.monitor("m.vecuq", ["s.csv"])
    assert done.monitor.drifted
    assert not done.monitor.recalibrate
    said = advice(done)
    assert "recalibrate" not in said
    assert said.startswith("begin a new monitor with --group COLUMN or --thin K. Rows that follow each other are alike")


def test_groups_and_thinning_on_the_command_line(files, run):
    for words in (("--thin", "20"), ("--group", "session")):
        shown = json.loads(run("monitor", "m.vecuq", "s.csv", *words, "--json").stdout)
        kept = 90 if "--thin" in words else 180
        assert (shown["rows"], shown["left_out"], shown["unwatched"]) == (1_800, 1_800 - kept, [])
    assert "1,620 rows: not the first of their group" in run("monitor", "m.vecuq", "s.csv", "--group", "session").stdout


def test_a_state_keeps_its_groups_and_its_thinning(files):
    workflows.monitor("m.vecuq", ["s.csv"], state="d.vecuq", thin=7)
    with pytest.raises(SettingError, match=r"begun with thin=7, which cannot become 5"):
        workflows.monitor("m.vecuq", ["s.csv"], state="d.vecuq", thin=5, again=True)
    workflows.monitor("m.vecuq", ["s.csv"], state="d.vecuq", again=True)
    assert load("d.vecuq").n_skipped == 3_600 - 515
    workflows.monitor("m.vecuq", ["s.csv"], state="g.vecuq", group="session")
    again = workflows.monitor("m.vecuq", ["s.csv"], state="g.vecuq", group="session", again=True)
    assert again.files[0].n_skipped == 1_800
    assert not again.blind
    assert not workflows.monitor("m.vecuq", ["s.csv"], state="g.vecuq", group="session").blind


def test_a_column_of_groups_that_is_absent_and_both_options_are_refused(files):
    with pytest.raises(ColumnError, match=r"s.csv lacks \['user'\], named as the group of every row"):
        workflows.monitor("m.vecuq", ["s.csv"], group="user")
    with pytest.raises(SettingError, match="Give thin for rows"):
        workflows.monitor("m.vecuq", ["s.csv"], group="session", thin=2)


def test_whether_neighbours_are_alike_is_a_plain_truth_that_json_can_hold():
    places = (np.arange(3), np.arange(500.0), np.random.default_rng(0).normal(size=500))
    assert [type(Neighbours().after(some).alike) for some in places] == [bool] * 3
