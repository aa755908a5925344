"""Comparisons by name without a model: exact, numeric, choice."""

import pytest

from vecuq.compare import choice, exact, numeric
from vecuq.measures.quality import exact_match
from vecuq.measures.text import TextSettings, measure_answer


@pytest.mark.parametrize(
    ("one", "other"), [("The Tower.", "tower"), ("3.5", "35"), ("Paris", "Lyon"), ("a b", "a  B!"), ("?", "!")]
)
def test_exact_is_exact_match_of_quality(one, other):
    assert exact(one, other) == exact_match(one, other)


def test_exact_sees_the_sign_of_a_number():
    assert exact("-3", "3") == 0.0
    assert exact("3.", "3") == 1.0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1,000", "1000.0", 1.0),
        ("1/2", "0.5", 1.0),
        ("1/3", "0.3333333333", 1.0),
        ("1/3", "0.33", 0.0),
        ("so 3 + 4 = 7", "7 apples", 1.0),
        ("5 mg", "5 milligrams", 1.0),
        ("100 °C", "100 °F", 0.0),
        ("100 °C", "100 C", 1.0),
        ("5 mg", "5 g", 0.0),
        ("$5", "5 euros", 0.0),
        ("20%", "20", 1.0),
        ("none", "nothing", 0.0),
        ("0", "0.0", 1.0),
    ],
)
def test_numbers_are_equal_by_value_and_unit(one, other, same):
    assert numeric(one, other) == numeric(other, one) == same


def test_choices_are_letters():
    assert choice("B", "the answer is (B)") == 1.0
    assert choice("Paris", "Paris, of course") == 0.0


@pytest.mark.parametrize("name", ["exact", "numeric", "choice"])
def test_every_name_serves_every_measure(name):
    given = {"text": "(A) 1", "samples": ["(A) 1", "(B) 2", "A 1"]}
    values = measure_answer(given, ["consistency", "degree_matrix"], TextSettings(similarity=name)).values
    assert 0.0 < values["consistency"] < 1.0
