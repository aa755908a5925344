"""Words and their overlap, against slow and obvious implementations."""

import math
import re
from functools import cache
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.compare import common_subsequence, stem, stemmed_words
from vecuq.compare.lexical import Stems
from vecuq.measures.text import bleu, jaccard, rouge_l, rouge_n, words

LISTS = st.lists(st.sampled_from(["a", "b", "cat", "dog", "it"]), max_size=8)
SENTENCES = st.lists(st.sampled_from(["the", "a", "cat", "cats", "running", "runs", "1914"]), max_size=9).map(" ".join)


def lcs(one, other):
    """Longest common subsequence, by its recursion."""

    @cache
    def of(i, j):
        if i == len(one) or j == len(other):
            return 0
        return 1 + of(i + 1, j + 1) if one[i] == other[j] else max(of(i + 1, j), of(i, j + 1))

    return of(0, 0)


def is_subsequence(short, long):
    rest = iter(long)
    return all(word in rest for word in short)


@settings(max_examples=50, deadline=None)
@given(LISTS, LISTS)
def test_the_longest_common_subsequence_equals_the_recursion_and_the_search(one, other):
    found = common_subsequence(one, other)
    assert found == lcs(tuple(one), tuple(other))
    longest = max(n for n in range(len(one) + 1) if any(is_subsequence(some, other) for some in combinations(one, n)))
    assert found == longest


@settings(max_examples=50, deadline=None)
@given(SENTENCES, SENTENCES)
def test_rouge_l_is_the_f_measure_of_precision_and_recall(one, other):
    left, right = stemmed_words(one), stemmed_words(other)
    shared = lcs(tuple(left), tuple(right))
    if not shared:
        assert rouge_l(one, other) == 0.0
    else:
        precision, recall = shared / len(right), shared / len(left)
        assert rouge_l(one, other) == pytest.approx(2 * precision * recall / (precision + recall))


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_symmetric_measures_are_and_all_keep_the_unit_interval(one, other):
    for measure in (rouge_l, rouge_n, jaccard, lambda a, b: rouge_n(a, b, 2)):
        assert 0 <= measure(one, other) <= 1
        assert measure(one, other) == measure(other, one)
    assert 0 <= bleu(one, other) <= 1


@settings(max_examples=50, deadline=None)
@given(SENTENCES.filter(bool))
def test_a_text_is_like_itself(text):
    assert rouge_l(text, text) == rouge_n(text, text) == jaccard(text, text) == 1.0
    assert bleu(text, text) == pytest.approx(1.0)


def test_the_values_that_rouge_score_prints():
    # rouge-score 0.1.2, use_stemmer=True
    target, said = "The cats were running in the garden.", "A cat runs in gardens, the cat!"
    assert rouge_l(target, said) == pytest.approx(4 / 7)
    assert rouge_n(target, said) == pytest.approx(5 / 7)
    assert rouge_n(target, said, 2) == pytest.approx(1 / 3)


@given(st.text(st.characters(max_codepoint=127)))
def test_words_of_ascii_text_are_runs_of_letters_and_digits(text):
    assert words(text) == re.findall("[a-z0-9]+", text.lower())


def test_a_word_of_any_length_is_never_remembered():
    stems = Stems()
    assert [stems[word] for word in ("y" * 1_000_000, "cats")] == ["y" * 1_000_000, "cat"]
    assert list(stems) == ["cats"]


def test_stems_are_forgotten_before_they_take_much_memory():
    stems = Stems({str(k): "" for k in range(65_536)})
    assert stems["running"] == "run"
    assert list(stems) == ["running"]


def test_words_are_runs_of_letters_and_digits_of_any_script():
    assert words("snake_case, Don't stop: 3.14!") == ["snake", "case", "don", "t", "stop", "3", "14"]
    assert words("Grüße aus Köln") == ["grüße", "aus", "köln"]
    assert words("cafe\u0301") == ["café"]
    assert words("北京是首都 2024") == ["北", "京", "是", "首", "都", "2024"]
    assert words("...") == words("") == []


def test_answers_in_other_scripts_are_not_all_unlike():
    assert rouge_l("北京是首都", "首都是北京") == pytest.approx(0.4)
    assert rouge_l("Москва", "москва!") == 1.0


def test_texts_without_words_are_like_nothing():
    for measure in (rouge_l, rouge_n, jaccard, bleu):
        assert measure("", "") == measure("", "Paris") == measure("Paris", "") == 0.0


def test_bleu_by_hand():
    assert bleu("a b c d e", "a b c d") == pytest.approx(math.exp(1 - 5 / 4))  # only brevity is missing
    assert bleu("a b", "a c") == 0.0  # no pair in common, and no smoothing
    assert bleu("a", "a a") == pytest.approx(0.5)
    # precisions 5/6, 3/5, 2/4, 1/3
    assert bleu("the cat sat on a mat", "the cat sat on the mat") == pytest.approx((5 / 6 * 3 / 5 / 2 / 3) ** 0.25)


STEMS = {
    "caresses": "caress", "ponies": "poni", "ties": "tie", "cats": "cat", "agreed": "agre", "feed": "feed",
    "plastered": "plaster", "motoring": "motor", "sing": "sing", "conflated": "conflat", "troubling": "troubl",
    "sized": "size", "hopping": "hop", "falling": "fall", "hissing": "hiss", "failing": "fail", "filing": "file",
    "happy": "happi", "sky": "sky", "relational": "relat", "conditional": "condit", "digitizer": "digit",
    "radically": "radic", "vileness": "vile", "triplicate": "triplic", "formative": "form", "electrical": "electr",
    "hopeful": "hope", "goodness": "good", "revival": "reviv", "inference": "infer", "adjustment": "adjust",
    "adoption": "adopt", "effective": "effect", "probate": "probat", "rate": "rate", "cease": "ceas",
    "controlling": "control", "roll": "roll", "dying": "die", "archaeology": "archaeolog", "say": "say",
    "hopefully": "hope", "successfully": "success", "enjoy": "enjoy", "spied": "spi", "died": "die", "news": "news",
}  # fmt: skip


@pytest.mark.parametrize(("word", "expected"), STEMS.items())
def test_stems_are_porters(word, expected):
    assert stem(word) == expected


def test_only_english_words_are_stemmed():
    assert stemmed_words("Müllers cats has") == ["müllers", "cat", "has"]
    assert stemmed_words("y" * 100_000) == ["y" * 100_000]
