"""How much each token matters."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.compare import COMPARISONS, PairCache
from vecuq.measures.text import pairwise, rouge_l, token_relevance
from vecuq.measures.text.relevance import is_special, token_relevances

PIECES = st.lists(
    st.sampled_from(
        [
            " Par",
            "is",
            " is",
            "Lyon",
            ".",
            " ",
            "cat",
            "s",
            " running",
            "\n",
            "ü",
            "京",
            "か",
            "京都は",
            "\n",
            "</s>",
            "",
            "a b ",
        ]
    ),
    min_size=2,
    max_size=9,
)


def slow_relevance(tokens, question):
    """One minus ROUGE-L of both texts in full."""
    kept = [k for k, token in enumerate(tokens) if token not in ("", "</s>")]
    full = question + " " + "".join(tokens[k] for k in kept)
    found = np.zeros(len(tokens))
    for k in kept:
        found[k] = 1 - rouge_l(full, question + " " + "".join(tokens[j] for j in kept if j != k))
    return found


@settings(max_examples=100, deadline=None)
@given(PIECES, st.sampled_from(["", "Which city is it?", "Ist es Köln?"]))
def test_the_quick_way_equals_comparing_both_texts_in_full(tokens, question):
    npt.assert_allclose(token_relevance(tokens, question), slow_relevance(tokens, question), atol=1e-12)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("aAs1 .-", min_size=1, max_size=3), min_size=2, max_size=9))
def test_tokens_that_cut_and_join_words_weigh_what_both_texts_in_full_give(tokens):
    npt.assert_allclose(token_relevance(tokens, "as a"), slow_relevance(tokens, "as a"), atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(PIECES)
def test_a_function_that_computes_rouge_l_gives_the_same_as_its_name(tokens):
    by_function = token_relevance(tokens, "Which city?", similarity=pairwise(rouge_l, symmetric=True))
    npt.assert_allclose(by_function, token_relevance(tokens, "Which city?"), atol=1e-12)


def test_removing_a_word_of_three_beside_a_question_of_two_by_hand():
    # five words against four: F = 2 * 4 / 9
    npt.assert_allclose(token_relevance(["one", " two", " six"], "how many"), [1 / 9] * 3)


def test_special_tokens_and_ends_have_no_relevance():
    assert token_relevance(["Paris", "<|im_end|>"])[1] == 0
    npt.assert_array_equal(token_relevance(["Par", "is", "\n", "\n"], n_end=2)[2:], [0, 0])
    by_end = token_relevance(["Paris", " Q", ":"], "Where?", n_end=2)
    npt.assert_array_equal(by_end, [token_relevance(["Paris", ""], "Where?")[0], 0, 0])


def test_a_lone_token_has_half_relevance_and_no_token_none():
    assert token_relevance(["Paris"], "Where?").tolist() == [0.5]
    assert token_relevance([]).tolist() == []


@pytest.mark.parametrize("token", ["</s>", "<s>", "<|endoftext|>", "<|eot_id|>", "<end_of_turn>", "<eos>", "[SEP]", ""])
def test_marks_of_models_are_special(token):
    assert is_special(token)


@pytest.mark.parametrize("token", [" ", "\n", "s", "<", "<b>", "[1]", "a</s>", " Paris"])
def test_text_is_not_special(token):
    assert not is_special(token)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(PIECES, st.integers(0, 2)), max_size=5), st.sampled_from(["", "Which city is it?"]))
def test_answers_weighed_together_have_the_same_bits_as_one_by_one(answers, question):
    together = token_relevances(answers, question, similarity=PairCache(COMPARISONS["rouge_l"]))
    alone = [token_relevance(tokens, question, n_end=n_end) for tokens, n_end in answers]
    assert [one.tolist() for one in together] == [one.tolist() for one in alone]
