"""One place decides: the same rows get the same answer however they come, and a refused row is never accepted."""

from functools import cache

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq import Gate, fit_ranker
from vecuq.decide import Decided, Deciding, Made, Making, Seen
from vecuq.errors import CalibrationError, ColumnError, SettingError
from vecuq.options import ScoreOptions
from vecuq.ranker import Settings

NAMES = ("a", "b", "c")


def rows(seed, n=400):
    return np.random.default_rng(seed).gamma(2.0, size=(n, 3))


@cache
def ranker(holdback=0.5):
    return fit_ranker(rows(0, 600), Settings(holdback=holdback))


@cache
def gate(by=False, **target):
    values = rows(1, 900)
    right = np.random.default_rng(2).random(900) > (values.sum(axis=1) / 20) ** 2
    categories = np.where(np.arange(900) % 3, "x", "y") if by else None
    target = target if "budget" in target else {"accuracy": 0.8, **target}
    return Gate(ranker(), **target).fit(values, right, by=categories)


GATES = {
    "confidence": {},
    "guard": {"guard": 0.05},
    "average": {"promise": "average"},
    "budget": {"budget": 60},
    "column": {"order": "x1"},
}


def settled(deciding, values, sizes, **more):
    """Decide rows that come in pieces: look at each, settle, decide each."""
    ends = np.cumsum([0, *sizes])
    parts = [slice(first, last) for first, last in zip(ends, [*ends[1:], len(values)], strict=True)]
    some = {name: column.some if isinstance(column, Making) else column.__getitem__ for name, column in more.items()}
    about = [{name: of(part) for name, of in some.items()} for part in parts]
    seen = sum((deciding.look(values[part], **one) for part, one in zip(parts, about, strict=True)), start=Seen())
    done = deciding.settle(seen)
    return [done.of(values[part], **one) for part, one in zip(parts, about, strict=True)]


def same(whole: Decided, parts):
    for name in ("uncertainty", "p_value", "flagged", "selected", "accept", "p_wrong", "contributions"):
        column = getattr(whole, name)
        if column is not None:
            npt.assert_array_equal(np.concatenate([getattr(one, name) for one in parts]), column, name)
    assert [reason for one in parts for reason in one.refused or []] == (whole.refused or [])


@pytest.mark.filterwarnings("ignore::vecuq.errors.VecuqWarning")
@pytest.mark.parametrize("target", GATES.values(), ids=GATES)
@settings(max_examples=10, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 120), max_size=3),
    seed=st.integers(0, 20),
    share=st.floats(0, 0.3),
    method=st.sampled_from(["bh", "by"]),
)
def test_pieces_of_any_size_are_decided_as_one(target, sizes, seed, share, method):
    values = rows(seed)
    values[:80] *= 6.0  # far out, so that some are selected
    values[np.random.default_rng(seed).random(len(values)) < share, 0] = np.nan
    asked = ScoreOptions(alpha=0.2, select=method, explain=True)
    deciding = Deciding(ranker(), asked, gate(**target))
    whole = deciding.settle(deciding.look(values)).of(values)
    same(whole, settled(deciding, values, sizes))
    npt.assert_array_equal(whole.flagged, ranker().flag(values, 0.2))
    npt.assert_array_equal(whole.selected, ranker().select(values, 0.2, method=method))
    npt.assert_array_equal(whole.accept, gate(**target).accept(values))
    npt.assert_array_equal(whole.p_wrong, gate(**target).p_wrong(values))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_refused_row_is_never_accepted_and_has_one_reason(data):
    target = data.draw(st.sampled_from(list(GATES)))
    by = data.draw(st.booleans()) and target != "budget"
    values, rng = rows(data.draw(st.integers(0, 20)), 200), np.random.default_rng(data.draw(st.integers(0, 20)))
    values[rng.random(200) < 0.2, 1] = data.draw(st.sampled_from([np.nan, np.inf]))
    categories = rng.choice(["x", "y", "other"], size=200) if by else None
    making = Making(rng.integers(3, 7, size=200), rng.random(200) < 0.5)
    deciding = Deciding(ranker(), ScoreOptions(), gate(by, **GATES[target]), Made(4, 5, "some"))
    found = deciding.of(values, categories, making)
    refused = np.array([reason is not None for reason in found.refused])
    assert not found.accept[refused].any()
    assert not found.accepting(np.ones(200, dtype=bool)).accept[refused].any()
    assert refused[np.isnan(found.uncertainty)].all()
    others = (making.n_samples < 4) | (making.n_samples > 5)
    npt.assert_array_equal(others, ~found.alike)
    assert refused[others].all()
    if by:
        assert refused[categories == "other"].all()
    if target == "guard":
        low = found.p_value < 0.05
        assert refused[low].all()
    known = ~refused
    assert known.any()
    assert found.accept[known].any()


@pytest.mark.parametrize("target", [("average", False), ("average", True), ("budget", False)])
@settings(max_examples=10, deadline=None)
@given(sizes=st.lists(st.integers(0, 120), max_size=3), seed=st.integers(0, 20))
def test_in_a_batch_refused_rows_count_as_rows_without_a_score(target, sizes, seed):
    (name, by), values, rng = target, rows(seed), np.random.default_rng(seed)
    values[: len(values) // 2] /= 4.0  # two kinds of rows, so that every category has a limit of its own
    about = {"making": Making(rng.integers(4, 7, size=400), np.zeros(400, dtype=bool))}
    about |= {"categories": np.repeat(["x", "y"], 200)} if by else {}
    deciding = Deciding(ranker(), gate=gate(by, **GATES[name]), made=Made(4, 5, "none"))
    found = deciding.of(values, **about)
    same(found, settled(deciding, values, sizes, **about))
    alone = np.where(found.alike[:, None], values, np.nan)
    expected = Deciding(ranker(), gate=gate(by, **GATES[name])).of(alone, about.get("categories"))
    npt.assert_array_equal(found.accept, expected.accept)


def test_every_refusal_says_what_is_the_matter():
    values = np.ones((5, 3))
    values[[0, 4], 0], values[1] = np.nan, 90.0
    making = Making(np.array([5, 5, 3, 5, 3]), np.zeros(5, dtype=bool))
    found = Deciding(ranker(), gate=gate(guard=0.05), made=Made(5, 5, "none")).of(values, None, making)
    assert found.refused == [
        "no score",
        "its p-value is below the guard",
        "3 samples; the certificate is about answers with 5",
        None,
        "3 samples; the certificate is about answers with 5",
    ]
    (unknown,) = Deciding(ranker(), gate=gate(True)).of(values[3:4], ["z"]).refused
    assert unknown == "a category that no label had"


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), max_size=8), min_size=3, max_size=5))
def test_what_is_seen_adds_up_in_any_order(parts):
    seen = [Seen.of_p_values(np.array(part, dtype=float)) for part in parts]
    whole = Seen.of_p_values(np.concatenate([np.array(part, dtype=float) for part in parts]))
    for order in (seen, seen[::-1]):
        found = order[0]
        for one in order[1:]:
            found = found + one
        assert found.n_rows == whole.n_rows
        npt.assert_array_equal(found.p_values, whole.p_values)
        npt.assert_array_equal(found.times, whole.times)


def test_it_keeps_nothing_between_calls():
    deciding = Deciding(ranker(), gate=gate(promise="average"))
    first, other = rows(5), rows(6) * 3
    before = deciding.of(first).accept
    deciding.settle(deciding.look(other))
    deciding.of(other)
    npt.assert_array_equal(deciding.of(first).accept, before)


def test_some_rows_of_what_was_decided():
    deciding = Deciding(ranker(), ScoreOptions(alpha=0.1, explain=True), gate(), Made(4, 5, "none"))
    values, making = rows(7, 50), Making(np.arange(50) % 4 + 3, np.zeros(50, dtype=bool))
    found, chosen = deciding.of(values, making=making), np.arange(50) % 3 == 0
    found.alike  # noqa: B018 - what was computed on first use is not carried over
    for which in (slice(5, 9), chosen):
        part, alone = found.some(which), deciding.of(values[which], making=making.some(which))
        same(alone, [part])
        assert part.why == alone.why


@pytest.mark.parametrize("how", [{"confidence": 0.9}, {"missing": "marginal"}])
def test_it_says_what_the_ranker_says(how):
    values, missing = rows(8), how.get("missing", "nan")
    values[::7, 1] = np.nan
    values[::3] *= 3.0
    found = Deciding(ranker(), ScoreOptions(alpha=0.1, explain=True, **how)).of(values)
    npt.assert_array_equal(found.flagged, ranker().flag(values, 0.1, warn=False, **how))
    npt.assert_array_equal(found.contributions, ranker().explain(values, missing=missing))
    assert [said is not None for said in found.why] == found.flagged.tolist()


def test_columns_that_rows_lack():
    names, marginal = ranker().columns, Deciding(ranker(), ScoreOptions(missing="marginal"))
    assert marginal.absent_from(names[1:]) == names[:1]
    for deciding, present in ((marginal, []), (Deciding(ranker()), names[1:])):
        with pytest.raises(ColumnError):
            deciding.absent_from(present)


def test_what_cannot_be_had_is_refused_before_any_row():
    with pytest.raises(CalibrationError):
        Deciding(ranker("cross"), ScoreOptions(missing="marginal"))
    with pytest.raises(SettingError):
        Deciding(ranker(), ScoreOptions(by="topic"))
    with pytest.raises(SettingError):
        Deciding(ranker(), ScoreOptions(alpha=1e-6))
    with pytest.raises(SettingError):
        Deciding(ranker(), gate=gate(True)).refuse_by(["topic"])
    with pytest.raises(ColumnError):
        Deciding(ranker(), ScoreOptions(by="topic"), gate(True)).refuse_by(["other"])
    with pytest.raises(SettingError):
        Deciding(ranker(), ScoreOptions(by="topic"), gate()).refuse_by(["topic"])
    with pytest.raises(SettingError):
        Deciding(ranker(), ScoreOptions(alpha=0.2, select="bh")).of(rows(3))
    for wrong in ({"missing": "drop"}, {"confidence": 0.9}, {"alpha": 2.0}, {"top": 0}, {"select": "bh"}):
        with pytest.raises(SettingError):
            ScoreOptions(**wrong)
