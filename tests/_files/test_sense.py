"""What arrays and headers must be is declared as data; what is not so is said in one line."""

import numpy as np
import pytest
from msgspec import Struct

from vecuq._files import (
    NOT_NEGATIVE,
    POSITIVE,
    RISING,
    SORTED,
    WHOLE,
    Count,
    Names,
    Numbers,
    Positive,
    Rate,
    between,
    check_arrays,
    checked_header,
)

TABLE = {
    "low": Numbers("columns"),
    "span": Numbers("columns", POSITIVE),
    "scores": Numbers("rows", SORTED, NOT_NEGATIVE),
    "rows": Numbers("rows columns", between(0, 1)),
    "counts": Numbers("2", WHOLE, dtype="int64"),
    "logs": Numbers("rows", finite=False),
}


def arrays():
    return {
        "low": np.array([-1.0, 2.0]),
        "span": np.array([1.0, 2.0]),
        "scores": np.array([0.0, 1.0, 1.0]),
        "rows": np.full((3, 2), 0.5),
        "counts": np.array([3, 4]),
        "logs": np.array([-np.inf, 0.0, np.inf]),
        "not declared": np.array(["left alone"]),
    }


def test_arrays_as_declared_pass_and_their_sizes_are_known():
    assert check_arrays(arrays(), TABLE, columns=2) == {"columns": 2, "rows": 3}


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("low", np.array([1.0, np.nan]), "each number of 'low' must be finite, and 1 of 2 is not"),
        ("low", np.array([1.0]), "'low' must have the shape (2 columns), and has (1,)"),
        ("low", np.array(1.0), "'low' must have the shape (2 columns), and has ()"),
        ("span", np.zeros(2), "each number of 'span' must be positive, and 2 of 2 are not"),
        ("scores", np.array([2.0, 1.0, 0.5]), "must be at least the one before it, and 2 of 3 are not"),
        ("scores", np.array([-2.0, 1.0, 5.0]), "must be at least 0, and 1 of 3 is not"),
        ("scores", np.zeros(3, dtype=np.float32), "'scores' must hold float64 numbers, and holds float32"),
        ("rows", np.full((2, 2), 0.5), "'rows' must have the shape (3 rows, 2 columns), and has (2, 2)"),
        ("rows", np.full((3, 2), 1.5), "must be from 0 to 1, and 6 of 6 are not"),
        ("counts", np.array([3]), "'counts' must have the shape (2), and has (1,)"),
        ("logs", np.array([np.nan, 0.0, 0.0]), "must be a number, and 1 of 3 is not"),
    ],
)
def test_an_array_that_is_not_as_declared_is_named_with_what_it_must_be(name, changed, said):
    with pytest.raises(ValueError, match="must") as caught:
        check_arrays({**arrays(), name: changed}, TABLE, columns=2)
    assert said in str(caught.value)


def test_an_absent_array_is_named():
    with pytest.raises(ValueError, match="'low' is absent"):
        check_arrays({}, TABLE)


def test_equal_numbers_are_sorted_but_do_not_rise():
    equal = {"x": np.array([1.0, 1.0])}
    check_arrays(equal, {"x": Numbers("n", SORTED)})
    with pytest.raises(ValueError, match="above the one before it"):
        check_arrays(equal, {"x": Numbers("n", RISING)})


class Inner(Struct):
    rows: Count


class Header(Struct):
    columns: Names
    alpha: Rate
    width: Positive
    inner: Inner
    later: str = "not there in old files"


GOOD = {"columns": ["a"], "alpha": 0.1, "width": 2, "inner": {"rows": 3}, "of a newer version": []}


def test_a_header_as_declared_becomes_its_struct():
    known = checked_header(GOOD, Header)
    assert (known.columns, known.width, known.inner.rows, known.later[:3]) == (("a",), 2.0, 3, "not")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"alpha": 1.0}, "'alpha' in its header: expected float < 1.0"),
        ({"alpha": "0.1"}, "'alpha' in its header: expected float, got str"),
        ({"alpha": True}, "'alpha' in its header: expected float, got bool"),
        ({"columns": []}, "'columns' in its header: expected array of length >= 1"),
        ({"columns": [1]}, r"'columns\[0\]' in its header: expected str, got int"),
        ({"inner": {"rows": -1}}, "'inner.rows' in its header: expected int >= 0"),
        ({"inner": {"rows": 10**30}}, "'inner.rows' in its header: expected int <= 9007199254740992"),
        ({"inner": {}}, "'inner' in its header: object missing required field rows"),
    ],
)
def test_a_field_that_is_not_as_declared_is_named_with_what_it_must_be(changed, said):
    with pytest.raises(ValueError, match=said):
        checked_header({**GOOD, **changed}, Header)
