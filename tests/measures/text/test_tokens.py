"""Measures of one answer's own tokens."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.errors import SettingError, TableError
from vecuq.measures.text import (
    max_token_entropy,
    mean_token_entropy,
    min_token_probability,
    msp,
    perplexity,
    self_certainty,
    token_margin,
    token_sar,
    token_sar_of_samples,
    top_k_negentropy,
)
from vecuq.measures.text.tokens import token_sars

LOGPROBS = st.lists(st.floats(-50, 0), min_size=1, max_size=20)


@settings(max_examples=50, deadline=None)
@given(LOGPROBS)
def test_perplexity_is_msp_per_token_and_neither_is_negative(logprobs):
    assert perplexity(logprobs) == pytest.approx(msp(logprobs) / len(logprobs))
    assert math.copysign(1.0, msp(logprobs)) == math.copysign(1.0, perplexity(logprobs)) == 1.0


def test_a_uniform_model_has_the_logarithm_of_its_vocabulary():
    assert msp(np.full(7, -np.log(50))) == pytest.approx(7 * np.log(50))
    assert perplexity(np.full(7, -np.log(50))) == pytest.approx(np.log(50))
    assert mean_token_entropy(np.full(7, np.log(50))) == pytest.approx(np.log(50))


@pytest.mark.parametrize(
    "measure",
    [
        *(msp, perplexity, mean_token_entropy, lambda none: token_sar(none, none)),
        *(min_token_probability, token_margin, max_token_entropy, self_certainty),
        lambda none: top_k_negentropy(none, 5),
    ],
)
def test_no_tokens_are_missing_and_not_confident(measure):
    assert math.isnan(measure([]))


@pytest.mark.parametrize("measure", [msp, perplexity])
def test_an_impossible_token_is_infinitely_uncertain_and_a_gap_is_missing(measure):
    assert measure([-1.0, -math.inf]) == math.inf
    assert math.isnan(measure([-1.0, None]))


@settings(max_examples=50, deadline=None)
@given(LOGPROBS, st.floats(0.01, 1))
def test_equal_relevance_makes_token_sar_the_perplexity(logprobs, weight):
    assert token_sar(logprobs, [weight] * len(logprobs)) == pytest.approx(perplexity(logprobs))
    assert token_sar(logprobs, [0.0] * len(logprobs)) == pytest.approx(perplexity(logprobs))


@settings(max_examples=50, deadline=None)
@given(LOGPROBS, st.data())
def test_token_sar_lies_between_its_tokens_and_knows_no_order_and_no_scale(logprobs, data):
    weights = data.draw(st.lists(st.floats(0.01, 1), min_size=len(logprobs), max_size=len(logprobs)))
    found = token_sar(logprobs, weights)
    assert -max(logprobs) - 1e-9 <= found <= -min(logprobs) + 1e-9
    assert token_sar(logprobs[::-1], weights[::-1]) == pytest.approx(found)
    assert token_sar(logprobs, np.multiply(weights, 0.1)) == pytest.approx(found)


def test_an_impossible_end_without_relevance_does_not_count():
    assert token_sar([-1.0, -math.inf], [0.5, 0.0]) == 1.0
    assert token_sar([-1.0, -math.inf], [0.5, 0.5]) == math.inf


def test_token_sar_of_samples_is_their_mean():
    assert token_sar_of_samples([[-1.0, -2.0], [-4.0]], [[1.0, 0.0], [0.5]]) == 2.5
    assert math.isnan(token_sar_of_samples([], []))


def test_probabilities_in_place_of_logarithms_are_refused():
    with pytest.raises(TableError, match="natural logarithm"):
        msp([0.9, 0.8])
    assert msp([1e-4]) == 0.0  # what half precision makes of a certain token


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(TableError, match="2 and 1"):
        token_sar([-1.0, -1.0], [0.5])


def test_what_are_no_numbers_or_no_entropies_is_refused_with_a_word():
    with pytest.raises(TableError, match="Numbers were expected"):
        msp(["a"])
    with pytest.raises(TableError, match="Numbers were expected"):
        perplexity([[-1.0], [-1.0, -2.0]])
    with pytest.raises(TableError, match="must not be below 0; the smallest is -5"):
        mean_token_entropy([-5, 1])
    assert mean_token_entropy([-1e-3, 1.0]) == 0.5


@settings(max_examples=50, deadline=None)
@given(LOGPROBS, st.floats(-50, 0))
def test_the_least_likely_token_decides_and_a_less_likely_one_raises_it(logprobs, further):
    found = min_token_probability(logprobs)
    assert found == pytest.approx(1 - min(math.exp(one) for one in logprobs))
    assert 0 <= found <= min_token_probability([*logprobs, further]) <= 1
    assert found <= 1 - math.exp(-msp(logprobs)) + 1e-12  # the whole answer is no more likely than any of its tokens


def test_a_certain_and_an_impossible_token_are_the_ends_of_the_scale():
    assert (min_token_probability([0.0, 0.0]), min_token_probability([0.0, -math.inf])) == (0.0, 1.0)
    assert (token_margin([1.0, 1.0]), token_margin([0.0])) == (0.0, 1.0)
    assert (top_k_negentropy([0.0], 7), top_k_negentropy([0.0, np.log(7)], 7)) == (0.0, 1.0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 5), min_size=1, max_size=9))
def test_the_largest_entropy_is_at_least_the_mean_and_that_of_one_token_is_both(entropies):
    assert max_token_entropy(entropies) == max(entropies)
    assert mean_token_entropy(entropies) <= max_token_entropy(entropies) + 1e-12
    assert max_token_entropy(entropies[:1]) == mean_token_entropy(entropies[:1])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.floats(-9, 9), min_size=4, max_size=4), min_size=1, max_size=6))
def test_top_tokens_give_the_numbers_of_uqlm_and_lm_polygraph_written_out(logits):
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    entropies = -(p * np.log(p)).sum(axis=1)
    negentropies = 1 - entropies / np.log(4)
    assert top_k_negentropy(entropies, 4) == pytest.approx(1 - negentropies.min(), abs=1e-9)
    ordered = np.sort(p, axis=1)
    assert token_margin(ordered[:, -1] - ordered[:, -2]) == pytest.approx(
        1 - np.mean([one[-1] - one[-2] for one in ordered])
    )
    divergences = [sum(0.25 * math.log(0.25 / one) for one in row) for row in p]
    assert self_certainty(divergences) == pytest.approx(np.mean(np.log(p).mean(axis=1) + np.log(4)), abs=1e-9)
    assert self_certainty(divergences) <= 0


def test_a_uniform_step_has_no_certainty_and_a_sure_one_much():
    assert math.copysign(1.0, self_certainty([0.0])) == 1.0
    assert self_certainty([0.0, 8.0]) == -4.0


def test_two_tokens_that_are_not_renormalised_stay_within_the_scale():
    assert top_k_negentropy([2 / math.e], 2) == 1.0


def test_margins_certainties_and_k_that_cannot_be_are_refused():
    with pytest.raises(TableError, match=r"must lie in \[0, 1\]"):
        token_margin([1.5])
    with pytest.raises(TableError, match="Certainties must not be below 0"):
        self_certainty([-1.0])
    with pytest.raises(SettingError, match="k must"):
        top_k_negentropy([0.5], 1)


def token_sar_by_hand(logprobs, relevance):
    """The weighted mean of one answer in the plainest NumPy, its relevant tokens alone in the sum."""
    found, weights = np.array(logprobs), np.array(relevance)
    if weights.sum() == 0:
        return float(0.0 - found.mean())
    return float(-(found[weights != 0] * weights[weights != 0]).sum() / weights.sum() + 0.0)


WEIGHED = st.lists(
    st.tuples(
        st.sampled_from([-math.inf, -3.0, -0.1]) | st.floats(-50, 0), st.sampled_from([0.0, 0.1]) | st.floats(0, 1)
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(WEIGHED, min_size=1, max_size=5))
def test_token_sar_of_several_answers_at_once_has_the_bits_of_each_alone(answers):
    logprobs, relevances = ([[pair[side] for pair in one] for one in answers] for side in (0, 1))
    expected = [token_sar_by_hand(*one) for one in zip(logprobs, relevances, strict=True)]
    assert token_sars(logprobs, relevances) == expected
