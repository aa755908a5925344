"""How sure the model says it is."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.answers import CONFIDENCE_WORDS
from vecuq.errors import TableError
from vecuq.measures.text import linguistic_confidence, p_true, verbalised_confidence

EXPRESSIONS = st.sampled_from(sorted(CONFIDENCE_WORDS))


@given(st.floats(0, 1))
def test_a_stated_probability_is_turned_around_and_nothing_stated_is_missing(stated):
    for measure in (p_true, verbalised_confidence):
        assert measure(stated) == 1 - stated
        assert math.isnan(measure(None))


@pytest.mark.parametrize("measure", [p_true, verbalised_confidence])
def test_per_cent_in_place_of_a_share_is_refused(measure):
    with pytest.raises(TableError, match=r"must lie in \[0, 1\]"):
        measure(90)


@given(EXPRESSIONS, st.sampled_from([str.lower, str.upper, str.title]))
def test_every_expression_stands_for_its_number_whatever_its_case(words, spelt):
    for said in (spelt(words), f" {spelt(words)}.\n", f"Confidence: {spelt(words)}"):
        assert linguistic_confidence(said) == pytest.approx(1 - CONFIDENCE_WORDS[words])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("It is highly likely that my answer is correct.", 0.1),
        ("There's a very good chance.", 0.2),
        ("I believe it is right", 0.25),
        ("Almost Certain (95%)", math.nan),
        ("not likely", math.nan),
        ("likely wrong", math.nan),
        ("It isn't probable", math.nan),
        ("no doubt", math.nan),
        ("likely or unlikely", math.nan),
        ("rather likely", math.nan),
        ("90%", math.nan),
        ("", math.nan),
        (None, math.nan),
    ],
)
def test_sentences_around_an_expression_are_understood_and_nothing_is_guessed(said, expected):
    assert linguistic_confidence(said) == pytest.approx(expected, nan_ok=True)


@given(EXPRESSIONS, st.text(max_size=12))
def test_whatever_stands_beside_an_expression_the_number_is_that_of_one_or_missing(words, more):
    found = linguistic_confidence(f"{words} {more}")
    assert math.isnan(found) or any(found == pytest.approx(1 - p) for p in CONFIDENCE_WORDS.values())


def test_opposite_expressions_are_on_opposite_sides():
    for sure, unsure in (("highly likely", "highly unlikely"), ("probably", "probably not"), ("likely", "unlikely")):
        assert linguistic_confidence(sure) < 0.5 < linguistic_confidence(unsure)
