"""The file of a store: one service at a time, and no other file than ours."""

import sqlite3
import time

import pytest

from vecuq.errors import ModelFileError, TableError
from vecuq.service.keeping.schema import APPLICATION, VERSION, opened, opened_to_read


def test_a_second_service_on_the_same_file_is_refused(world):
    with (
        world.desk(),
        pytest.raises(TableError, match=r"service\.sqlite belongs to a service that is running\. Stop it"),
    ):
        world.open()
    with world.desk():
        pass


def test_nothing_but_the_database_is_left_after_a_clean_stop(world):
    async def talk(keeper):
        await keeper.decided(world.scored(range(10)))
        await keeper.query("row", id="r1")

    world.keep(talk)
    assert {path.name for path in world.folder.iterdir()} == {"gate.vecuq", "service.sqlite"}


def test_a_commit_is_on_disk_before_it_is_acknowledged(world):
    with world.desk() as desk:
        pragma = {
            name: desk.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
        }
    assert pragma == {"journal_mode": "wal", "synchronous": 2}


@pytest.mark.parametrize("content", [b"not a database", b"SQLite format 3\0" + b"x" * 5_000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(world, content):
    world.store.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"service\.sqlite"):
        world.open()
    assert world.store.read_bytes() == content


def test_the_database_of_another_program_is_refused_and_left_alone(world):
    with sqlite3.connect(world.store) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = world.store.read_bytes()
    for way in (opened, opened_to_read):
        with pytest.raises(ModelFileError, match="the database of another program"):
            way(world.store)
    assert world.store.read_bytes() == before


@pytest.mark.parametrize(("version", "remedy"), [(VERSION + 1, "Upgrade vecuq"), (0, "another name")])
def test_another_version_is_refused(world, version, remedy):
    with world.desk():
        pass
    with sqlite3.connect(world.store) as other:
        other.execute(f"PRAGMA user_version = {version}")
    other.close()
    for way in (opened, opened_to_read):
        with pytest.raises(ModelFileError, match=remedy):
            way(world.store)


def test_a_damaged_database_is_refused(world, commit):
    with world.desk() as desk:
        commit(desk, lambda: desk.decide(world.scored(range(500)), 0.0))
    whole = bytearray(world.store.read_bytes())
    whole[8_192:20_000] = b"\x55" * (20_000 - 8_192)
    world.store.write_bytes(whole)
    with pytest.raises(ModelFileError, match="cannot be used as a store"):
        world.open()


def test_an_empty_file_becomes_a_store(world):
    world.store.touch()
    with world.desk() as desk:
        assert desk.connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
        assert desk.connection.execute("PRAGMA auto_vacuum").fetchone()[0] == 2


def test_a_store_in_a_folder_that_is_not_there_is_refused(world):
    world.store = world.folder / "nowhere" / "service.sqlite"
    with pytest.raises(TableError, match=r"make the folder .*nowhere first"):
        world.open()


def test_rows_that_are_too_many_go_and_the_oldest_go_first(world, commit):
    with world.desk(keep_rows=100, audit=0.01) as desk:
        commit(desk, lambda: desk.decide(world.scored(range(1_000)), time.time()))
        _retained(desk, commit)
        kept = [name for (name,) in desk.connection.execute("SELECT id FROM scored WHERE pending = 0 ORDER BY seq")]
        assert desk.store.n_rows == 100 == desk.connection.execute("SELECT COUNT(*) FROM scored").fetchone()[0]
        assert kept[-1] == "r999"
        assert set(desk.gates.live["gate"].ledger.labels) <= _ids(desk), "rows of the audit wait for their label"


def test_rows_that_are_too_old_go_with_their_feedback_and_the_bound_stays(world, commit):
    from vecuq.service import Feedback

    now = time.time()
    with world.desk(keep_days=1.0) as desk:
        done = commit(desk, lambda: desk.decide(world.scored(range(200)), now - 100_000)).decided
        commit(desk, lambda: desk.decide(world.scored(range(200, 250)), now))
        drawn = [f"r{k}" for k in range(200) if done.audit[k]]
        labelled, waiting = drawn[:20], set(drawn[20:])
        found = [Feedback(name, "audit", correct=True) for name in labelled] + [Feedback("stray", ood=True)]
        commit(desk, lambda: desk.take(found, "t", now - 100_000))
        before = desk.gates.live["gate"].to_bytes()
        _retained(desk, commit)
        assert _ids(desk) == waiting | {f"r{k}" for k in range(200, 250)}
        assert desk.store.n_feedback == 0
        assert desk.gates.live["gate"].to_bytes() == before
        commit(desk, lambda: desk.gates.use(desk.models["gate"]))
        desk.store.end_epoch(desk.store.model("gate"))
        _retained(desk, commit)
        assert _ids(desk) == {f"r{k}" for k in range(200, 250)}, "once no label is awaited, they go"


def test_the_file_becomes_smaller_when_rows_have_gone(world, commit):
    texts = ["x" * 4_000] * 2_000
    with world.desk(keep_rows=10, audit=0.001) as desk:
        commit(desk, lambda: desk.decide(world.scored(range(2_000), texts=[f'"{one}"' for one in texts]), time.time()))
        desk.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = world.store.stat().st_size
        _retained(desk, commit)
    assert world.store.stat().st_size < 0.7 * before


def _retained(desk, commit):
    from vecuq.service.keeping.retention import retain

    for _ in range(40):
        commit(desk, lambda: retain(desk.store, desk.gates, desk.kept_by, now=time.time()))


def _ids(desk):
    return {name for (name,) in desk.connection.execute("SELECT id FROM scored")}
