"""What is said of columns before they are computed: checked when it is given, and when values come."""

import numpy as np
import pytest

from vecuq import Cascade, fit_ranker
from vecuq.errors import ColumnError, SettingError

NAMES = ("x0", "x1", "x2")
COSTS = dict.fromkeys(NAMES, 1)


@pytest.fixture(scope="module")
def ranker():
    return fit_ranker(np.random.default_rng(0).beta(1, 3, size=(400, 3)))


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"x0": (1, 0)}, r"must be \(least, greatest\)"),
        ({"x0": 3}, r"\(least, greatest\) or a function"),
        ({"x0": (0, 1, 2)}, r"\(least, greatest\) or a function"),
        ({"x0": "01"}, r"\(least, greatest\) or a function"),
        ({"x0": ("0", "1")}, "A bound of 'x0' must be a number; got '0'"),
        ({"x0": (0, float("nan"))}, "A bound of 'x0' must be finite"),
        ({"x0": (True, None)}, "must be a number"),
        ({"nope": (0, 1)}, "lacks"),
        ("calibrated", "Did you mean 'calibration'"),
    ],
)
def test_what_bounds_nothing_is_refused(ranker, bounds, message):
    with pytest.raises((SettingError, ColumnError), match=message):
        Cascade(ranker, COSTS, 0.05, bounds=bounds)


@pytest.mark.parametrize("answer", [None, 1.0, (0, 1, 2), ("0", "1"), (0, [])], ids=repr)
def test_a_function_that_returns_no_bounds_is_named(ranker, answer):
    cascade = Cascade(ranker, COSTS, 0.05, bounds={"x1": lambda known: answer})
    with pytest.raises(SettingError, match=r"The function that bounds 'x1' must return \(least, greatest\)"):
        cascade.decide(dict.fromkeys(NAMES, 0.1).get)


def test_bounds_may_be_any_pair_of_numbers(ranker):
    row = dict.fromkeys(NAMES, 0.1)
    wanted = Cascade(ranker, COSTS, 0.05, bounds={"x2": (0, 1)}).decide(row.get)
    for pair in ([0, 1], np.array([0.0, 1.0]), (np.float32(0), np.int64(1))):
        assert Cascade(ranker, COSTS, 0.05, bounds={"x2": pair}).decide(row.get) == wanted


def test_a_value_beyond_its_bounds_is_an_error(ranker):
    cascade = Cascade(ranker, COSTS, 0.05, bounds=dict.fromkeys(NAMES, (0.0, 1.0)))
    with pytest.raises(ColumnError, match="'x0' is 2 in a row, beyond the bounds"):
        cascade.decide({"x0": 2.0, "x1": 0.1, "x2": 0.1}.get)
    with pytest.raises(ColumnError, match="beyond the bounds"):
        cascade.decide_table([[0.1, 0.1, 0.1], [-3.0, 0.1, 0.1]])
    with pytest.raises(ColumnError, match="must be a number"):
        cascade.decide({"x0": "much"}.get)


def test_bounds_that_are_taken_for_granted_are_no_error(ranker):
    cascade = Cascade(ranker, COSTS, 0.05, bounds="calibration")
    assert cascade.assumed
    assert cascade.decide({"x0": 2.0, "x1": 0.1, "x2": 0.1}.get).flagged
