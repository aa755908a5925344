"""Contradictions count and paraphrases do not: the comparison without a model, with and without the question."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meaning_cases import CAPITAL, DIFFERENT, LIMITS, SAME, SAME_TO_THE_QUESTION

from vecuq.compare import Meaning
from vecuq.measures.text import TextSettings, measure_answer

PARAPHRASES = [
    "The capital of Australia is Canberra.",
    "Canberra is the capital of Australia.",
    "It is Canberra.",
    "The capital city of Australia is Canberra",
]


def compared(question, one, other):
    there, back = Meaning(question, [one, other])(one, other), Meaning(question, [other, one])(other, one)
    assert there == back
    return there


@pytest.mark.parametrize(("question", "one", "other"), SAME)
def test_the_same_in_other_words_is_the_same(question, one, other):
    assert compared(question, one, other) == compared("", one, other) == 1.0


@pytest.mark.parametrize(("question", "one", "other"), SAME_TO_THE_QUESTION)
def test_words_of_the_question_are_no_difference(question, one, other):
    assert compared(question, one, other) == 1.0
    assert compared("", one, other) < 0.5


@pytest.mark.parametrize(("question", "one", "other"), DIFFERENT)
def test_a_contradiction_is_different(question, one, other):
    assert compared(question, one, other) < 0.5
    assert compared("", one, other) < 0.5


@pytest.mark.parametrize(("question", "one", "other", "truth"), LIMITS)
def test_what_the_rule_cannot_see_is_known(question, one, other, truth):
    """The documentation lists these; a rule that learns to see one of them should be taken off the list."""
    assert (compared(question, one, other) >= 0.5) != (truth == "same")


@pytest.mark.parametrize("question", [CAPITAL, ""])
def test_semantic_entropy_counts_meanings_and_not_words(question):
    def entropy(texts):
        given = {"question": question, "samples": [{"text": text, "logprob": -1.0} for text in texts]}
        return measure_answer(given, ["semantic_entropy_empirical"]).values["semantic_entropy_empirical"]

    apart = ["The capital of Australia is Canberra."] * 5 + ["The capital of Australia is Sydney."] * 5
    assert entropy(apart) == pytest.approx(math.log(2))
    assert entropy(PARAPHRASES) == 0.0


def test_long_texts_are_compared_by_their_sentences():
    life = ["Ada was born in London in 1815.", "She wrote a program.", "Her father was a poet."]
    told = " ".join(life)
    other = "Ada was born in London in 1815. She wrote a program. Her mother liked numbers a lot."
    assert Meaning("", [])(told, " ".join(reversed(life))) == 1.0
    assert 0.5 < Meaning("", [])(told, other) < 1.0
    assert Meaning("", [])(told, "Bread is baked. Milk is poured. Tea gets cold.") == 0.0


def test_what_is_compared_depends_on_the_texts_of_the_question_alone():
    reasoned = ["3 + 4 is 7, so the answer is 7.", "Adding up 3 and 4 gives more. The answer is 8."]
    assert Meaning("", reasoned).finals.kind == "final answers (numbers)"
    assert Meaning("", ["Paris", "Lyon"]).finals.kind == "content words"
    assert Meaning("A) x\nB) y", ["(A)", "B"]).finals.kind == "final answers (choices)"
    assert Meaning("", ["The answer is Paris.", "Answer: Lyon"]).finals.kind == "final answers (texts)"


def test_a_long_text_without_a_final_answer_differs_from_those_that_have_one():
    whole = ["We add 3 and 4. The answer is 7."] * 4
    cut = "We add 3 and 4, which makes 7 or so, but let me think about that again since it may be " + "more " * 20
    meaning = Meaning("", [*whole, cut])
    assert meaning.finals.kind == "final answers (numbers)"
    assert meaning(whole[0], cut) == 0.0
    assert meaning(whole[0], "7") == 1.0


def test_calculations_without_a_cue_end_with_their_result():
    texts = ["16 eggs - 7 eggs = 9 eggs.\nShe sells 9 eggs for $2 each: 9 * 2 = $18.", "16 - 3 = 13, and 13 * 2 = 26"]
    meaning = Meaning("", texts)
    assert list(meaning.finals.parts.values()) == ["18", "26"]
    assert meaning(*texts) == 0.0


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=40))
def test_any_two_texts_compare_both_ways_alike_within_bounds(one, other, question):
    assert 0.0 <= compared(question, one, other) <= 1.0


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab 13.-$%\n=?", max_size=40))
def test_a_text_means_what_it_means(text):
    meaning = Meaning("", [text])
    assert meaning(text, text) in (0.0, 1.0)
    assert meaning(text, text) == 1.0 or not any(map(str.isalnum, text)) or meaning._content(text) is None


def test_a_very_long_text_costs_bounded_work():
    text = "word " * 200_000
    assert Meaning("", [text, text + "x"])(text, text + "x") == 1.0


def test_old_comparisons_have_their_numbers():
    found = measure_answer({"text": "a b", "samples": ["a c"]}, ["consistency"], TextSettings(similarity="rouge_l"))
    assert found.values["consistency"] == 0.5
    assert found.compared == "rouge_l"


def test_a_digit_that_is_no_decimal_after_a_letter_is_a_word():
    # An Ethiopic one counts as a digit of Unicode, and no number can be made of it.
    assert compared("", "It is u\u1369.", "It is u\u1369!") == 1.0
    assert compared("", "It is u\u1369.", "It is u5.") < 0.5
