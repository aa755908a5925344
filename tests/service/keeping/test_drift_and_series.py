"""Drift is watched on a bounded sample that never looks at values; series are counted by the second and the minute."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.service.keeping import drift as drift_module
from vecuq.service.keeping.rows import Tally
from vecuq.service.keeping.sample import Sample
from vecuq.service.keeping.series import Ring, Series


@given(st.lists(st.integers(0, 40), max_size=12), st.integers(1, 50))
def test_a_sample_holds_all_rows_or_the_most_that_it_may_in_their_order(sizes, most):
    sample, at = Sample(most), 0
    for size in sizes:
        sample.add(("a",), np.arange(at, at + size, dtype=float)[:, None])
        at += size
    assert sample.seen == at
    columns, values = sample.take()
    taken = values[:, 0].tolist() if at else []
    assert taken == sorted(set(taken))
    assert len(taken) == min(at, most)
    assert at > most or taken == list(range(at))
    assert sample.seen == 0
    assert not at or columns == ("a",)


def test_every_row_is_as_likely_to_be_in_the_sample():
    hits = np.zeros(60)
    for seed in range(3_000):
        sample = Sample(12, random_state=seed)
        for start in (0, 7, 31):
            end = {0: 7, 7: 31, 31: 60}[start]
            sample.add(("a",), np.arange(start, end, dtype=float)[:, None])
        hits[sample.take()[1][:, 0].astype(int)] += 1
    expected = 3_000 * 12 / 60
    assert np.abs(hits - expected).max() < 5 * np.sqrt(expected)


def test_a_sample_of_another_model_begins_anew():
    sample = Sample(8)
    sample.add(("a",), np.ones((5, 1)))
    sample.add(("a", "b"), np.zeros((2, 2)))
    assert sample.take()[1].tolist() == [[0.0, 0.0]] * 2


def _watched(world, **changed):
    rows = world.scored(range(1_500), ids=[None] * 1_500)
    shifted = rows.values + changed.get("by", 0.0)
    return world.scored(range(1_500), ids=[None] * 1_500, values=shifted)


def test_drift_is_found_and_the_alarm_outlives_the_process(world, caplog):
    async def talk(keeper):
        keeper.watched(_watched(world, by=1.5))
        keeper.drift.turn()
        return (await keeper.query("live"))["drift"], await keeper.query("gauges")

    status, gauges = world.keep(talk)
    assert status["alarms"]
    assert status["rows"] == 1_500
    assert ["vecuq_drift_alarm", {"model": "gate", "stream": "uncertainty"}, 1] in [one[:3] for one in gauges]
    assert "Drift in model gate" in caplog.text

    async def later(keeper):
        return (await keeper.query("live"))["drift"]

    again = world.keep(later)
    assert again["alarms"] == status["alarms"]
    assert again["rows"] == 1_500


def test_an_alarm_is_saved_at_once(world, monkeypatch):
    saved = []
    monkeypatch.setattr(drift_module, "MOST_SECONDS", 1e9)
    with world.desk() as desk:
        drift = drift_module.Drift(lambda *state: saved.append(state))
        drift.use(desk.models["gate"])
        rows = _watched(world)
        drift.add("gate", world.checksum, rows.columns, rows.values, len(rows.values))
        drift.turn()
        assert saved == []
        shifted = _watched(world, by=2.0)
        drift.add("gate", world.checksum, shifted.columns, shifted.values, len(shifted.values))
        drift.turn()
        assert [name for name, *_ in saved] == ["gate"]


def test_rows_of_a_file_that_is_not_served_any_more_are_not_watched(world):
    with world.desk() as desk:
        rows = _watched(world)
        desk.drift.add("gate", "older", rows.columns, rows.values, len(rows.values))
        desk.drift.turn()
        assert desk.drift.status("gate")["rows"] == 0


def test_a_new_gate_on_the_same_model_keeps_the_monitor_and_another_model_does_not(world, gate, other_gate):
    from vecuq import Gate

    with world.desk() as desk:
        rows = _watched(world)
        desk.drift.add("gate", world.checksum, rows.columns, rows.values, len(rows.values))
        desk.drift.turn()
        same = Gate.from_learned(gate.model, gate.settings, other_gate.learned_)
        world.use(same)
        desk.look("gate")
        assert desk.drift.status("gate")["rows"] == 1_500
        world.use(other_gate)
        desk.look("gate")
        assert desk.drift.status("gate")["rows"] == 0


def test_more_rows_than_a_turn_takes_are_sampled_and_the_share_is_reported(world):
    async def talk(keeper):
        keeper.drift.stop()  # one turn for all
        for _ in range(4):
            keeper.watched(_watched(world))
        keeper.drift.turn()
        return (await keeper.query("live"))["drift"]

    status = world.keep(talk)
    assert (status["arrived"], status["watched"]) == (6_000, 2_048)
    assert status["share"] == pytest.approx(2_048 / 6_000)


def test_rows_that_come_again_are_not_watched_again(world):
    async def talk(keeper):
        keeper.drift.stop()
        for _ in range(3):
            await keeper.decided(world.scored(range(100)))
        keeper.drift.turn()
        return (await keeper.query("live"))["drift"]["rows"]

    assert world.keep(talk) == 100


def test_a_ring_counts_by_its_step_and_forgets_what_is_too_old():
    ring = Ring(60, 3)
    for minute, rows in ((0, 5), (0, 6), (2, 7), (4, 1)):
        ring.add(60.0 * minute + 3, Tally(rows, 1, None, 0))
    ring.set(245.0, (2.0, 0.5, 2.0))
    found = ring.to_dict(250.0)
    assert found["time"] == [120, 180, 240]
    assert found["rows"] == [7, 0, 1]
    assert found["accepted"] == [1, 0, 1]
    assert found["bound"] == [None, None, 0.5]
    assert found["state"] == [None, None, "broken"]


@given(st.lists(st.tuples(st.floats(0, 5_000), st.integers(0, 9)), max_size=60))
def test_a_series_holds_what_was_counted_in_its_time(events):
    series = Series()
    ordered = sorted(events)
    for at, rows in ordered:
        series.add(at, Tally(rows))
    now = ordered[-1][0] if ordered else 0.0
    found = series.to_dict(now)
    assert sum(found["minutes"]["rows"]) == sum(rows for _, rows in ordered) == series.total.rows
    recent = int(now) - 599
    assert sum(found["seconds"]["rows"]) == sum(rows for at, rows in ordered if int(at) >= recent)


def test_the_live_view_notes_bound_state_and_drift(world):
    async def talk(keeper):
        await keeper.decided(world.scored(range(50)))
        await asyncio.sleep(1.2)
        await keeper.query("live")
        return (await keeper.query("live"))["series"]["seconds"]

    seconds = world.keep(talk)
    assert sum(seconds["rows"]) == 50
    assert "unproven" in seconds["state"]
    assert 1.0 in seconds["bound"]
    assert any(one is not None for one in seconds["drift"])
