"""Servers that refuse fields of the protocol by name."""

import pytest

from vecuq.answers.asking import Endpoint, Plan, Question, RefusedQuestionError
from vecuq.errors import VecuqError

ASKED = Question("q1", "why")
PLAN = Plan(samples=2, stop=("\n",))
LIMIT = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
FIXED = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported."


@pytest.fixture
def notes():
    return []


@pytest.fixture
def endpoint(server, notes):
    return Endpoint(server.url, "tiny", on_retry=notes.append)


@pytest.mark.parametrize("names_params", [True, False])
def test_a_reasoning_model_gets_the_limit_under_its_other_name(server, endpoint, notes, names_params):
    server.refused_fields, server.names_params = {"max_tokens": LIMIT}, names_params
    endpoint.answer(ASKED, PLAN)
    endpoint.answer(Question("q2", "how"), PLAN)
    bodies = [body for _, _, body in server.requests]
    assert [("max_tokens" in body, body.get("max_completion_tokens")) for body in bodies] == [
        (True, None),
        *[(False, 64)] * 4,
    ]
    assert notes == [f"{server.url[:-3]} takes `max_tokens` as max_completion_tokens; it is sent so."]


def test_a_server_without_seeds_gives_samples_and_one_note(server, endpoint, notes):
    server.refused_fields = {"seed": "Unrecognized request argument supplied: seed"}
    server.names_params = False
    _, samples = endpoint.answer(ASKED, PLAN)
    assert len(samples) == 2
    (note,) = notes
    assert "takes no seed" in note


def test_a_model_without_temperature_0_has_no_greedy_answer_and_the_hint_says_what_to_do(server, endpoint):
    server.refused_fields, server.refused_values = {"temperature": FIXED}, {"temperature": lambda value: value != 1}
    with pytest.raises(VecuqError, match="no greedy answer: ask for samples alone, with greedy=False") as caught:
        endpoint.answer(ASKED, PLAN)
    assert not isinstance(caught.value, RefusedQuestionError)
    greedy, samples = endpoint.answer(ASKED, Plan(samples=2, greedy=False))
    assert (greedy, len(samples)) == (None, 2)


def test_a_model_without_any_temperature_draws_at_its_own(server, endpoint, notes):
    server.refused_fields = {"temperature": "Unsupported parameter: 'temperature'"}
    greedy, samples = endpoint.answer(ASKED, Plan(samples=2, greedy=False))
    assert (greedy, len(samples)) == (None, 2)
    assert "temperature" not in server.requests[-1][2]
    assert "takes no temperature" in notes[0]


@pytest.mark.parametrize(
    ("field", "words", "hint"),
    [
        ("logprobs", "'logprobs' is not supported with this model", "top_logprobs=0"),
        ("top_logprobs", "Invalid 'top_logprobs': must be less than or equal to 7", "fewer, with top_logprobs=7"),
        ("top_logprobs", "top_logprobs of 20 is greater than max allowed: 3", "fewer, with top_logprobs=3"),
        ("top_logprobs", "Invalid 'top_logprobs'", "such as top_logprobs=5"),
        ("stop", "Unsupported parameter: 'stop' is not supported with this model", "Leave out `stop`"),
    ],
)
@pytest.mark.parametrize("names_params", [True, False])
def test_a_refused_option_is_named_with_what_to_do(server, endpoint, field, words, hint, names_params):
    server.refused_fields, server.names_params = {field: words}, names_params
    with pytest.raises(VecuqError, match=hint) as caught:
        endpoint.answer(ASKED, PLAN)
    # A server that names the field refuses it for every question.
    assert isinstance(caught.value, RefusedQuestionError) != names_params


def test_the_command_line_names_the_option_to_change(server, write_questions, tmp_path, refused, words):
    server.refused_fields, server.refused_values = {"temperature": FIXED}, {"temperature": lambda value: value != 1}
    printed = refused(*words(write_questions(2), tmp_path / "a.jsonl"))
    assert "ask for samples alone, with --no-greedy and --temperature 1." in printed
    assert len(server.requests) == 1


def test_a_server_that_only_streams_is_asked_for_streams(server, endpoint, notes):
    server.only_streams, server.usage = True, {"prompt_tokens": 3, "completion_tokens": 2}
    greedy, samples = endpoint.answer(ASKED, PLAN)
    plain = Endpoint(server.url, "tiny")
    server.only_streams = False
    assert (greedy, samples) == plain.answer(ASKED, PLAN)
    assert endpoint.usage == plain.usage
    assert "answers only in streams" in notes[0]


def test_usage_in_streams_is_not_asked_for_where_it_is_refused(server):
    server.refused_fields = {"stream_options": "Extra inputs are not permitted: stream_options"}
    server.names_params = False
    endpoint = Endpoint(server.url, "tiny", stream=True)
    endpoint.answer(ASKED, PLAN)
    assert ["stream_options" in body for _, _, body in server.requests] == [True, False, False]


def test_a_server_that_refuses_the_other_form_too_is_not_asked_for_ever(server, endpoint):
    server.refused_fields = {"max_tokens": LIMIT, "max_completion_tokens": LIMIT}
    with pytest.raises(VecuqError, match="Choose another `max_tokens`"):
        endpoint.answer(ASKED, PLAN)
    assert len(server.requests) == 2


def test_extra_fields_are_part_of_every_request_and_of_the_settings(server):
    endpoint = Endpoint(server.url, "tiny", extra_body={"reasoning_effort": "low"})
    endpoint.answer(ASKED, PLAN)
    assert {body["reasoning_effort"] for _, _, body in server.requests} == {"low"}
    assert endpoint.settings["extra_body"] == {"reasoning_effort": "low"}


def test_extra_fields_may_not_have_the_key():
    with pytest.raises(VecuqError, match="must not have the key") as caught:
        Endpoint("http://localhost/v1", "m", api_key="sk-0123456789abcdef", extra_body={"x": "sk-0123456789abcdef"})
    assert "sk-" not in str(caught.value)
