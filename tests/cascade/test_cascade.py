"""The cascade: the decisions of all columns, from fewer of them."""

import math

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq import Cascade, ScoreTable, fit_ranker, read_table
from vecuq.data import demo_files
from vecuq.errors import ColumnError, SettingError

COLUMNS = ("entropy", "mutual_information", "mahalanobis", "knn")
COSTS = {"mahalanobis": 1, "entropy": 1, "knn": 2, "mutual_information": 10}
MOST = math.log(10)
BOUNDS = {"entropy": (0, MOST), "mutual_information": lambda known: (0, known.get("entropy", MOST))}


@pytest.fixture(scope="module")
def demo():
    """A ranker of the bundled example, its calibration rows and its new rows."""
    calibration, new = (read_table(path, columns=COLUMNS) for path in demo_files())
    return fit_ranker(calibration), calibration, new


@pytest.fixture(scope="module")
def bounded():
    """A ranker of three columns between 0 and 1."""
    return fit_ranker(np.random.default_rng(0).beta(1, 3, size=(400, 3)))


UNIT = {f"x{k}": (0.0, 1.0) for k in range(3)}


def asking(values):
    """Return a get_component that notes what it was asked for."""
    asked = []

    def get(name):
        asked.append(name)
        return values[name]

    return get, asked


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("order", ["cheap", "best"])
@pytest.mark.parametrize("bounds", [None, BOUNDS, "calibration"], ids=["none", "given", "calibration"])
def test_every_decision_on_the_example_is_the_one_of_all_columns(demo, alpha, order, bounds):
    ranker, calibration, new = demo
    found = Cascade(ranker, COSTS, alpha, bounds=bounds, order=order, rows=calibration).decide_table(new)
    npt.assert_array_equal(found.flagged, ranker.p_values(new) <= alpha * (1 + 1e-12))
    assert found.n_different == 0


def test_a_third_of_the_cost_is_saved_on_the_example_where_bounds_are_known(demo):
    ranker, _, new = demo
    found = Cascade(ranker, COSTS, 0.05, bounds=BOUNDS).decide_table(new)
    assert found.share_saved > 1 / 3
    assert found.share_saved == pytest.approx(1 - found.cost.sum() / (14 * len(new)))


@pytest.mark.slow
@pytest.mark.usefixtures("paper_data")
@pytest.mark.parametrize("dataset", ["cifar10", "fashion_mnist"])
def test_every_decision_on_the_image_studies_is_the_one_of_all_columns(dataset):
    from vecuq.paper.ensembles import group_scores

    names = ("mahalanobis", "bayes_log_1", "total_log_1_1", "excess_log_1_1")
    scores = group_scores(dataset, 0).select(names)
    ranker = fit_ranker(ScoreTable.of(scores.calibration, columns=names))
    bounds = dict.fromkeys(names, (0, None)) | {"excess_log_1_1": lambda known: (0, known.get("total_log_1_1"))}
    cascade = Cascade(ranker, dict(zip(names, (1, 2, 3, 4), strict=True)), 0.05, bounds=bounds)
    for rows in (scores.test, *scores.ood.values()):
        assert cascade.decide_table(ScoreTable.of(rows, columns=names)).n_different == 0


@settings(max_examples=25, deadline=None)
@given(
    row=st.lists(st.floats(0, 1), min_size=3, max_size=3),
    costs=st.lists(st.integers(0, 9), min_size=3, max_size=3),
    alpha=st.sampled_from([0.01, 0.05, 0.5]),
)
def test_one_row_is_decided_as_in_a_table_and_as_by_all_columns(bounded, row, costs, alpha):
    cascade = Cascade(bounded, {f"x{k}": cost for k, cost in enumerate(costs)}, alpha, bounds=UNIT)
    get, asked = asking({f"x{k}": value for k, value in enumerate(row)})
    one, table = cascade.decide(get), cascade.decide_table([row])
    assert one.flagged == table.flagged[0] == (bounded.p_values([row])[0] <= alpha * (1 + 1e-12))
    assert one.computed == tuple(asked)
    assert (one.cost, len(one.computed)) == (table.cost[0], table.n_computed[0])
    assert one.lower - 1e-7 <= bounded.uncertainty([row])[0] <= one.upper + 1e-7


def test_the_cheap_column_alone_can_flag_and_the_dear_one_is_never_asked_for(bounded):
    get, asked = asking({"x0": 1e6, "x1": 0.1, "x2": 0.1})
    decision = Cascade(bounded, {"x0": 1, "x1": 5, "x2": 9}, 0.05).decide(get)
    assert decision.flagged
    assert asked == ["x0"]
    assert decision.cost == 1.0


def test_without_a_greatest_value_no_row_is_cleared_early(bounded):
    get, asked = asking({"x0": 0.0, "x1": 0.0, "x2": 0.0})
    assert not Cascade(bounded, {"x0": 1, "x1": 5, "x2": 9}, 0.05).decide(get).flagged
    assert asked == ["x0", "x1", "x2"]
    get, asked = asking({"x0": 0.0, "x1": 0.0, "x2": 0.0})
    assert not Cascade(bounded, {"x0": 1, "x1": 5, "x2": 9}, 0.05, bounds={"x2": (0, 0.4)}).decide(get).flagged
    assert asked == ["x0", "x1"]


def test_the_best_order_is_the_best_of_all_orders(bounded):
    from itertools import permutations

    rows = np.random.default_rng(1).beta(1, 3, size=(300, 3))
    costs = {"x0": 1.0, "x1": 1.5, "x2": 2.5}
    spent = {
        order: Cascade(bounded, costs, 0.1, bounds=UNIT, order=order).decide_table(rows).cost.sum()
        for order in permutations(costs)
    }
    best = Cascade(bounded, costs, 0.1, bounds=UNIT, order="best", rows=rows).decide_table(rows)
    assert best.cost.sum() == pytest.approx(min(spent.values()))
    assert min(spent.values()) < max(spent.values())


def test_columns_of_one_computation_are_paid_once(bounded):
    cascade = Cascade(bounded, {("x0", "x2"): 4, "x1": 5}, 0.05, bounds=UNIT)
    assert cascade.full_cost == 9
    get, asked = asking({"x0": 0.3, "x1": 0.3, "x2": 0.3})
    decision = cascade.decide(get)
    assert asked[:2] == ["x0", "x2"]
    assert decision.cost in (4.0, 9.0)


def test_a_missing_value_flags_the_row_at_once(bounded):
    cascade = Cascade(bounded, {"x0": 1, "x1": 5, "x2": 9}, 0.05)
    for nothing in (None, math.nan, math.inf):
        get, asked = asking({"x0": 0.1, "x1": nothing, "x2": 0.1})
        decision = cascade.decide(get)
        assert decision.flagged
        assert asked == ["x0", "x1"]
        assert math.isnan(decision.lower)
    found = cascade.decide_table([[0.1, np.nan, 0.1], [0.1, 0.1, 0.1]])
    npt.assert_array_equal(found.flagged, [True, False])
    npt.assert_array_equal(found.cost, [6.0, 15.0])


def test_flipped_columns_come_and_are_bounded_in_their_own_direction():
    rng = np.random.default_rng(2)
    data = {"knn": rng.gamma(2.0, size=300), "confidence": rng.beta(6, 1, size=300)}
    ranker = fit_ranker(ScoreTable.of(data, flip=["confidence"]))
    cascade = Cascade(ranker, {"knn": 1, "confidence": 8}, 0.1, bounds={"confidence": (0.85, 1), "knn": (0, None)})
    new = {"knn": rng.gamma(2.0, size=200), "confidence": rng.uniform(0.85, 1.0, size=200)}
    found = cascade.decide_table(ScoreTable.of(new, flip=["confidence"]))
    assert found.n_different == 0
    assert found.share_saved > 0.05
    one = [cascade.decide({name: column[k] for name, column in new.items()}.get).flagged for k in range(50)]
    npt.assert_array_equal(one, found.flagged[:50])
    usual = Cascade(ranker, {"knn": 1, "confidence": 8}, 0.1, bounds="calibration")
    assert usual.bounds["confidence"][0] >= data["confidence"].min()
    assert usual.bounds["confidence"][1] <= data["confidence"].max()


def test_a_constant_column_is_never_computed_and_saves_nothing():
    rows = np.column_stack([np.random.default_rng(3).gamma(2.0, size=200), np.ones(200)])
    cascade = Cascade(fit_ranker(rows), {"x0": 2, "x1": 98}, 0.05)
    get, asked = asking({"x0": 1.0, "x1": 1.0})
    cascade.decide(get)
    assert asked == ["x0"]
    assert cascade.full_cost == 2
    assert cascade.decide_table(rows).share_saved == 0.0


def test_rows_that_are_cleared_without_their_missing_value_are_counted(bounded):
    rows = np.minimum(np.random.default_rng(6).beta(1, 3, size=(300, 3)), [1.0, 1.0, 0.4])
    rows[:200, 2] = np.nan
    found = Cascade(bounded, {"x0": 1, "x1": 2, "x2": 9}, 0.05, bounds={"x2": (0, 0.4)}).decide_table(rows)
    flagged = bounded.flag(rows, 0.05, warn=False)
    assert flagged[:200].all()
    assert 0 < found.n_cleared_incomplete < 200
    assert found.n_cleared_incomplete == found.n_different == np.count_nonzero(found.flagged != flagged)
    assert not (found.flagged != flagged)[200:].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"costs": {"x0": 1, "x1": 1}}, "Every column of the ranker needs a cost"),
        ({"costs": {**dict.fromkeys(UNIT, 1), "x9": 1}}, "lacks"),
        ({"costs": {**dict.fromkeys(UNIT, 1), "x1": -1}}, "the cost of 'x1' must lie in"),
        ({"alpha": 0.001}, "held-back rows"),
        ({"order": "best"}, "give rows"),
        ({"order": ["x0", "x1"]}, "each key of costs once"),
    ],
)
def test_what_makes_no_cascade_is_refused(bounded, change, message):
    asked = {"costs": dict.fromkeys(UNIT, 1), "alpha": 0.05, **change}
    with pytest.raises((SettingError, ColumnError), match=message):
        Cascade(bounded, asked.pop("costs"), asked.pop("alpha"), **asked)
