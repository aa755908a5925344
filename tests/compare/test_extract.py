"""Final answers within texts, and patterns that cannot hang."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.compare import Meaning, extraction, has_thinking, without_thinking
from vecuq.compare.patterns import last_match
from vecuq.errors import SettingError, TableError
from vecuq.measures.text import TextSettings, measure_answer


@pytest.mark.parametrize(
    ("spec", "text", "found"),
    [
        ("last_number", "16 - 3 = 13 eggs.", "13"),
        ("last_number", "It costs $1,200.50.", "1,200.50"),
        ("last_number", "It is -3", "-3"),
        ("last_number", "none", None),
        ("choice", "(B)", "B"),
        ("choice", "B.", "B"),
        ("choice", "b", None),
        ("choice", "Answer: B", "B"),
        ("choice", "The correct answer is B", "B"),
        ("choice", "The answer is (C) Paris.", "C"),
        ("choice", "**Answer:** **D**", "D"),
        ("choice", "At first A seems right, but the answer is E.", "E"),
        ("choice", "B) Paris", "B"),
        ("choice", "Since Rome is old, (J) follows.", "J"),
        ("choice", "Both (A) and (B)", None),
        ("choice", "The answer is Apples", None),
        ("choice", "K", None),
        ("boxed", r"so \boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        ("boxed", r"\boxed{1} no, \boxed{{2}}", "{2}"),
        ("boxed", r"cut \boxed{12", None),
        ("json:answer", '{"answer": "Paris"}', "Paris"),
        ("json:answer", 'Sure!\n```json\n{"answer": 18, "why": "{}"}\n```', "18"),
        ("json:a.b.0", '{"a": {"b": [true]}}', "true"),
        ("json:answer", '{"answer": null}', None),
        ("json:a." + "9" * 900, '{"a": [1]}', None),
        ("json:answer", '{"answer": ', None),
        ("regex:#### (.*)", "so\n#### 18", "18"),
        ("regex:[0-9]+", "1 and 2", "2"),
        ("regex:x(y)?", "x", "x"),
        ("regex:é+", "né", "é"),
        ("regex:a|b(c)", "bc a", "a"),
    ],
)
def test_the_final_answer_is_found_as_models_write_it(spec, text, found):
    assert extraction(spec)(text) == found


@pytest.mark.parametrize(
    "spec",
    ["number", "regex:", "regex:(", "json:", "json", "", 3, ["choice"], "regex:" + "a" * 2000, "json:" + "a." * 9000],
)
def test_an_extraction_that_cannot_be_is_refused_at_once(spec):
    with pytest.raises(SettingError, match="extract"):
        TextSettings(extract=spec)


def test_a_pattern_of_exponential_time_is_stopped_and_the_next_one_works():
    with pytest.raises(TableError, match="took more than"):
        last_match("(a+)+$", "a" * 60 + "b")
    assert last_match("(a+)", "baa") == "aa"


def test_the_bound_holds_within_settings_that_were_saved_by_a_stranger():
    strange = TextSettings.from_dict({"extract": "regex:(x+x+)+y", "similarity": "exact"})
    with pytest.raises(TableError, match="took more than"):
        measure_answer({"samples": ["x" * 60, "x" * 61]}, ["consistency"], strange)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["last_number", "choice", "boxed", "json:a"]), st.text(max_size=60))
def test_no_text_breaks_an_extraction(spec, text):
    found = extraction(spec)(text)
    assert found is None or found.strip() == found != ""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>a\nb</think>\n4", "4"),
        ("<thinking>a</thinking>4 <reasoning>b</reasoning>", "4"),
        ("◁think▷a◁/think▷4", "4"),
        ("and so on</think>4", "4"),
        ("<think>never ends", ""),
        ("<Think>a</Think> 4", "4"),
        ("I think 4 < 5", "I think 4 < 5"),
    ],
)
def test_thinking_is_no_part_of_the_answer(text, left):
    assert without_thinking(text) == left
    assert has_thinking(text) == (text != left)


def test_answers_are_compared_by_what_is_extracted_and_stripped():
    given_answers = {"text": "<think>5?</think>It is 4.", "samples": ["<think>4?</think>It is 5.", "4", "none"]}
    how = TextSettings(similarity="exact", extract="last_number", strip_think=True)
    found = measure_answer(given_answers, ["consistency"], how)
    assert found.values["consistency"] == pytest.approx(2 / 3)
    assert found.compared == "exact of last_number"
    assert not found.thinks
    assert measure_answer(given_answers, ["consistency"]).thinks


def test_texts_without_a_final_answer_differ_from_those_with_one_and_are_compared_whole():
    how = TextSettings(similarity="rouge_l", extract="last_number")
    found = measure_answer({"text": "no idea", "samples": ["18", "no idea at all"]}, ["consistency"], how)
    assert found.values["consistency"] == pytest.approx(1 - (0 + 2 * 2 / 6) / 2)


@pytest.mark.parametrize(
    "text",
    [
        "answer" + " " * 100_000,
        "answer is " * 20_000,
        "the answer to " * 10_000,
        "(" * 100_000,
        "*" * 100_000 + "A",
        "1" * 100_000,
        "1," * 50_000,
        "1/" * 50_000,
        "<think>" * 20_000,
        "<think>" * 10_000 + "</think>" * 10_000,
        r"\boxed{" * 20_000,
        '{"a":' * 20_000,
        "[" * 100_000,
        "a. " * 40_000,
        "a\n" * 40_000,
        "option A " * 20_000,
        "= " * 50_000,
        "'" * 50_000,
        "a'" * 50_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_texts_cost_bounded_work(text):
    """Each ends in a fraction of a second; a search of quadratic time would take minutes."""
    for spec in ("last_number", "choice", "boxed", "json:a"):
        extraction(spec)(text)
    without_thinking(text)
    meaning = Meaning(text[:1000], [text, text + "b"])
    assert 0.0 <= meaning(text, text + "b") <= 1.0
    assert 0.0 <= Meaning("", ["x", text])("x", text) <= 1.0
