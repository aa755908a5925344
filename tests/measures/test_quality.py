"""How good an answer is beside its references."""

import math
import sys

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.errors import SettingError, TableError
from vecuq.measures import text
from vecuq.measures.quality import QUALITIES, chrf, exact_match, measure_quality, numeric_match, rouge_l, token_f1

OF_TEXTS = [exact_match, token_f1, rouge_l, chrf]
PHRASES = st.lists(st.sampled_from(["the", "Paris", "in", "1972.", "river"]), max_size=5).map(" ".join)


@settings(max_examples=50, deadline=None)
@given(PHRASES, st.lists(PHRASES, min_size=1, max_size=3))
def test_several_references_give_the_best_of_each_and_all_lie_in_the_unit_interval(answer, references):
    for measure in OF_TEXTS:
        each = [one for one in (measure(answer, reference) for reference in references) if not math.isnan(one)]
        assert measure(answer, references) == (max(each) if each else pytest.approx(math.nan, nan_ok=True))
        assert all(0 <= one <= 1 for one in each)


@settings(max_examples=50, deadline=None)
@given(PHRASES.filter(bool))
def test_a_reference_itself_is_perfect(answer):
    for measure in OF_TEXTS:
        assert measure(answer, ["something else", answer]) == pytest.approx(1.0)


@pytest.mark.parametrize("measure", [*OF_TEXTS, numeric_match])
def test_a_blank_answer_is_wrong_and_no_reference_is_missing(measure):
    assert measure("", ["51"]) == measure("  ", "51") == 0.0
    assert math.isnan(measure("51", []))
    assert math.isnan(measure("51", None))
    assert math.isnan(measure("51", ["", None]))
    assert math.isnan(measure(None, ["51"]))


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("The Eiffel Tower!", "eiffel  tower", 1),
        ("14 December 1972", "December 1972", 0),
        ("3.5", "35", 0),
        ("1,000", "1000", 1),
        ("The", "the", 1),
        ("?", "!", 0),
        ("", "the", 0),
        ("„Köln“", "köln", 1),
        ("Ko\u0308ln", "Köln", 1),
        ("theatre", "atre", 0),
    ],
)
def test_exact_match_ignores_case_punctuation_and_articles_only(answer, reference, expected):
    assert exact_match(answer, reference) == expected


def test_token_f1_counts_words_as_often_as_both_have_them():
    assert token_f1("to be or not to be", "to be") == pytest.approx(2 * 2 / 8)
    assert token_f1("Paris, France", ["Lyon", "the France"]) == pytest.approx(2 / 3)
    assert token_f1("北京市", "北京") == pytest.approx(0.8)


def test_rouge_l_is_the_one_of_the_measures():
    pair = ("A man in an orange hat.", "A man wearing a hat")
    assert rouge_l(*pair) == text.rouge_l(*pair)


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("76 - 25 = 51", 51.0, 1),
        ("The answer is 51.", "51", 1),
        ("51 apples and 3 pears", 51, 0),
        ("It costs $1,234.50.", 1234.5, 1),
        ("1,23", 23, 1),
        ("about -3 degrees", -3, 1),
        ("\u22123", -3, 1),
        ("10-5", 5, 1),
        ("1/2", 0.5, 1),
        ("2/3/2020", 2020, 1),
        ("2e5", 200000, 1),
        (".5", 0.5, 1),
        ("fifty-one", 51, 0),
        ("0.3333333", 1 / 3, 1),
        ("0.33", 1 / 3, 0),
        ("1e999", 51, 0),
        ("9" * 500, 51, 0),
        ("5/0", 5, 0),
    ],
)
def test_the_last_number_of_an_answer_counts(answer, reference, expected):
    assert numeric_match(answer, reference) == expected
    assert numeric_match(answer, [-99.25, reference]) == expected


def test_numbers_may_be_the_first_and_close_enough():
    assert numeric_match("51 apples and 3 pears", 51, take="first") == 1
    assert numeric_match("0.33", 1 / 3, tolerance=0.01) == 1
    assert numeric_match("51", np.float32(51)) == 1
    assert math.isnan(numeric_match("51", ["no number"]))
    with pytest.raises(SettingError, match="'last'"):
        numeric_match("1", 1, take="lst")
    with pytest.raises(SettingError, match="tolerance"):
        numeric_match("1", 1, tolerance=-1.0)


@settings(max_examples=50, deadline=None)
@given(st.integers(-(10**9), 10**9), st.sampled_from(["{:d}", "{:,d}", "so {:d}.", "x = {:d} km", "{:d}.0"]))
def test_a_whole_number_is_found_however_it_is_written(number, form):
    assert numeric_match(form.format(number), number) == 1


def chrf_by_hand(answer, reference, order=6, beta=2.0):
    """F-measures of runs of letters, spaces aside; orders that one text is too short for are left out."""
    said, truth = answer.replace(" ", ""), reference.replace(" ", "")
    shares = []
    for n in range(1, order + 1):
        ours = [said[k : k + n] for k in range(len(said) - n + 1)]
        theirs = [truth[k : k + n] for k in range(len(truth) - n + 1)]
        if ours and theirs:
            shared = sum(min(ours.count(run), theirs.count(run)) for run in set(ours))
            shares.append((shared / len(ours), shared / len(theirs)))
    precision, recall = np.mean(shares, axis=0)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall) if precision + recall else 0.0


@pytest.mark.parametrize("answer", ["a man in a hat", "ein Mann", "a man with a hat", "x", "hats with men"])
def test_chrf_equals_the_formula_written_out(answer):
    assert chrf(answer, "a man with a hat") == pytest.approx(chrf_by_hand(answer, "a man with a hat"), abs=1e-9)


def test_chrf_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.chrf", None)
    with pytest.raises(SettingError, match=r"pip install 'vecuq\[text\]'"):
        chrf("a", "b")


@pytest.mark.parametrize("kind", sorted(QUALITIES))
def test_many_answers_are_measured_one_by_one(kind):
    answers, references = ["51", "Paris 7", None, ""], [["51"], "7 Paris", ["x1"], ["3"]]
    found = measure_quality(kind, answers, references)
    npt.assert_array_equal(found, [QUALITIES[kind](one, truth) for one, truth in zip(answers, references, strict=True)])
    assert found.shape == (4,)
    assert math.isnan(found[2])


def test_an_unknown_quality_or_lists_that_do_not_match_are_told():
    with pytest.raises(SettingError, match="Did you mean 'token_f1'"):
        measure_quality("token_f", ["a"], ["a"])
    with pytest.raises(TableError, match="as many references"):
        measure_quality("rouge_l", ["a"], [])


@pytest.mark.parametrize("measure", OF_TEXTS)
def test_an_answer_that_is_no_text_is_refused_with_a_word(measure):
    with pytest.raises(TableError, match="An answer must be a text"):
        measure(5, "5")
