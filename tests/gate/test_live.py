"""LiveGate: audits of accepted rows, labels that come late, twice, never or for other rows, and a state on disk."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq import Gate, LiveGate, load
from vecuq.conformal import Doubt, doubted, running_error_lower, running_error_upper
from vecuq.errors import CalibrationError, SettingError, TableError
from vecuq.gate import ledger as ledgers
from vecuq.gate import live_sense
from vecuq.gate import memory as memories
from vecuq.gate.ledger import PENDING, RIGHT, WRONG, Ledger
from vecuq.gate.names import drawn, hashes, row_ids


class OneScore:
    """A model of one column, which is the uncertainty."""

    def uncertainty(self, rows):
        return np.asarray(rows, dtype=float).ravel()


def fitted_gate(accuracy=0.9, **how):
    rng = np.random.default_rng(0)
    scores = rng.random(600)
    return Gate(OneScore(), accuracy=accuracy, **how).fit(scores, rng.random(600) > scores**2 / 2)


@pytest.fixture(scope="module")
def gate():
    return fitted_gate()


@pytest.fixture(scope="module")
def saved_gate():
    from vecuq import VecUQ

    rng = np.random.default_rng(0)
    rows = rng.gamma(1.0, size=(900, 2))
    model = VecUQ().fit(rows[:300])
    return Gate(model, accuracy=0.9).fit(rows[300:], rng.random(600) > rows[300:].sum(axis=1) / 40)


def audited(live, n_rows=100, first=0):
    """Let rows be recorded that all are accepted, and return the ids that were drawn."""
    done = live.record(range(first, first + n_rows), np.ones(n_rows, dtype=bool))
    return np.array(done.ids)[done.audit]


def test_rows_are_accepted_as_the_gate_says_and_drawn_at_random_from_these(gate):
    new = np.random.default_rng(1).random(20_000)
    done = LiveGate(gate, audit=0.1).decide(new, range(20_000))
    npt.assert_array_equal(done.accept, gate.accept(new))
    assert not (done.audit & ~done.accept).any()
    assert done.audit.sum() == pytest.approx(0.1 * done.accept.sum(), abs=3 * np.sqrt(0.09 * done.accept.sum()))
    # Drawn rows are no more and no less uncertain than other accepted ones.
    middle = np.median(new[done.accept])
    assert np.mean(new[done.audit] < middle) == pytest.approx(0.5, abs=1.5 / np.sqrt(done.audit.sum()))


def test_a_retry_and_another_cut_draw_the_same_rows_and_another_seed_draws_others(gate):
    new, ids = np.random.default_rng(1).random(500), [f"q{k}" for k in range(500)]
    whole = LiveGate(gate, audit=0.3).decide(new, ids)
    parts = LiveGate(gate, audit=0.3)
    second, first = parts.decide(new[200:], ids[200:]), parts.decide(new[:200], ids[:200])
    npt.assert_array_equal(np.append(first.audit, second.audit), whole.audit)
    other = LiveGate(gate, audit=0.3, random_state=1).decide(new, ids)
    assert (other.audit != whole.audit).any()


def test_an_id_that_comes_again_is_decided_once(gate):
    live = LiveGate(gate, audit=0.5)
    first = live.decide([0.0, 0.0, 1.0, 0.0], ["a", "b", "c", "a"])
    again = live.decide([0.0, 0.0, 1.0], ["a", "b", "c"])
    npt.assert_array_equal(again.audit, first.audit[:3])
    npt.assert_array_equal(again.accept, [True, True, False])
    assert (live.decided, live.accepted) == (3, 2)
    assert live.audited == first.audit[:3].sum()


@pytest.mark.parametrize("ids", [["a", "a"], ["a", "b"]])
def test_an_id_of_two_rows_is_refused_and_nothing_is_counted(gate, ids):
    live = LiveGate(gate, audit=1.0)
    if ids[1] == "b":
        live.decide([0.0], ["b"])
    before = live.to_bytes() if hasattr(gate.model, "to_bytes") else repr(live)
    with pytest.raises(TableError, match="was accepted before, and now the scores say otherwise"):
        live.decide([0.0, 1.0], ids)
    assert (live.to_bytes() if hasattr(gate.model, "to_bytes") else repr(live)) == before


def test_labels_join_by_id_in_any_order_and_repeats_count_once(gate):
    one, other = LiveGate(gate, audit=0.5), LiveGate(gate, audit=0.5)
    ids = audited(one)
    audited(other)
    wrong = np.arange(len(ids)) % 7 == 0
    one.update(ids, ~wrong)
    for start in (30, 0):
        part = slice(start, start + 30)
        other.update(ids[part][::-1], ~wrong[part][::-1])
    assert other.update(ids[:5], ~wrong[:5]).repeated == 5
    assert (one.bound, one.lower, one.state, one.epoch) == (other.bound, other.lower, other.state, other.epoch)
    assert one.n_labels == len(ids)


def test_a_label_that_contradicts_an_earlier_one_is_refused_and_nothing_is_counted(gate):
    live = LiveGate(gate, audit=1.0)
    ids = audited(live, 10)
    live.update(ids[:1], [True])
    with pytest.raises(TableError, match="'0' came with the other label before"):
        live.update(ids[[1, 0]], [True, False])
    with pytest.raises(TableError, match="'3' came with the other label"):
        live.update(["3", "3"], [True, False])
    assert live.n_labels == 1


def test_an_unknown_id_is_refused_or_counted_apart(gate):
    live = LiveGate(gate, audit=1.0)
    audited(live, 3)
    with pytest.raises(TableError, match="'x' and 1 more were never decided"):
        live.update(["0", "x", "y"], [1, 1, 1])
    assert live.n_labels == 0
    done = live.update(["0", "x", "y"], [1, 1, 1], unknown="skip")
    assert (done.counted, done.unknown) == (1, 2)


def test_labels_of_rows_that_were_not_drawn_are_counted_apart_and_say_nothing(gate):
    live = LiveGate(gate, audit=0.5)
    done = live.record(range(200), np.ones(200, dtype=bool))
    others = np.flatnonzero(~done.audit)
    before = live.standing
    found = live.update(others, np.zeros(len(others)))
    assert (found.unaudited, found.counted) == (len(others), 0)
    assert live.update(others[:4], np.zeros(4)).repeated == 4
    assert live.standing == before


def test_a_row_that_waits_holds_up_the_bound_and_an_overdue_one_counts_as_wrong(gate):
    live = LiveGate(gate, audit=1.0, overdue=20)
    ids = audited(live, 30)
    live.update(np.delete(ids, [3, 15]), np.ones(28))
    # Row 3 has 26 rows after it, row 15 only 14.
    assert live.overdue == ("3",)
    assert live.pending == ("15",)
    assert (live.standing.n_counted, live.standing.wrong, live.standing.missing) == (15, 0, 1)
    assert "1 overdue, counted as wrong" in str(live)
    assert "1 wait" in str(live)
    late = live.bound
    live.update(["3"], [True])
    assert live.bound < late
    assert live.overdue == ()
    live.update(["15"], [False])
    assert (live.standing.n_counted, live.standing.wrong) == (30, 1)


def test_missing_labels_are_no_evidence_that_the_promise_is_broken(gate):
    live = LiveGate(gate, audit=1.0, overdue=1)
    audited(live, 500)
    assert live.state == "unproven"
    assert live.bound > 0.9
    assert live.lower == 0.0


def test_a_promise_is_proven_by_enough_good_labels_and_broken_by_bad_ones_for_good(gate):
    live = LiveGate(gate, audit=1.0)
    assert (live.state, live.bound, live.lower) == ("unproven", 1.0, 0.0)
    live.update(audited(live, 100), np.ones(100))
    assert live.state == "proven"
    assert live.bound <= gate.allowed
    live.update(audited(live, 40, first=100), np.zeros(40))
    assert live.state == "broken"
    live.update(audited(live, 2_000, first=140), np.ones(2_000))
    assert live.bound < gate.allowed
    assert live.state == "broken"
    assert "Recalibrate" in str(live)


def test_what_is_simulated_of_labels_one_by_one_is_what_a_live_gate_says(gate):
    live = LiveGate(gate, audit=1.0)
    ids = audited(live, 60)
    wrong = np.random.default_rng(4).random(60) < 0.4
    _, evidence = doubted(Doubt.new(), wrong, gate.allowed)
    for place in range(60):
        live.update(ids[place : place + 1], ~wrong[place : place + 1])
        counts = wrong[: place + 1].sum(), place + 1
        assert live.bound == running_error_upper(*counts, 0.1)
        assert live.lower == running_error_lower(*counts, 0.1)
        assert (live.state == "broken") == (evidence[: place + 1].max() >= np.log(10))
    assert live.state == "broken"


def test_recalibrating_begins_a_new_epoch_and_says_so(gate):
    live = LiveGate(gate, audit=1.0)
    ids = audited(live, 60)
    live.update(ids[:40], np.zeros(40))
    better = fitted_gate(0.8)
    ended = live.recalibrate(better)
    assert (ended.state, ended.audited, ended.wrong) == ("broken", 60, 40)
    assert (live.state, live.allowed, live.audited, live.bound) == ("unproven", better.allowed, 0, 1.0)
    assert str(live).startswith("Epoch 2; the one before ended broken after 60 audited rows, 40 of them wrong.")
    # A label of the epoch before speaks of the gate before; its row keeps the decision made then.
    assert live.update(ids[50:], np.ones(10)).closed == 10
    assert live.audited == 0
    assert live.decide([1.0], [ids[0]]).accept.all()
    assert not live.decide([np.nan], [ids[0]]).accept.any()
    assert live.decided == 0


def test_memory_is_bounded_and_what_is_forgotten_keeps_its_say(gate, monkeypatch):
    whole = LiveGate(gate, audit=1.0, overdue=50)
    ids = audited(whole, 500)
    wrong = np.arange(500) % 20 == 0
    known = np.arange(500) % 50 != 1
    monkeypatch.setattr(ledgers, "MOST_AUDITS", 60)
    monkeypatch.setattr(memories, "MOST_ROWS", 100)
    small = LiveGate(gate, audit=1.0, overdue=50)
    for start in range(0, 500, 20):
        audited(small, 20, first=start)
        part = slice(start, start + 20)
        for live in (whole, small):
            live.update(ids[part][known[part]], ~wrong[part][known[part]])
    assert len(small.ledger.labels) == 60
    assert len(small.memory.codes) == 100
    assert small.standing == whole.standing
    assert small.ledger.closed.lost == 9
    assert small.update(["401"], [True]).closed == 1
    with pytest.raises(TableError, match="too long ago to be remembered"):
        small.update(["1"], [True])


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"audit": 0.0}, "audit must lie"),
        ({"confidence": 1.0}, "confidence must lie"),
        ({"overdue": 0}, "overdue must be at least 1"),
        ({"overdue": 10**6}, "overdue must be at most 20,000"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_a_bad_setting_is_refused(gate, how, reason):
    with pytest.raises(SettingError, match=reason):
        LiveGate(gate, **how)


def test_gates_with_other_promises_are_refused(gate):
    for other in (
        fitted_gate(promise="average"),
        Gate(OneScore(), budget=0.2).fit(np.arange(90.0), np.arange(90) % 80 < 70),
    ):
        with pytest.raises(SettingError, match="watches the error rate of accepted rows"):
            LiveGate(other)
        with pytest.raises(SettingError, match="watches the error rate of accepted rows"):
            LiveGate(gate).recalibrate(other)
    with pytest.raises(TableError, match="needs a fitted Gate; got OneScore"):
        LiveGate(OneScore())
    with pytest.raises(CalibrationError, match="no labels yet"):
        LiveGate(Gate(OneScore()))


@pytest.mark.parametrize("ids", [[None], [float("nan")], [""], [True], [1.5], ["x" * 201], ["two\nlines"]])
def test_a_row_without_a_proper_id_is_refused(gate, ids):
    with pytest.raises(TableError, match="An id"):
        LiveGate(gate).decide([0.0], ids)


def test_ids_are_the_same_in_every_type(gate):
    assert row_ids(np.array([7, 8])) == row_ids(np.array([7.0, 8.0])) == row_ids(["7", "8"]) == ["7", "8"]
    with pytest.raises(TableError, match="2 rows, and 1 ids"):
        LiveGate(gate).decide([0.0, 0.0], ["a"])


@pytest.mark.parametrize("seed", [0, 2**70])
def test_draws_are_uniform_whatever_the_ids(seed):
    for ids in (map(str, range(40_000)), (f"2026-01-01/{k:08d}" for k in range(40_000))):
        found = hashes(ids, seed)
        assert drawn(found, 0.2).mean() == pytest.approx(0.2, abs=3 * np.sqrt(0.16 / 40_000))
        assert (drawn(found, 0.1) <= drawn(found, 0.2)).all()
    assert drawn(found, 1.0).all()


def test_no_label_and_no_row_change_nothing(gate):
    live = LiveGate(gate)
    assert live.update([], []).counted == 0
    assert live.decide(np.empty(0), []).ids == ()
    assert live.decided == 0
    with pytest.raises(CalibrationError, match="labels are missing"):
        live.update(["a"], [np.nan])


LABELS = st.lists(st.sampled_from([PENDING, RIGHT, WRONG]), max_size=40)


@given(LABELS, st.integers(1, 10), st.integers(0, 39))
def test_a_label_that_comes_never_weakens_what_is_known_against_the_others(labels, overdue, place):
    ledger = Ledger(0.1, overdue)
    ledger.add([str(k) for k in range(len(labels))])
    ledger.labels.update({str(k): label for k, label in enumerate(labels)})
    before = ledger.standing(0.1)
    if place < len(labels) and labels[place] == PENDING:
        ledger.labels[str(place)] = WRONG
        assert ledger.standing(0.1).log_evidence >= before.log_evidence - 1e-12
        ledger.labels[str(place)] = RIGHT
        assert ledger.standing(0.1).log_evidence == before.log_evidence
        assert ledger.standing(0.1).n_counted >= before.n_counted


def simulated(rate, delay, seed, n_rows=300):
    """Run rows through a gate, labels delayed by what they say; return states, and bounds beside the truth."""
    rng = np.random.default_rng(seed)
    ledger = Ledger(0.1, 50)
    wrong = rng.random(n_rows) < rate
    arrives = np.arange(n_rows) + delay(rng, wrong)
    below = broken = False
    for now in range(n_rows):
        ledger.add([str(now)])
        for row in np.flatnonzero(arrives == now):
            ledger.labels[str(row)] = WRONG if wrong[row] else RIGHT
        if now % 20 == 19:
            found = ledger.standing(0.1)
            below |= bool(found.n_counted) and found.bound < rate
            broken |= found.log_evidence >= np.log(10)
    return below, broken


DELAYS = {
    "at once": lambda rng, wrong: np.zeros(len(wrong), dtype=int),
    "errors late": lambda rng, wrong: np.where(wrong, 40, 1),
    "errors first": lambda rng, wrong: np.where(wrong, 0, 60),
    "errors often never": lambda rng, wrong: np.where(wrong & (rng.random(len(wrong)) < 0.5), 10**6, 3),
    "right ones often never": lambda rng, wrong: np.where(~wrong & (rng.random(len(wrong)) < 0.5), 10**6, 3),
}


@pytest.mark.parametrize("name", DELAYS)
def test_statements_hold_even_if_labels_are_late_because_of_what_they_say(name):
    found = np.array([simulated(0.1, DELAYS[name], seed) for seed in range(40)])
    # 10 % of 40 runs and three standard errors.
    assert (found.sum(axis=0) <= 4 + 3 * np.sqrt(3.6)).all()


def test_a_live_gate_goes_on_from_its_file_as_if_it_had_never_stopped(saved_gate, tmp_path):
    rng = np.random.default_rng(5)
    new, ids = rng.gamma(1.0, size=(300, 2)), [f"ä{k}" for k in range(300)]
    through, stopped = (LiveGate(saved_gate, audit=0.4, random_state=3) for _ in range(2))
    for live in (through, stopped):
        done = live.decide(new[:150], ids[:150])
    drawn_ids = [one for one, yes in zip(done.ids, done.audit, strict=True) if yes]
    for live in (through, stopped):
        live.update(drawn_ids[::2], np.arange(len(drawn_ids[::2])) % 5 > 0)
    stopped.save(tmp_path / "live.vecuq")
    restored = load(tmp_path / "live.vecuq")
    for live in (through, restored):
        live.decide(new[150:], ids[150:])
        live.update(drawn_ids[1::2], np.ones(len(drawn_ids[1::2])))
    assert restored.to_bytes() == through.to_bytes()
    assert restored.describe() == through.describe()
    restored.save(tmp_path / "live.vecuq")


def test_a_live_gate_with_closed_rows_and_epochs_loads(saved_gate, monkeypatch):
    monkeypatch.setattr(ledgers, "MOST_AUDITS", 40)
    monkeypatch.setattr(live_sense, "MOST_AUDITS", 40)
    monkeypatch.setattr("vecuq.gate.live.MOST_AUDITS", 40)
    live = LiveGate(saved_gate, audit=1.0, overdue=30)
    for epoch in range(2):
        done = live.record(range(100 * epoch, 100 * epoch + 100), np.ones(100, dtype=bool))
        live.update([one for one in done.ids if one in live.ledger.labels], np.arange(40) % 9 > 0)
        live.record(range(1_000 + 30 * epoch, 1_030 + 30 * epoch), np.ones(30, dtype=bool))
        assert live.ledger.closed.wrong > 0
        assert load(live.to_bytes()).to_bytes() == live.to_bytes()
        if not epoch:
            live.recalibrate(saved_gate)
    assert load(live.to_bytes()).standing == live.standing


def test_what_somebody_else_saved_in_between_is_not_lost(saved_gate, tmp_path):
    LiveGate(saved_gate).save(tmp_path / "s.vecuq")
    mine, theirs = load(tmp_path / "s.vecuq"), load(tmp_path / "s.vecuq")
    theirs.decide(np.zeros((5, 2)), range(5))
    theirs.save(tmp_path / "s.vecuq")
    with pytest.raises(ValueError, match="somebody else wrote it"):
        mine.save(tmp_path / "s.vecuq")
    mine.save(tmp_path / "s.vecuq", force=True)
    assert load(tmp_path / "s.vecuq").decided == 0


def test_a_gate_without_labels_says_so_in_plain_words(gate):
    live = LiveGate(gate)
    assert str(live) == (
        "0 rows decided, 0 accepted, 0 of these drawn for the audit. 0 have a label, 0 of them wrong. Nothing is known "
        "of the error rate yet. Unproven: the promise is an error rate of at most 0.1, and more labels must show it."
    )
    assert repr(live).startswith("LiveGate(unproven, 0 of 0 accepted rows audited")
    assert "unproven" in live._repr_html_()
