"""One thread writes: requests share commits, one that fails spoils no other, and a full disk is survived."""

import asyncio
import threading

import numpy as np
import pytest

from vecuq import LiveGate
from vecuq.service import Feedback
from vecuq.service.refusal import Refusal


def test_requests_that_come_together_share_commits(world):
    async def talk(keeper):
        before = keeper.writer.commits
        await asyncio.gather(*(keeper.feedback([Feedback(f"r{k}", ood=True)]) for k in range(200)))
        return keeper.writer.commits - before, keeper.desk.store.n_feedback

    commits, stored = world.keep(talk)
    assert stored == 200
    assert commits < 100


def test_one_request_that_is_refused_spoils_no_other(world):
    async def talk(keeper):
        calls = [keeper.feedback([Feedback(f"r{k}", "audit" if k == 5 else "review", True)]) for k in range(20)]
        return await asyncio.gather(*calls, return_exceptions=True), keeper.desk.store.n_feedback

    found, stored = world.keep(talk)
    assert [k for k, one in enumerate(found) if isinstance(one, Refusal)] == [5]
    assert stored == 19


def test_a_request_that_is_cancelled_while_it_waits_leaves_the_store_alive(world):
    async def talk(keeper):
        busy, hold = threading.Event(), threading.Event()
        first = asyncio.create_task(keeper._written(lambda: busy.set() or hold.wait(120)))
        while not busy.is_set():
            await asyncio.sleep(0.01)
        gone = asyncio.create_task(keeper.feedback([Feedback("gone", ood=True)]))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        hold.set()
        await first
        async with asyncio.timeout(120):  # a store that has died would never answer
            await keeper.feedback([Feedback("after", ood=True)])
        return gone.cancelled(), keeper.desk.store.n_feedback

    assert world.keep(talk) == (True, 1)


def test_a_request_that_is_refused_changes_no_count(world):
    async def talk(keeper):
        with pytest.raises(Refusal):
            await keeper.feedback([Feedback("one", ood=True), Feedback("two", "audit", True)])
        return keeper.desk.store.n_feedback

    assert world.keep(talk) == 0


def test_one_request_that_fails_for_no_known_reason_spoils_no_other(world, caplog):
    async def talk(keeper):
        done = keeper.decided(world.scored(range(30)))
        bad = keeper._written(lambda: 1 / 0)
        worse = keeper._written(lambda: keeper.desk.connection.execute("SELECT ?", (object(),)))
        others = [keeper.feedback([Feedback(f"x{k}", ood=True)]) for k in range(20)]
        found = await asyncio.gather(done, bad, worse, *others, return_exceptions=True)
        return found, keeper.desk.store.n_feedback, keeper.desk.gates.live["gate"].to_bytes()

    (done, *others), stored, state = world.keep(talk)
    assert [(one.status, one.error) for one in others[:2]] == [(503, "store_unavailable")] * 2
    assert stored == 20
    live = LiveGate(world.gate, audit=0.5)
    rows = world.scored(range(30))
    assert done.audit.tolist() == live.record(list(rows.ids), rows.accept).audit.tolist()
    assert state == live.to_bytes()
    assert "could not write" in caplog.text


def test_a_full_disk_is_refused_and_leaves_no_trace_in_the_live_gate(world, caplog):
    texts = ["x" * 5_000] * 200

    async def talk(keeper):
        await keeper.decided(world.scored(range(50)))
        limit = "PRAGMA max_page_count = {}"
        pages = keeper.desk.connection.execute("PRAGMA page_count").fetchone()[0]
        keeper.desk.connection.execute(limit.format(pages + 2))
        with pytest.raises(Refusal) as refused:
            await keeper.decided(world.scored(range(50, 250), texts=[f'"{one}"' for one in texts]))
        before = keeper.desk.gates.live["gate"].decided
        keeper.desk.connection.execute(limit.format(10**6))
        await keeper.decided(world.scored(range(50, 250)))
        return refused.value, before, keeper.desk.gates.live["gate"].to_bytes()

    refused, before, state = world.keep(talk)
    assert (refused.status, refused.error) == (503, "store_unavailable")
    assert before == 50
    live = LiveGate(world.gate, audit=0.5)
    for places in (range(50), range(50, 250)):
        rows = world.scored(places)
        live.record(list(rows.ids), rows.accept)
    assert state == live.to_bytes()
    assert "full" in caplog.text


def test_more_requests_than_may_wait_are_refused_as_busy(world, monkeypatch):
    monkeypatch.setattr("vecuq.service.keeping.writer.MOST_WAITING", 3)

    async def talk(keeper):
        calls = [keeper.feedback([Feedback(f"r{k}", ood=True)]) for k in range(50)]
        return await asyncio.gather(*calls, return_exceptions=True)

    refused = [one for one in world.keep(talk) if isinstance(one, Refusal)]
    assert refused
    assert {(one.status, one.retry_after) for one in refused} == {(429, 1)}


def test_after_the_end_everything_is_refused(world):
    async def talk(keeper):
        return keeper

    keeper = world.keep(talk)
    with pytest.raises(Refusal, match="cannot be written now"):
        keeper.writer.submit(lambda: None)


def test_a_store_that_cannot_be_opened_says_so_at_the_start(world):
    world.store.write_bytes(b"rubbish")
    with pytest.raises(ValueError, match="not the database of a service"):
        world.keep(lambda keeper: None)


def test_decisions_of_many_callers_are_those_of_one(world):
    async def talk(keeper):
        return await asyncio.gather(*(keeper.decided(world.scored([k])) for k in range(300)))

    done = world.keep(talk)
    rows = world.scored(range(300))
    expected = LiveGate(world.gate, audit=0.5).record(list(rows.ids), rows.accept)
    assert np.concatenate([one.audit for one in done]).tolist() == expected.audit.tolist()
