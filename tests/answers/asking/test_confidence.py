"""How sure a model is of its own answer, by asking it."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.answers import CONFIDENCE_WORDS, read_answers
from vecuq.answers.asking import Endpoint, Plan, Question, confidence_of
from vecuq.answers.asking.confidence import expression, p_true_of, percentage
from vecuq.errors import SettingError
from vecuq.workflows import ask

ALL = ("p_true", "verbalised", "linguistic")
ASKED = Question("q1", "Who wrote Faust?")
TOPS = {"A": math.log(0.6), " True": math.log(0.15), "B": math.log(0.05), "(B": math.log(0.2)}


@pytest.fixture
def sure(server):
    """A server that says how sure it is."""
    server.says = {
        "(A) True": ("A", TOPS),
        "from 0% to 100%": ("85%", {}),
        "one of these expressions": ("Highly likely.", {}),
    }
    return server


def test_each_way_of_asking_fills_its_field(sure):
    found = confidence_of(Endpoint(sure.url, "tiny"), ASKED, "Goethe", Plan(confidence=ALL))
    assert found.fields == {"p_true": 0.75, "confidence": 0.85, "confidence_words": "highly likely"}
    assert found.missing == {}


def test_the_model_sees_question_and_answer_and_neither_prompt_nor_system_message(sure):
    plan = Plan(confidence=ALL, system="Be brief.", template="Answer: {question}", stop=("\n",))
    confidence_of(Endpoint(sure.url, "tiny"), ASKED, "Goethe", plan)
    first, *others = [body for _, _, body in sure.requests]
    for body in (first, *others):
        (message,) = body["messages"]
        assert message["content"].startswith("Question: Who wrote Faust?\nProposed answer: Goethe\n")
        assert (body["temperature"], "stop" in body) == (0, False)
    assert (first["max_tokens"], first["top_logprobs"]) == (1, 20)
    assert {body["max_tokens"] for body in others} == {64}


def test_p_true_is_the_share_of_true_among_true_and_false():
    assert p_true_of(TOPS) == pytest.approx(0.75)
    assert p_true_of({"A": -0.1}) == 1
    assert p_true_of({"(B)": -0.1, "The": -3}) == 0
    assert p_true_of({"The": -0.1, "": -3}) is None
    assert p_true_of({"A": -1e9}) is None  # no mass that could be seen


@given(st.dictionaries(st.sampled_from(["A", "B", " true", "False", "(A", "x"]), st.floats(-700, 0), min_size=1))
def test_p_true_lies_between_0_and_1(tops):
    found = p_true_of(tops)
    assert found is None or 0 <= found <= 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("85%", 0.85), ("85 %", 0.85), ("85 percent", 0.85), ("85", 0.85), ("85.5%", 0.855), ("85%.", 0.85)],
        *[("Probability: 85%", 0.85), ("0.85", 0.85), ("0", 0.0), ("0%", 0.0), ("100%", 1.0), ("0.5%", 0.005)],
        *[("1%", 0.01), ("1", None), ("1.0", None), ("101%", None), ("-5%", None), ("80-90%", None)],
        *[("80% to 90%", None), ("about 85%", None), ("85% sure, I guess", None), ("", None), ("nan", None)],
        *[("²%", None), ("9" * 50, None), ("1e2%", None)],
    ],
)
def test_a_percentage_is_read_where_it_can_mean_one_thing(text, value):
    assert percentage(text) == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize("words", CONFIDENCE_WORDS)
def test_every_expression_is_read_however_it_is_written(words):
    assert expression(words) == expression(f" {words.capitalize()}.\n") == expression(f"Expression: {words}") == words
    assert expression(f"not {words}") is None


@pytest.mark.parametrize(
    ("reply", "kind", "why"),
    [
        (("A", {}), "p_true", "no log-probs of the first token"),
        (("The", {"The": -0.1}), "p_true", "neither True nor False is among the most likely tokens"),
        (("maybe", {}), "verbalised", "the reply is no percentage"),
        (("maybe", {}), "linguistic", "the reply is none of the expressions"),
    ],
)
def test_a_reply_that_cannot_be_read_is_missing_with_its_reason(server, reply, kind, why):
    server.says = {"Proposed answer": reply}
    found = confidence_of(Endpoint(server.url, "tiny"), ASKED, "Goethe", Plan(confidence=(kind,)))
    assert (found.fields, found.missing) == ({}, {kind: why})


def test_thoughts_before_a_reply_do_not_count(server):
    server.says = {"Proposed answer": ("<think>70%? no.</think>\n**90%**", {})}
    found = confidence_of(Endpoint(server.url, "tiny"), ASKED, "Goethe", Plan(confidence=("verbalised",)))
    assert found.fields == {"confidence": 0.9}


def test_an_answer_stays_where_the_model_refuses_to_judge_it(server, write_questions, tmp_path, run, words, lines_of):
    server.filtered = ("Proposed answer",)
    result = run(*words(write_questions(1), tmp_path / "a.jsonl", "--confidence", "p_true"))
    assert result.exit_code == 0
    assert "note: 1 answer without p_true: it was refused: " in result.stderr
    assert len(lines_of(tmp_path / "a.jsonl")) == 1


def test_nobody_is_asked_about_an_empty_answer(server):
    found = confidence_of(Endpoint(server.url, "tiny"), ASKED, " ", Plan(confidence=ALL))
    assert set(found.missing.values()) == {"the answer is empty"}
    assert not server.requests


def test_the_command_writes_confidences_and_says_how_many_are_missing(sure, write_questions, tmp_path, run, words):
    out = tmp_path / "a.jsonl"
    sure.says["from 0% to 100%"] = ("very", {})
    result = run(*words(write_questions(2), out, "--confidence", ",".join(ALL)))
    assert result.exit_code == 0, result.output
    assert "note: 2 answers without verbalised: the reply is no percentage." in result.stderr
    for record in read_answers(out, strict=True):
        assert (record.p_true, record.confidence, record.confidence_words) == (0.75, None, "highly likely")
        assert record.settings["confidence"] == list(ALL)
        assert record.greedy.text.startswith("what is")


def test_confidences_are_added_to_answers_that_are_there_already(sure, write_questions, tmp_path, run, words, lines_of):
    before, out = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    run(*words(write_questions(4), before))
    sure.requests.clear()
    result = run(*words(before, out, "--confidence", "p_true,linguistic", "--jobs", "2"))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("4 questions answered")
    assert len(sure.requests) == 8
    old, new = ({row["id"]: row for row in lines_of(path)} for path in (before, out))
    for name, row in new.items():
        assert (row.pop("p_true"), row.pop("confidence_words")) == (0.75, "highly likely")
        assert row["settings"].pop("confidence") == ["p_true", "linguistic"]
        assert row == old[name]
    again = run(*words(before, out, "--confidence", "p_true,linguistic"))
    assert again.stdout.startswith("0 questions answered, 4 before")
    assert len(sure.requests) == 8


def test_one_confidence_after_the_other_gives_both(sure, write_questions, tmp_path, run, words, lines_of):
    one, both = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    run(*words(write_questions(1), one, "--confidence", "verbalised"))
    assert run(*words(one, both, "--confidence", "p_true")).exit_code == 0
    (row,) = lines_of(both)
    assert (row["confidence"], row["p_true"], row["settings"]["confidence"]) == (0.85, 0.75, ["verbalised", "p_true"])


def test_a_model_is_asked_about_its_own_answers_only(sure, write_questions, tmp_path, run, refused, words):
    before = tmp_path / "a.jsonl"
    run(*words(write_questions(1), before))
    printed = refused(*words(before, tmp_path / "b.jsonl", "--confidence", "p_true", "--model", "other"))
    assert "a.jsonl, line 1: an answer of 'tiny', not of 'other'" in printed


def test_other_confidences_do_not_mix_in_a_file(sure, write_questions, tmp_path, run, refused, words):
    before, out = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    run(*words(write_questions(1), before))
    run(*words(before, out, "--confidence", "p_true"))
    assert "choose another name" in refused(*words(before, out, "--confidence", "verbalised"))
    assert "confidence None (now ['p_true'])" in refused(*words(write_questions(2), before, "--confidence", "p_true"))


def test_answers_that_are_cut_short_are_one_clear_line(sure, write_questions, tmp_path, run, refused, words):
    before = tmp_path / "a.jsonl"
    run(*words(write_questions(2), before))
    before.write_bytes(before.read_bytes()[:-30])
    assert "line 2: not valid JSON" in refused(*words(before, tmp_path / "b.jsonl", "--confidence", "p_true"))


def test_samples_alone_are_asked_about_by_their_first(sure, write_questions, tmp_path, run, words, lines_of):
    out = tmp_path / "a.jsonl"
    assert run(*words(write_questions(1), out, "--no-greedy", "--confidence", "p_true")).exit_code == 0
    (row,) = lines_of(out)
    assert "greedy" not in row
    assert (len(row["samples"]), row["p_true"], row["settings"]["greedy"]) == (2, 0.75, False)
    assert row["samples"][0]["text"] in sure.requests[-1][2]["messages"][-1]["content"]


def test_p_true_needs_a_model_that_gives_probabilities_of_tokens(write_questions, tmp_path):
    class Plain:
        name = "plain"

    with pytest.raises(SettingError, match="needs log-probs of first tokens"):
        ask(write_questions(1), tmp_path / "a.jsonl", Plain(), Plan(confidence=("p_true",)))


def test_the_older_completions_can_be_asked_too(server):
    tops = {"A": -0.2, "B": -1.7}
    choice = {"text": "A", "logprobs": {"tokens": ["A"], "token_logprobs": [-0.2], "top_logprobs": [tops]}}
    server.script = [(200, {"choices": [choice]})]
    found = confidence_of(Endpoint(server.url, "tiny"), ASKED, "Goethe", Plan(confidence=("p_true",), raw=True))
    assert found.fields["p_true"] == pytest.approx(math.exp(-0.2) / (math.exp(-0.2) + math.exp(-1.7)), abs=1e-6)
    assert server.requests[0][0] == "/v1/completions"


NONSENSE = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["content", "top_logprobs", "token", "logprob", "A"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(NONSENSE)
def test_whatever_a_server_calls_log_probs_p_true_is_a_probability_or_missing(logprobs):
    from vecuq.answers.asking.requests import first_tops

    found = p_true_of(first_tops({"logprobs": json.loads(json.dumps(logprobs))}))
    assert found is None or 0 <= found <= 1
