"""Feedback: audits feed the bound and are final, reviews never do and may change, and the same again is known."""

import numpy as np
import pytest

from vecuq.service import Feedback
from vecuq.service.keeping.findings import checked
from vecuq.service.refusal import Refusal


@pytest.fixture
def desk(world, commit):
    with world.desk() as desk:
        desk.done = commit(desk, lambda: desk.decide(world.scored(range(200)), 5.0)).decided
        desk.drawn = [f"r{k}" for k in np.flatnonzero(desk.done.audit)]
        desk.other = [f"r{k}" for k in np.flatnonzero(~desk.done.audit)]
        desk.give = lambda *found, request="t": commit(desk, lambda: desk.take(checked(found), request, 6.0))
        yield desk


def _n(desk, table):
    counts = {"feedback": "SELECT COUNT(*) FROM feedback", "history": "SELECT COUNT(*) FROM history"}
    return desk.connection.execute(counts[table]).fetchone()[0]


def test_an_audit_label_counts_towards_the_bound(desk):
    live = desk.gates.live["gate"]
    (taken,) = desk.give(Feedback(desk.drawn[0], "audit", correct=True))
    assert (taken.status, taken.scored, taken.counted) == ("stored", True, True)
    assert live.ledger.labels[desk.drawn[0]] == 0
    assert live.n_labels == 1


def test_a_review_never_counts_also_if_the_row_was_drawn(desk):
    before = desk.gates.live["gate"].to_bytes()
    taken = desk.give(Feedback(desk.drawn[0], "review", correct=False), Feedback(desk.other[0], correct=True))
    assert [one.counted for one in taken] == [False, False]
    assert desk.gates.live["gate"].to_bytes() == before


def test_an_audit_of_a_row_that_was_not_drawn_is_refused_and_nothing_is_stored(desk):
    for name in (desk.other[0], "never seen"):
        with pytest.raises(Refusal, match="not drawn for the audit") as refused:
            desk.give(Feedback(desk.drawn[0], "audit", correct=True), Feedback(name, "audit", correct=True))
        assert (refused.value.status, refused.value.error) == (404, "not_audited")
    assert _n(desk, "feedback") == 0
    assert desk.gates.live["gate"].n_labels == 0


def test_an_audit_label_is_final(desk):
    name = desk.drawn[0]
    desk.give(Feedback(name, "audit", correct=True))
    assert desk.give(Feedback(name, "audit", correct=True))[0].status == "stored"  # the same request again
    assert desk.give(Feedback(name, "audit", correct=True), request="u")[0].status == "known"
    for kind in ("audit", "review"):
        with pytest.raises(Refusal, match="says that it is right, which is final") as refused:
            desk.give(Feedback(name, kind, correct=False), request="v")
        assert refused.value.status == 409
    assert desk.gates.live["gate"].ledger.labels[name] == 0
    assert _n(desk, "feedback") == 1


def test_two_labels_in_one_request_that_contradict_each_other_are_refused(desk):
    name = desk.drawn[0]
    with pytest.raises(Refusal, match="final"):
        desk.give(Feedback(name, "audit", correct=True), Feedback(name, "audit", correct=False))
    assert _n(desk, "feedback") == 0
    assert desk.gates.live["gate"].n_labels == 0


def test_a_later_review_replaces_an_earlier_one_and_the_history_stays(desk):
    name = desk.other[0]
    said = [desk.give(Feedback(name, correct=one), request=f"t{k}")[0] for k, one in enumerate((True, True, False))]
    assert [one.status for one in said] == ["stored", "known", "replaced"]
    assert desk.store.kept(desk.store.model("gate"), name).correct == 0
    assert _n(desk, "history") == 1


def test_a_repeated_request_does_not_undo_what_came_after_it(desk):
    name = desk.other[0]
    desk.give(Feedback(name, correct=True), request="first")
    desk.give(Feedback(name, correct=False), request="second")
    desk.give(Feedback(name, correct=True), request="first")
    assert desk.store.kept(desk.store.model("gate"), name).correct == 0
    assert _n(desk, "history") == 1


def test_an_audit_takes_the_place_of_a_review_and_counts(desk):
    name = desk.drawn[0]
    desk.give(Feedback(name, correct=False, comment="hm"), request="a")
    taken = desk.give(Feedback(name, "audit", correct=True), request="b")[0]
    assert (taken.status, taken.counted) == ("replaced", True)
    assert desk.gates.live["gate"].ledger.labels[name] == 0


def test_a_review_may_add_a_comment_to_an_audit(desk):
    name, model = desk.drawn[0], desk.store.model("gate")
    desk.give(Feedback(name, "audit", correct=True, ood=False), request="a")
    assert desk.give(Feedback(name, comment="why"), request="b")[0].status == "replaced"
    kept = desk.store.kept(model, name)
    assert (kept.kind, kept.correct, kept.ood, kept.comment) == ("audit", 1, 0, "why")
    assert desk.give(Feedback(name, correct=True), request="c")[0].status == "known"


def test_feedback_on_a_row_that_was_never_scored_is_kept(desk):
    (taken,) = desk.give(Feedback("elsewhere", ood=True))
    assert (taken.status, taken.scored, taken.counted) == ("stored", False, False)


def test_a_label_of_an_earlier_epoch_is_stored_and_does_not_count(desk, world, other_gate, commit):
    world.use(other_gate)
    commit(desk, lambda: desk.look("gate"))
    commit(desk, lambda: desk.decide(world.scored([300]), 7.0))
    (taken,) = desk.give(Feedback(desk.drawn[0], "audit", correct=True))
    assert (taken.status, taken.counted) == ("stored", False)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (Feedback("r1"), "says nothing"),
        (Feedback("r1", comment=""), "says nothing"),
        (Feedback("r1", "audit", ood=True), "needs its label"),
        (Feedback("r1", comment="x" * 2_001), "at most 2,000 characters"),
        (Feedback("r1", comment="\ud800"), "not text"),
        (Feedback("r1", ood=True, who="x" * 101), "at most 100 characters"),
        (Feedback("", ood=True), "An id"),
        (Feedback("x" * 201, ood=True), "An id"),
    ],
)
def test_feedback_that_says_nothing_or_too_much_is_refused(found, message):
    with pytest.raises(Refusal, match=message) as refused:
        checked([found])
    assert refused.value.status == 422


def test_at_most_ten_thousand_come_in_one_request():
    assert len(checked([Feedback(str(k), ood=True) for k in range(10_000)])) == 10_000
    with pytest.raises(Refusal, match="At most 10,000"):
        checked([Feedback(str(k), ood=True) for k in range(10_001)])


def test_feedback_names_a_model_that_is_served(desk):
    with pytest.raises(Refusal, match="no model 'other'"):
        desk.give(Feedback("r1", ood=True, model="other"))
