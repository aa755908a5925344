"""A gate from counts: the one that all rows in memory give, whatever the parts; and what counts cannot give."""

import warnings
from itertools import pairwise

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq import Gate, VecUQ, fit_ranker, learn_weights, load
from vecuq.errors import CalibrationError, CalibrationWarning, MissingValueWarning, SettingError, TableError
from vecuq.gate import PartialGate

RNG = np.random.default_rng(0)
FITTED = RNG.gamma(1.0, size=(1_500, 3))
MODEL = fit_ranker(FITTED)


def labelled(n, seed, divisor=15.0):
    rng = np.random.default_rng(seed)
    rows = rng.gamma(1.0, size=(n, 3))
    right = rng.random(n) > rows.sum(axis=1) / divisor
    rows[::97, 1] = np.nan
    return rows, right, rng.choice(["a", "b", "c"], p=[0.6, 0.38, 0.02], size=n)


ROWS, RIGHT, BY = labelled(4_000, 1)
NEW, _, NEW_BY = labelled(500, 2)
TARGETS = [
    {"accuracy": 0.85},
    {"accuracy": 0.999},
    {"error": 0.1, "guard": 0.05},
    {"accuracy": 0.85, "order": "x1"},
    {"flag_recall": 0.8},
    {"flag_precision": 0.3},
    {"cost_wrong": 10, "cost_review": 1},
    {"budget": 0.3},
]


def parts_of(gate, *, n_parts=5, by=None, **how):
    some = [slice(k, None, n_parts) for k in range(n_parts)]
    return [PartialGate(gate, **how).update(ROWS[k], RIGHT[k], by=None if by is None else by[k]) for k in some]


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # of targets that are not proven
        warnings.simplefilter("ignore", MissingValueWarning)
        yield


@pytest.mark.parametrize("by", [None, BY], ids=["all rows", "by category"])
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_counts_give_the_gate_of_all_rows_in_memory(target, by):
    whole = Gate(MODEL, **target).fit(ROWS, RIGHT, by=by)
    made = sum(load(part.to_bytes()) for part in parts_of(Gate(MODEL, **target), by=by)[::-1]).fit()
    assert made.rules_ == whole.rules_
    assert (made.table_, made.orders_) == (whole.table_, whole.orders_)
    loaded = load(made.to_bytes())
    new_by = None if by is None else NEW_BY
    for gate in (made, loaded):
        npt.assert_array_equal(gate.accept(NEW, by=new_by), whole.accept(NEW, by=new_by))
        npt.assert_array_equal(gate.p_wrong(NEW, interval=True), whole.p_wrong(NEW, interval=True))
    mine, theirs = (gate.certificate().to_dict() for gate in (loaded, whole))
    differ = {"labels", "date", "units"}
    assert {key: mine[key] for key in mine if key not in differ} == {
        key: theirs[key] for key in theirs if key not in differ
    }


@given(cuts=st.lists(st.integers(0, 4_000), max_size=4), data=st.data())
@settings(max_examples=15)
def test_parts_in_any_order_give_the_same_bytes(cuts, data):
    gate = Gate(MODEL, accuracy=0.85)
    ends = [0, *sorted(cuts), 4_000]
    spans = [slice(a, b) for a, b in pairwise(ends)]
    parts = [PartialGate(gate).update(ROWS[k], RIGHT[k], by=BY[k]) for k in data.draw(st.permutations(spans))]
    assert sum(parts).to_bytes() == PartialGate(gate).update(ROWS, RIGHT, by=BY).to_bytes()


def test_simultaneous_certificates_share_delta_as_they_do_for_rows():
    whole = Gate(MODEL, accuracy=0.85).fit(ROWS, RIGHT, by=BY, simultaneous=True)
    made = sum(parts_of(Gate(MODEL, accuracy=0.85), by=BY)).fit(simultaneous=True)
    assert made.rules_ == whole.rules_
    with pytest.raises(SettingError, match="several categories"):
        sum(parts_of(Gate(MODEL))).fit(simultaneous=True)


def test_thresholds_may_come_from_other_rows():
    others = RNG.gamma(1.2, size=(300, 3))
    whole = Gate(MODEL, accuracy=0.85).fit(ROWS, RIGHT, unlabelled=others)
    made = sum(parts_of(Gate(MODEL, accuracy=0.85), unlabelled=others)).fit()
    assert made.rules_ == whole.rules_
    assert made.threshold_ in made.learned_.labelled.ladder.thresholds


class Plain:
    """A model that keeps no scores."""

    def uncertainty(self, rows):
        return np.asarray(rows, dtype=float)[:, 0]


def test_a_model_without_scores_of_its_own_needs_rows_that_set_the_thresholds():
    gate = Gate(Plain(), accuracy=0.85)
    with pytest.raises(CalibrationError, match="unlabelled=rows"):
        PartialGate(gate)
    others = RNG.gamma(1.0, size=(500, 3))
    made = sum(parts_of(gate, unlabelled=others)).fit()
    assert made.rules_ == Gate(Plain(), accuracy=0.85).fit(ROWS, RIGHT, unlabelled=others).rules_


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"quality": 0.8}, "graded quality"),
        ({"budget": 50}, "budget of rows"),
        ({"promise": "average"}, "promise='average'"),
    ],
)
def test_what_needs_the_rows_themselves_is_refused(how, reason):
    with pytest.raises(SettingError, match=f"{reason}.*counts do not suffice"):
        PartialGate(Gate(MODEL, **how))


def test_parts_of_other_gates_do_not_add_up():
    part = PartialGate(Gate(MODEL, accuracy=0.85)).update(ROWS[:100], RIGHT[:100])
    with pytest.raises(SettingError, match="parts of one gate"):
        part + PartialGate(Gate(MODEL, accuracy=0.9))
    with pytest.raises(SettingError, match="parts of one gate"):
        part + PartialGate(Gate(MODEL, accuracy=0.85), unlabelled=ROWS[:200])
    with pytest.raises(SettingError, match="by="):
        part + PartialGate(Gate(MODEL, accuracy=0.85)).update(ROWS, RIGHT, by=BY)
    with pytest.raises(SettingError, match="by="):
        part.update(ROWS, RIGHT, by=BY)
    with pytest.raises(TableError, match="Give a gate"):
        PartialGate(MODEL)
    with pytest.raises(CalibrationError, match="no labelled rows"):
        PartialGate(Gate(MODEL)).fit()
    with pytest.raises(CalibrationError, match="0 or 1"):
        part.update(ROWS[:2], [0.5, 1])


def test_an_empty_part_changes_nothing():
    part = PartialGate(Gate(MODEL, accuracy=0.85)).update(ROWS[:100], RIGHT[:100], by=BY[:100])
    empty = PartialGate(Gate(MODEL, accuracy=0.85)).update(ROWS[:0], RIGHT[:0])
    for total in (part + empty, empty + part, part + PartialGate(Gate(MODEL, accuracy=0.85))):
        assert total.to_bytes() == part.to_bytes()


def test_rows_that_fitted_the_model_are_left_out_as_they_are_of_rows_in_memory():
    mixed, right = np.vstack([FITTED, ROWS]), np.concatenate([np.ones(1_500), RIGHT])
    with pytest.warns(CalibrationWarning, match="left out"):
        whole = Gate(MODEL, accuracy=0.85).fit(mixed, right, unlabelled=ROWS)
    part = PartialGate(Gate(MODEL, accuracy=0.85), unlabelled=ROWS).update(mixed, right)
    with pytest.warns(CalibrationWarning, match="left out"):
        made = part.fit()
    assert made.rules_ == whole.rules_
    with pytest.raises(CalibrationError, match=r"held back.*unlabelled=rows"):
        PartialGate(Gate(MODEL, accuracy=0.85)).update(mixed, right).fit()


def test_rows_that_learned_the_weights_are_refused():
    complete = ~np.isnan(ROWS).any(axis=1)
    weights = learn_weights(ROWS[complete], ~RIGHT[complete])
    part = PartialGate(Gate(VecUQ(weights=weights).fit(FITTED), accuracy=0.85)).update(ROWS[complete], RIGHT[complete])
    with pytest.raises(CalibrationError, match="learned the model's weights"):
        part.fit()


def test_counts_of_wrong_labels_raise_the_doubts_of_rows():
    part = PartialGate(Gate(MODEL, accuracy=0.85))
    with pytest.warns(CalibrationWarning, match="Are the labels inverted"):
        PartialGate(Gate(MODEL, accuracy=0.85)).update(ROWS, ~RIGHT).fit()
    with pytest.warns(CalibrationWarning, match="All 4,000 labelled rows are right"):
        part.update(ROWS, np.ones(4_000)).fit()


def test_new_rows_unlike_the_counted_ones_are_pointed_at():
    made = sum(parts_of(Gate(MODEL, accuracy=0.85))).fit()
    with pytest.warns(CalibrationWarning, match="differ from those of the labelled rows"):
        made.accept(NEW * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CalibrationWarning)
        new = labelled(2_000, 3)[0]
        assert made.accept(new[made.accept(new)]).all()


def test_a_gate_of_counts_says_what_it_cannot_do():
    made = sum(parts_of(Gate(MODEL, accuracy=0.85))).fit()
    with pytest.raises(SettingError, match="fitted to counts"):
        made.coverage_lines(ROWS)
    assert max(coverage for _, coverage in made.coverage_line()) > 0.5
    with pytest.warns(CalibrationWarning, match="do not prove accuracy 0.9999"):
        sum(parts_of(Gate(MODEL, accuracy=0.9999))).fit()


def test_a_billion_counted_rows_fit_and_are_saved():
    part = sum(parts_of(Gate(MODEL, accuracy=0.85)))
    for _ in range(18):
        part = part + part
    assert part.n_rows == 4_000 * 2**18
    made = load(part.fit().to_bytes())
    assert made.certificate().n_labels == 4_000 * 2**18
    assert made.coverage_ >= Gate(MODEL, accuracy=0.85).fit(ROWS, RIGHT).coverage_


def broken(n_runs, choose, seed, n=300):
    """Return how often the accuracy of accepted rows is below 0.8; the error rate of a score u is u, so of u <= t, t/2.

    Scores are uniform, so the truth needs no other rows.
    """
    rng, failed = np.random.default_rng(seed), []
    for _ in range(n_runs):
        scores = rng.random((n, 1))
        threshold = choose(scores, rng.random(n) > scores[:, 0])
        failed.append(threshold / 2 > 0.2 + 1e-12)
    return float(np.mean(failed))


LEVELS = np.linspace(0.0, 1.0, 401)[:, None]


def certified(scores, right):
    parts = [
        PartialGate(Gate(Plain(), accuracy=0.8), unlabelled=LEVELS).update(scores[k::4], right[k::4]) for k in range(4)
    ]
    return min(max(sum(parts).fit().threshold_, 0.0), 1.0)


def naive(scores, right):
    """The largest coverage whose labels show an error rate of at most 0.2: what the simulation must find out."""
    order = np.argsort(scores[:, 0])
    rates = np.cumsum(~right[order]) / np.arange(1, len(order) + 1)
    good = np.flatnonzero(rates <= 0.2)
    return scores[order[good[-1]], 0] if len(good) else 0.0


@pytest.mark.parametrize(("n_runs", "seed"), [(150, 0), pytest.param(3_000, 1, marks=pytest.mark.slow)])
def test_the_promise_of_counts_is_kept_and_a_naive_threshold_breaks_it(n_runs, seed):
    allowed = 0.1 + 3 * np.sqrt(0.09 / n_runs)
    assert broken(n_runs, certified, seed) <= allowed
    assert broken(n_runs, naive, seed) > allowed
