"""Which refusals stop a run, which are waited for, and which leave out one question."""

import json

import pytest

from vecuq.answers.asking.patience import LaterError
from vecuq.answers.asking.refusals import Refusal, RejectedError, error_of
from vecuq.errors import VecuqError

SPENT = "You exceeded your current quota, please check your plan and billing details."
AZURE_RATE = (
    "Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current OpenAI S0 pricing "
    "tier. Please retry after 26 seconds. Go to https://aka.ms/oai/quotaincrease to increase the default rate limit."
)


def kind_of(status, content, headers=()):
    refusal = Refusal.of(status, json.dumps(content).encode())
    return error_of(refusal, "why", dict(headers))


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (429, {"error": {"message": SPENT, "code": "insufficient_quota"}}),
        (429, {"error": {"message": SPENT, "type": "insufficient_quota", "code": None}}),
        (429, {"error": {"message": SPENT}}),
        (402, {"error": {"message": "more credits, please"}}),
        (400, {"type": "error", "error": {"message": "Your credit balance is too low to access the API."}}),
        (403, {"error": {"message": "Insufficient balance"}}),
        (400, {"error": {"message": "Billing hard limit has been reached", "code": "billing_hard_limit_reached"}}),
    ],
)
def test_an_account_without_credit_stops_the_run(status, content):
    error = kind_of(status, content)
    assert type(error) is VecuqError
    assert "used up" in str(error)


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        ({"error": {"message": "Rate limit reached for requests", "code": "rate_limit_exceeded"}}, {}),
        ({"error": {"message": AZURE_RATE, "code": "429"}}, {}),
        ({"error": {"message": SPENT}}, {"Retry-After": "20"}),
        ([{"error": {"message": f"{SPENT} Please retry in 26.5s.", "status": "RESOURCE_EXHAUSTED"}}], {}),
        ({}, {}),
    ],
)
def test_a_rate_limit_is_waited_for(content, headers):
    error = kind_of(429, content, headers)
    assert isinstance(error, LaterError)
    assert error.slow_down


def test_a_run_without_credit_sends_nothing_more_and_keeps_its_answers(
    server, write_questions, tmp_path, run, words, lines_of
):
    out = tmp_path / "answers.jsonl"
    fine = [(200, server.answer("chat/completions", {"messages": [{"content": "x"}], "n": n})) for n in (1, 2)]
    server.script = [*fine, (429, {"error": {"message": SPENT, "code": "insufficient_quota"}})]
    result = run(*words(write_questions(3), out))
    assert result.exit_code == 1
    assert "quota or credit is used up" in result.stderr
    assert len(server.requests) == 3
    assert [row["id"] for row in lines_of(out)] == ["q0"]


def test_what_is_wrong_with_one_question_leaves_out_that_one():
    assert isinstance(kind_of(400, {"error": {"message": "too long"}}), RejectedError)


def test_a_refusal_names_its_parameter():
    found = Refusal.of(400, b'{"error": {"message": "no", "param": "stop", "code": "unsupported_parameter"}}')
    assert found == Refusal(400, "no", "unsupported_parameter", "stop")
