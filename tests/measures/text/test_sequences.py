"""Sequence entropy and SAR."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.errors import SettingError, TableError
from vecuq.measures.text import perplexity, sar, sentence_sar, sequence_entropy, sequence_entropy_normalised


@st.composite
def samples(draw):
    count = draw(st.integers(1, 6))
    logprobs = draw(st.lists(st.floats(-15, 0), min_size=count, max_size=count))
    row = st.lists(st.floats(0, 1), min_size=count, max_size=count)
    return np.array(logprobs), np.array(draw(st.lists(row, min_size=count, max_size=count)))


def brute_sentence_sar(logprobs, similarity, t):
    p = np.exp(logprobs)
    others = [sum(similarity[i, j] * p[j] / t for j in range(len(p)) if j != i) for i in range(len(p))]
    return float(np.mean([-math.log(p[i] + others[i]) for i in range(len(p))]))


@settings(max_examples=50, deadline=None)
@given(samples(), st.floats(1e-3, 2))
def test_sentence_sar_equals_the_formula_written_out(given_samples, t):
    logprobs, similarity = given_samples
    expected = brute_sentence_sar(logprobs, similarity, t)
    assert sentence_sar(logprobs, similarity, temperature=t) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(samples())
def test_the_order_of_samples_makes_no_difference(given_samples):
    logprobs, similarity = given_samples
    back = np.arange(len(logprobs))[::-1]
    assert sentence_sar(logprobs[back], similarity[np.ix_(back, back)]) == pytest.approx(
        sentence_sar(logprobs, similarity), abs=1e-9
    )
    assert sequence_entropy(logprobs[back]) == pytest.approx(sequence_entropy(logprobs))


@settings(max_examples=50, deadline=None)
@given(samples(), st.floats(100, 5000))
def test_a_factor_on_all_probabilities_is_a_shift_however_small_they_get(given_samples, drop):
    logprobs, similarity = given_samples
    found = sentence_sar(logprobs - drop, similarity)
    assert found == pytest.approx(sentence_sar(logprobs, similarity) + drop, rel=1e-9)


@settings(max_examples=50, deadline=None)
@given(samples())
def test_similar_samples_only_ever_make_the_answer_more_certain(given_samples):
    logprobs, similarity = given_samples
    alone = sentence_sar(logprobs, np.eye(len(logprobs)))
    assert alone == pytest.approx(sequence_entropy(logprobs), abs=1e-9)
    assert sentence_sar(logprobs, similarity) <= alone + 1e-9


def test_identical_samples_have_a_closed_form():
    expected = 2.0 - math.log(1 + 4 / 0.001)
    assert sentence_sar([-2.0] * 5, np.ones((5, 5))) == pytest.approx(expected, abs=1e-12)


def test_sar_is_sentence_sar_on_the_tokens_that_matter():
    tokens, relevance = [[-1.0, -3.0], [-2.0]], [[1.0, 0.0], [0.5]]
    similarity = np.full((2, 2), 0.5)
    assert sar(tokens, relevance, similarity) == pytest.approx(sentence_sar([-1.0, -2.0], similarity))


def test_one_impossible_sample_does_not_spoil_the_others_but_the_entropy():
    assert math.isfinite(sentence_sar([-math.inf, -1.0], np.full((2, 2), 0.5)))
    assert sentence_sar([-math.inf, -math.inf], np.full((2, 2), 0.5)) == math.inf
    assert sequence_entropy([-math.inf, -1.0]) == math.inf


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.floats(-9, 0), min_size=1, max_size=5), min_size=1, max_size=5))
def test_the_normalised_entropy_is_the_mean_perplexity_of_the_samples(tokens):
    whole, lengths = [sum(each) for each in tokens], [len(each) for each in tokens]
    expected = np.mean([perplexity(each) for each in tokens])
    assert sequence_entropy_normalised(whole, lengths) == pytest.approx(expected)


def test_an_empty_sample_counts_as_the_one_token_that_ended_it():
    assert sequence_entropy_normalised([-0.5, -2.0], [0, 2]) == 0.75


def test_without_samples_they_are_missing():
    assert math.isnan(sequence_entropy([]))
    assert math.isnan(sequence_entropy_normalised([], []))
    assert math.isnan(sentence_sar([], []))
    assert math.isnan(sar([], [], []))
    assert math.isnan(sar([[]], [[]], [[1.0]]))


def test_shapes_and_temperatures_that_make_no_sense_are_refused():
    with pytest.raises(TableError, match=r"\(2, 2\)"):
        sentence_sar([-1.0, -1.0], np.ones((3, 3)))
    with pytest.raises(SettingError, match="temperature"):
        sentence_sar([-1.0], [[1.0]], temperature=0.0)
    with pytest.raises(TableError, match="1 and 2"):
        sequence_entropy_normalised([-1.0], [1, 2])
