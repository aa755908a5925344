"""After a crash the live gate is the very same: checkpoint and journal hold all that it had counted."""

import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq import LiveGate
from vecuq.errors import ModelFileError, SettingError
from vecuq.service import Feedback
from vecuq.service.keeping.findings import checked
from vecuq.service.keeping.gates import replayed
from vecuq.service.refusal import Refusal

_PLACES = st.lists(st.integers(0, 79), max_size=25)
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("decide"), _PLACES),
        st.tuples(st.just("audit"), _PLACES),
        st.tuples(st.just("review"), _PLACES),
        st.tuples(st.sampled_from(["crash", "stop", "checkpoint", "recalibrate"]), st.just([])),
    ),
    max_size=14,
)


class InMemory:
    """What a live gate comes to without any store."""

    def __init__(self, world):
        self.world, self.live, self.known = world, LiveGate(world.gate, audit=0.5), set()

    def decide(self, places):
        new = [k for k in dict.fromkeys(places) if k not in self.known]
        self.known.update(new)
        rows = self.world.scored(new)
        if new:
            self.live.record(list(rows.ids), rows.accept)

    def drawn(self, places):
        return [k for k in dict.fromkeys(places) if f"r{k}" in self.live.ledger.labels]

    def audit(self, places):
        drawn = self.drawn(places)
        self.live.update([f"r{k}" for k in drawn], self.world.correct[drawn])


class OnDisk:
    """The same with a store, which may be closed at any time, with or without a last checkpoint."""

    def __init__(self, world, commit):
        self.world, self._commit, self.desk, self.number = world, commit, world.open(), 0

    def decide(self, places):
        if places:
            self._commit(self.desk, lambda: self.desk.decide(self.world.scored(places), 0.0))

    def give(self, found):
        self.number += 1
        self._commit(self.desk, lambda: self.desk.take(checked(found), str(self.number), 0.0))

    def checkpoint(self):
        self._commit(self.desk, self.desk.gates.save_all)

    def look(self):
        self._commit(self.desk, lambda: self.desk.look("gate"))

    def again(self, *, cleanly):
        self.desk.close() if cleanly else self.desk._stack.close()
        self.desk = self.world.open()


@given(steps=_STEPS)
@settings(max_examples=40)
def test_any_order_of_rows_labels_crashes_and_stops_gives_the_live_gate_in_memory(
    steps, make_world, other_gate, commit
):
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(folder)
        expected, gates, stored = InMemory(world), [other_gate, world.gate], OnDisk(world, commit)
        for step, places in steps:
            if step == "decide":
                stored.decide(places)
                expected.decide(places)
            elif step == "audit":
                stored.give([Feedback(f"r{k}", "audit", bool(world.correct[k])) for k in expected.drawn(places)])
                expected.audit(places)
            elif step == "review":
                stored.give([Feedback(f"r{k}", comment=str(stored.number)) for k in places])
            elif step == "checkpoint":
                stored.checkpoint()
            elif step == "recalibrate":
                gates.reverse()
                world.use(gates[-1])
                stored.look()
                expected.live.recalibrate(world.gate)
            else:
                stored.again(cleanly=step == "stop")
        stored.again(cleanly=False)
        live = stored.desk.gates.live["gate"]
        assert live.to_bytes() == expected.live.to_bytes()
        assert live.bound == expected.live.bound
        stored.desk.close()


def test_a_journal_is_pruned_by_a_checkpoint(world, commit):
    with world.desk() as desk:
        commit(desk, lambda: desk.decide(world.scored(range(20)), 0.0))
        assert desk.store.n_events == 1
        commit(desk, desk.gates.save_all)
        assert desk.store.n_events == 0
        assert list(desk.store.events(desk.store.model("gate"), 0)) == []
    with world.desk() as desk:
        assert desk.gates.live["gate"].decided == 20


def test_a_checkpoint_is_written_after_many_rows(world, commit, monkeypatch):
    monkeypatch.setattr("vecuq.service.keeping.gates.MOST_SINCE", 50)
    with world.desk() as desk:
        for start in range(0, 60, 10):
            commit(desk, lambda start=start: desk.decide(world.scored(range(start, start + 10)), 0.0))
            commit(desk, desk.gates.save_due)
        assert desk.store.n_events == 1


def test_a_commit_that_failed_leaves_the_live_gate_as_the_disk_has_it(world, commit):
    with world.desk() as desk:
        commit(desk, lambda: desk.decide(world.scored(range(20)), 0.0))
        before = desk.gates.live["gate"].to_bytes()
        desk.connection.execute("BEGIN IMMEDIATE")
        desk.decide(world.scored(range(20, 40)), 0.0)
        desk.connection.execute("ROLLBACK")
        assert desk.gates.live["gate"].to_bytes() != before
        desk.reload()
        assert desk.gates.live["gate"].to_bytes() == before
        assert desk.store.n_rows == 20


def test_another_gate_at_the_start_begins_a_new_epoch_and_the_log_says_so(world, other_gate, commit, caplog):
    with world.desk() as desk:
        commit(desk, lambda: desk.decide(world.scored(range(60)), 0.0))
    world.use(other_gate)
    with world.desk() as desk:
        live = desk.gates.live["gate"]
        assert len(live.epochs) == 1
        assert live.epochs[0].decided == 60
        assert live.gate.to_bytes() == other_gate.to_bytes()
        assert desk.connection.execute("SELECT SUM(pending) FROM scored").fetchone()[0] == 0
    assert "A new epoch of the audit of model gate begins: its file is another one" in caplog.text


def test_another_share_begins_a_new_epoch_and_the_same_share_goes_on(world, commit, caplog):
    with world.desk() as desk:
        commit(desk, lambda: desk.decide(world.scored(range(60)), 0.0))
    with world.desk() as desk:
        assert len(desk.gates.live["gate"].epochs) == 0
    with world.desk(audit=0.25) as desk:
        assert len(desk.gates.live["gate"].epochs) == 1
        assert desk.gates.live["gate"].audit == 0.25
    assert "was 0.5 and is 0.25" in caplog.text
    with world.desk(audit=0.25) as desk:
        assert len(desk.gates.live["gate"].epochs) == 1


def test_another_seed_is_refused_and_none_goes_on(world):
    with world.desk(random_state=3):
        pass
    with pytest.raises(SettingError, match="begun with random_state=3, which cannot become 4"):
        world.open(random_state=4)
    with world.desk() as desk:
        assert desk.gates.live["gate"].seed == 3


def test_replaced_while_running_the_new_gate_is_used_and_rows_of_the_old_one_are_not_audited(world, other_gate, commit):
    old = world.scored(range(100, 200))
    with world.desk() as desk:
        commit(desk, lambda: desk.decide(world.scored(range(50)), 0.0))
        world.use(other_gate)
        assert desk.is_of_another_file(world.scored([0]))
        commit(desk, lambda: desk.look("gate"))
        new = commit(desk, lambda: desk.decide(world.scored(range(50, 100)), 0.0)).decided
        live = desk.gates.live["gate"]
        assert (len(live.epochs), live.decided) == (1, 50)
        assert new.audit.any()
        late = commit(desk, lambda: desk.decide(old, 0.0)).decided
        assert late.accept.tolist() == old.accept.tolist()
        assert not late.audit.any()
        assert live.decided == 50
        again = commit(desk, lambda: desk.decide(world.scored(range(100, 200)), 0.0)).decided
        assert again.accept.tolist() == old.accept.tolist(), "a row keeps its decision"


def test_a_broken_file_keeps_the_gate(world, commit, caplog):
    caplog.set_level("DEBUG", "vecuq.service.keeping")
    with world.desk() as desk:
        world.model.write_bytes(b"rubbish")
        commit(desk, lambda: desk.look("gate"))
        done = commit(desk, lambda: desk.decide(world.scored(range(50), checksum="other"), 0.0)).decided
        assert not done.audit.any()
        assert commit(desk, lambda: desk.decide(world.scored(range(50, 100)), 0.0)).decided.audit.any()
    assert "cannot be used by the store" in caplog.text
    assert np.array_equal(done.accept, world.scored(range(50)).accept)


def test_a_file_that_could_not_be_read_once_is_read_at_the_next_look(world, other_gate, commit, monkeypatch):
    with world.desk() as desk:
        world.use(other_gate)
        with monkeypatch.context() as during:
            during.setattr("vecuq.service.keeping.desk.read_model", _too_many_files)
            commit(desk, lambda: desk.look("gate"))
        assert desk.is_of_another_file(world.scored([0]))
        commit(desk, lambda: desk.look("gate"))
        assert not desk.is_of_another_file(world.scored([0]))


def _too_many_files(*_):
    raise ModelFileError("too many open files")


def test_a_new_epoch_stays_on_disk_when_the_first_rows_of_the_new_file_are_refused(world, other_gate):
    async def talk(keeper):
        await keeper.decided(world.scored(range(50)))
        world.use(other_gate)
        wrong = world.scored([60, 61], ids=["same", "same"], accept=np.array([True, False]))
        with pytest.raises(Refusal, match="belong to one row"):
            await keeper.decided(wrong)
        await keeper.decided(world.scored(range(100, 200)))
        crashed = await keeper._written(lambda: replayed(keeper.desk.store, "gate"))
        return crashed[0].to_bytes(), crashed[1], keeper.desk.gates.live["gate"].to_bytes()

    on_disk, checksum, live = world.keep(talk)
    assert on_disk == live
    assert checksum == world.checksum
