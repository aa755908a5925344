"""Several workers and one keeper: frames over a local socket, repeated after a reconnect, never counted twice."""

import asyncio
import os
import tempfile
import threading
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.errors import ModelFileError, SettingError
from vecuq.service import Feedback, ScoredRows, keeping
from vecuq.service.keeping import frames
from vecuq.service.recorder import Recorded
from vecuq.service.refusal import Refusal

pytestmark = pytest.mark.skipif(not hasattr(asyncio, "open_unix_connection"), reason="there are no local sockets")


class KeeperThread:
    """A keeper as a process runs it, in a thread of this one."""

    def __init__(self, settings, address):
        self._ready, self._stop = threading.Event(), threading.Event()
        how = {"on_ready": self._ready.set, "stop": self._stop}
        self._thread = threading.Thread(target=keeping.run_keeper, args=(settings, address), kwargs=how)
        self._thread.start()
        assert self._ready.wait(60)

    def stop(self):
        self._stop.set()
        self._thread.join()


@pytest.fixture
def address():
    with tempfile.TemporaryDirectory(prefix="vecuq-") as folder:
        yield str(Path(folder, "keeper"))


@asynccontextmanager
async def connected(world, address, **settings):
    keeper = KeeperThread(world.settings(**settings), address)
    try:
        async with keeping.remote_recorder(address) as recorder:
            yield recorder
    finally:
        await asyncio.to_thread(keeper.stop)


def test_what_the_keeper_cannot_read_is_told_without_a_path(world, address, caplog, monkeypatch):
    def damaged(path):
        raise ModelFileError(f"{path} cannot be used as a store.")

    async def talk():
        async with connected(world, address) as recorder:
            await recorder.query("row", id="r3")

    monkeypatch.setattr("vecuq.service.keeping.answers.opened_to_read", damaged)
    with pytest.raises(Refusal) as refused:
        asyncio.run(talk())
    assert refused.value.status == 500
    assert str(world.folder) not in refused.value.message


def test_a_remote_recorder_answers_as_a_local_one(world, address):
    rows = world.scored(range(300), by=["x"] * 300, texts=["{}"] * 300)
    found = [Feedback(f"r{k}", comment=f"c{k}") for k in range(20)]

    async def talk(recorder):
        done = await recorder.decided(rows)
        audits = [Feedback(f"r{k}", "audit", bool(world.correct[k])) for k in np.flatnonzero(done.audit)]
        taken = await recorder.feedback([*found, *audits])
        asked = {"queue": {"limit": 7}, "audit_queue": {"limit": 7}, "row": {"id": "r3"}, "columns": {}, "gauges": {}}
        answers = {what: await recorder.query(what, **about) for what, about in asked.items()}
        standing = (await recorder.query("live"))["gate"]
        return done.audit.tolist(), done.accept.tolist(), taken, _without_times(answers), standing

    async def remotely():
        async with connected(world, address) as recorder:
            return await talk(recorder)

    far = asyncio.run(remotely())
    world.store.unlink()
    near = world.keep(talk)
    assert far == near
    assert Path(address).exists() is False


def _without_times(answers):
    row = answers["row"]
    return {
        "queue": [one["id"] for one in answers["queue"]],
        "audit_queue": [one["id"] for one in answers["audit_queue"]],
        "row": {**row, "time": 0, "feedback": {**row["feedback"], "time": 0}},
        "columns": answers["columns"],
        "gauges": [one[:2] for one in answers["gauges"]],
    }


def test_refusals_come_back_as_they_are(world, address):
    async def talk():
        async with connected(world, address) as recorder:
            with pytest.raises(Refusal, match="not drawn") as refused:
                await recorder.feedback([Feedback("r1", "audit", correct=True)])
            assert refused.value.status == 404
            with pytest.raises(Refusal, match="no model 'other'"):
                await recorder.query("live", model="other")
            with pytest.raises(Refusal, match="says nothing"):
                await recorder.feedback([Feedback("r1")])

    asyncio.run(talk())


def test_watched_rows_reach_the_monitor_as_a_sample_and_all_are_counted(world, address):
    rows = world.scored(range(3_000), ids=[None] * 3_000)

    async def talk():
        async with connected(world, address) as recorder:
            recorder.watched(rows)
            for _ in range(100):
                found = await recorder.query("live")
                if found["drift"]["rows"]:
                    return found
                await asyncio.sleep(0.1)
            return found

    found = asyncio.run(talk())
    assert found["totals"]["rows"] == 3_000
    assert found["drift"]["arrived"] == 3_000
    assert found["drift"]["rows"] == 2_048


def test_requests_wait_for_a_keeper_that_comes_back_and_are_not_counted_twice(world, address):
    async def talk():
        keeper = KeeperThread(world.settings(), address)
        async with keeping.remote_recorder(address, patience=60.0) as recorder:
            await recorder.decided(world.scored(range(40)))
            await asyncio.to_thread(keeper.stop)
            calls = [recorder.decided(world.scored(range(k, k + 10))) for k in range(0, 80, 5)]
            waiting = asyncio.gather(*calls, recorder.feedback([Feedback("r1", ood=True)]))
            await asyncio.sleep(0.2)
            assert not waiting.done()
            keeper = KeeperThread(world.settings(), address)
            *_, taken = await waiting
            standing = (await recorder.query("live"))["gate"]
        await asyncio.to_thread(keeper.stop)
        return taken, standing

    (taken,), standing = asyncio.run(talk())
    assert taken.status == "stored"
    assert standing["decided"] == 85


def test_a_request_that_was_written_and_whose_answer_was_lost_is_repeated_without_effect(world, address):
    """A proxy cuts the line after the keeper has answered, before the worker hears it."""

    async def talk():
        keeper, cuts = KeeperThread(world.settings(), address), []

        async def proxy(reader, writer):
            far_reader, far_writer = await asyncio.open_unix_connection(address)
            try:
                far_writer.write(await reader.read(2**20))
                answer = await far_reader.read(2**20)
                if len(cuts) < 3:
                    cuts.append(answer)
                    return
                writer.write(answer)
                await reader.read()  # until the worker goes
            finally:
                writer.close()
                far_writer.close()

        server = await asyncio.start_unix_server(proxy, address + "2")
        async with keeping.remote_recorder(address + "2", patience=60.0) as recorder:
            (taken,) = await recorder.feedback([Feedback("r1", ood=True)])
        server.close()
        await asyncio.to_thread(keeper.stop)
        return taken, len(cuts)

    taken, n_cuts = asyncio.run(talk())
    assert (taken.status, n_cuts) == ("stored", 3)
    with world.desk() as desk:
        assert desk.store.n_feedback == 1
        assert desk.connection.execute("SELECT COUNT(*) FROM history").fetchone()[0] == 0


def test_without_a_keeper_a_call_fails_with_store_unavailable(world, address):
    async def talk():
        async with keeping.remote_recorder(address, patience=0.2) as recorder:
            recorder.watched(world.scored(range(5), ids=[None] * 5))
            with pytest.raises(Refusal) as refused:
                await recorder.feedback([Feedback("r1", ood=True)])
        return refused.value

    found = asyncio.run(talk())
    assert (found.status, found.error) == (503, "store_unavailable")


def test_a_stranger_who_sends_rubbish_is_cut_off_and_nobody_else(world, address, caplog):
    async def talk():
        async with connected(world, address) as recorder:
            for rubbish in (b"\xff" * 64, (5).to_bytes(4, "little") + b"\xc1\xc1\xc1\xc1\xc1", b"\x01\0\0\0\x01"):
                reader, writer = await asyncio.open_unix_connection(address)
                writer.write(rubbish)
                assert await reader.read() == b""
                writer.close()
                await writer.wait_closed()
            return await recorder.feedback([Feedback("r1", ood=True)])

    assert asyncio.run(talk())[0].status == "stored"
    assert "A worker was cut off" in caplog.text


def test_the_socket_needs_a_private_folder(world, tmp_path):
    (tmp_path / "open").mkdir()
    os.chmod(tmp_path / "open", 0o750)  # noqa: S103 - that it is open is the point
    with pytest.raises(SettingError, match="only this user may enter"):
        keeping.run_keeper(world.settings(), str(tmp_path / "open" / "keeper"), stop=threading.Event())


@given(
    n_rows=st.integers(0, 5),
    with_gate=st.booleans(),
    values=st.lists(st.floats(), min_size=10, max_size=10),
)
def test_rows_come_back_from_a_frame_to_the_bit(n_rows, with_gate, values):
    matrix = np.array(values).reshape(5, 2)[:n_rows]
    numbers = np.array(values)[:n_rows]
    accept = np.arange(n_rows) % 2 == 0 if with_gate else None
    rows = ScoredRows("m", "c", ("a", "b"), ["x"] * n_rows, matrix, numbers, numbers, accept, None, by=[None] * n_rows)
    body = frames.frame(frames.packed_rows(rows))[4:]
    back = frames.unpacked_rows(frames._decode(body))
    assert back.values.tobytes() == matrix.tobytes()
    assert back.p_value.tobytes() == numbers.tobytes()
    assert (back.model, back.columns, list(back.ids), back.p_wrong, back.by) == (
        "m",
        ("a", "b"),
        rows.ids,
        None,
        rows.by,
    )
    assert (back.accept is None) if accept is None else np.array_equal(back.accept, accept)
    decided = frames.unpacked_decided(frames.packed_decided(Recorded(accept, None)))
    assert decided.audit is None


def test_a_frame_that_is_too_long_is_refused():
    with pytest.raises(Refusal, match="at most 64 MiB"):
        frames.frame([b"x" * (frames.MOST_BYTES + 1)])
