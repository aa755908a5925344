"""How far samples agree with the answer and with each other."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.errors import SettingError, TableError
from vecuq.measures.text import (
    cocoa_mean_token_entropy,
    cocoa_msp,
    cocoa_perplexity,
    consistency,
    cosine,
    lexical_similarity,
    mean_token_entropy,
    msp,
    non_contradiction,
    perplexity,
)

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=12)
TEXTS = st.lists(st.text("ab ", max_size=8), min_size=2, max_size=6)


@settings(max_examples=50, deadline=None)
@given(SHARES)
def test_consistency_is_a_share_that_knows_no_order(similarities):
    found = consistency(similarities)
    assert 0 <= found <= 1
    assert consistency(sorted(similarities)) == pytest.approx(found)


@settings(max_examples=50, deadline=None)
@given(SHARES, st.lists(st.floats(-20, 0), min_size=1, max_size=5))
def test_cocoa_is_the_answers_own_term_times_consistency(similarities, logprobs):
    unlike, entropies = consistency(similarities), [-one for one in logprobs]
    assert cocoa_msp(logprobs, similarities) == pytest.approx(msp(logprobs) * unlike)
    assert cocoa_perplexity(logprobs, similarities) == pytest.approx(perplexity(logprobs) * unlike)
    assert cocoa_mean_token_entropy(entropies, similarities) == pytest.approx(mean_token_entropy(entropies) * unlike)


def test_without_samples_or_tokens_they_are_missing():
    assert math.isnan(consistency([]))
    assert math.isnan(cocoa_msp([-1.0], []))
    assert math.isnan(cocoa_msp([], [1.0]))


def test_similarities_outside_the_unit_interval_are_refused_and_rounding_is_not():
    assert consistency([1.0 + 1e-7]) == 0.0
    with pytest.raises(TableError, match=r"max\(0, cosine\)"):
        consistency([-0.2, 0.5])


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_lexical_similarity_lies_in_its_range_and_knows_no_order(texts):
    for by in ("rouge_l", "rouge_1", "rouge_2", "jaccard"):
        found = lexical_similarity(texts, by=by)
        assert -1 <= found <= 0
        assert lexical_similarity(texts[::-1], by=by) == pytest.approx(found)


def test_identical_samples_are_the_least_uncertain_and_disjoint_ones_the_most():
    for by in ("rouge_l", "rouge_1", "rouge_2", "bleu", "jaccard"):
        assert lexical_similarity(["the red house"] * 4, by=by) == -1.0
        assert lexical_similarity(["the red", "a blue", "some green"], by=by) == 0.0


def test_lexical_similarity_takes_a_matrix_or_a_function_too():
    assert lexical_similarity([[1.0, 0.25], [0.75, 1.0]]) == -0.25
    assert lexical_similarity(["a", "b", "a"], by=lambda one, other: 0.5) == pytest.approx(-(1 + 0.5 + 0.5) / 3)
    with pytest.raises(SettingError, match="'rouge_l'"):
        lexical_similarity(["a", "b"], by="rouge_ll")


@pytest.mark.parametrize("samples", [[], ["Paris"], [[1.0]]])
def test_fewer_than_two_samples_have_no_lexical_similarity(samples):
    assert math.isnan(lexical_similarity(samples))


def test_a_single_text_is_no_list_of_samples():
    with pytest.raises(TableError, match="got a single text"):
        lexical_similarity("abc")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9))
def test_non_contradiction_is_one_minus_that_of_uqlm_written_out(both_ways):
    theirs = sum(((1 - there) + (1 - back)) / 2 for there, back in both_ways) / len(both_ways)
    assert non_contradiction(both_ways) == pytest.approx(1 - theirs)
    assert non_contradiction(both_ways[::-1]) == pytest.approx(1 - theirs)
    assert 0 <= non_contradiction(both_ways) <= 1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=9))
def test_cosine_is_one_minus_that_of_uqlm_written_out(cosines):
    theirs = sum(0.5 + one / 2 for one in cosines) / len(cosines)
    assert cosine(cosines) == pytest.approx(1 - theirs)
    assert 0 <= cosine(cosines) <= 1


def test_without_samples_there_is_no_contradiction_and_no_cosine_and_what_cannot_be_is_refused():
    assert math.isnan(non_contradiction([]))
    assert math.isnan(cosine([]))
    assert cosine([1 + 1e-7]) == 0.0
    with pytest.raises(TableError, match=r"Cosines must lie in \[-1, 1\]"):
        cosine([2.0])
    with pytest.raises(TableError, match=r"must lie in \[0, 1\]"):
        non_contradiction([1.5])
