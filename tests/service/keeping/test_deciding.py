"""Rows with ids are decided once, drawn for the audit, and logged."""

import numpy as np
import pytest

from vecuq import LiveGate
from vecuq.service import Feedback
from vecuq.service.refusal import Refusal


def test_rows_are_decided_and_drawn_as_a_live_gate_in_memory_does(world):
    live = LiveGate(world.gate, audit=0.5)
    rows = world.scored(range(300))
    expected = live.record(list(rows.ids), rows.accept)

    async def talk(keeper):
        return await keeper.decided(rows), await keeper.query("live")

    done, standing = world.keep(talk)
    assert done.accept.tolist() == expected.accept.tolist()
    assert done.audit.tolist() == expected.audit.tolist()
    assert done.audit.any()
    assert not done.audit[~done.accept].any()
    assert standing["gate"]["decided"] == 300
    assert standing["totals"] == {"rows": 300, "accepted": int(rows.accept.sum()), "flagged": None, "missing": 0}


def test_a_row_that_comes_again_keeps_its_decision_and_is_counted_once(world):
    async def talk(keeper):
        first = await keeper.decided(world.scored(range(50)))
        again = await keeper.decided(world.scored([*range(30), *range(30)]))
        return first, again, await keeper.query("live")

    first, again, standing = world.keep(talk)
    assert again.audit.tolist() == [*first.audit[:30].tolist()] * 2
    assert standing["gate"]["decided"] == 50


def test_an_id_of_another_row_is_a_contradiction_that_names_it(world, commit):
    yes, no = np.flatnonzero(world.scored(range(500)).accept)[0], np.flatnonzero(~world.scored(range(500)).accept)[0]
    with world.desk() as desk:
        commit(desk, lambda: desk.decide(world.scored([yes], ids=["one"]), 0.0))
        before = desk.gates.live["gate"].to_bytes()
        for rows in (world.scored([no], ids=["one"]), world.scored([yes, no], ids=["two", "two"])):
            with pytest.raises(Refusal, match="was accepted before") as refused:
                commit(desk, lambda rows=rows: desk.decide(rows, 0.0))
            assert (refused.value.status, refused.value.error) == (409, "contradiction")
            assert repr(rows.ids[0]) in refused.value.message
        assert desk.gates.live["gate"].to_bytes() == before


def test_a_contradiction_is_found_where_the_live_gate_alone_remembers_the_row(world, commit):
    yes, no = np.flatnonzero(world.scored(range(500)).accept)[0], np.flatnonzero(~world.scored(range(500)).accept)[0]
    with world.desk(log=0.0) as desk:
        commit(desk, lambda: desk.decide(world.scored([no], ids=["one"]), 0.0))
        assert desk.store.n_rows == 0
        with pytest.raises(Refusal, match="was not accepted before") as refused:
            commit(desk, lambda: desk.decide(world.scored([yes], ids=["one"]), 0.0))
        assert "Nothing of this call" not in refused.value.message


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb"])
def test_an_id_that_no_row_can_have_is_refused(world, commit, name):
    with world.desk() as desk, pytest.raises(Refusal, match="An id") as refused:
        commit(desk, lambda: desk.decide(world.scored([0], ids=[name]), 0.0))
    assert refused.value.status == 422


def test_a_share_of_rows_is_logged_and_all_that_are_audited_or_have_feedback(world, commit):
    with world.desk(log=0.2) as desk:
        commit(desk, lambda: desk.take([Feedback(f"r{k}", ood=True) for k in range(1_000, 1_050)], "t", 0.0))
        done = commit(desk, lambda: desk.decide(world.scored(range(1_050)), 0.0)).decided
        logged = desk.store.logged(desk.store.model("gate"), [f"r{k}" for k in range(1_050)])
        assert {f"r{k}" for k in np.flatnonzero(done.audit)} <= logged.keys()
        assert {f"r{k}" for k in range(1_000, 1_050)} <= logged.keys()
        others = [k for k in range(1_000) if not done.audit[k]]
        assert 0.1 < sum(f"r{k}" in logged for k in others) / len(others) < 0.3


def test_rows_without_an_id_are_neither_logged_nor_drawn(world):
    rows = world.scored(range(40), ids=[None if k % 2 else f"r{k}" for k in range(40)])

    async def talk(keeper):
        done = await keeper.decided(rows)
        return done, keeper.desk.store.n_rows

    done, n_rows = world.keep(talk)
    assert n_rows == 20
    assert done.accept.tolist() == rows.accept.tolist()
    assert not done.audit[1::2].any()


def test_what_is_read_back_has_the_same_bits(world):
    values = np.array([[0.1, np.nan], [np.inf, 1e-308], [1 / 3, 2 / 3]])
    rows = world.scored(range(3), values=values, by=["x", None, "y"], texts=['{"question":"?"}', None, None])

    async def talk(keeper):
        await keeper.decided(rows)
        return [await keeper.query("row", id=f"r{k}") for k in range(3)]

    found = world.keep(talk)
    for k, row in enumerate(found):
        back = [np.nan if one is None else one for one in row["values"].values()]
        assert np.array(back).tobytes() == values[k].tobytes()
        assert row["accept"] is bool(rows.accept[k])
        assert row["uncertainty"] == (None if np.isnan(rows.uncertainty[k]) else rows.uncertainty[k])
    assert [row["by"] for row in found] == ["x", None, "y"]
    assert found[0]["texts"] == {"question": "?"}


def test_a_plain_model_has_no_audit(world, gate):
    path = world.folder / "plain.vecuq"
    gate.model.save(path)
    from vecuq._files import saved_header

    rows = world.scored(range(5), model="plain", checksum=saved_header(path)["checksum"], accept=None, p_wrong=None)

    async def talk(keeper):
        return await keeper.decided(rows), await keeper.query("live", model="plain")

    done, standing = world.keep(talk, models={"plain": path})
    assert done.accept is None
    assert done.audit is None
    assert standing["gate"] is None
    assert standing["drift"] is not None


def test_many_rows_are_decided_in_pieces(world, monkeypatch):
    monkeypatch.setattr("vecuq.service.keeping.rows.PIECE", 64)
    rows = world.scored(range(1_000))

    async def talk(keeper):
        return await keeper.decided(rows)

    done = world.keep(talk)
    assert done.accept.tolist() == rows.accept.tolist()
    assert len(done.audit) == 1_000


def test_a_model_that_is_not_served_is_refused(world):
    with pytest.raises(Refusal, match="no model 'other'") as refused:
        world.keep(lambda keeper: keeper.decided(world.scored([0], model="other")))
    assert refused.value.status == 404
