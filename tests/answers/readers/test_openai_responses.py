"""Replies of the Responses API, alone and in a batch."""

import pytest

from vecuq.answers import read_answers
from vecuq.answers.alignment import NOT_OF_THE_TEXT
from vecuq.errors import TableError

TOP = [{"token": "Paris", "logprob": -0.5}, {"token": "Rome", "logprob": -1.5}]
ROWS = [{"token": "Paris", "logprob": -0.5, "bytes": [80, 97, 114, 105, 115], "top_logprobs": TOP}]


def text(said, logprobs=()):
    return {"type": "output_text", "text": said, "annotations": [], "logprobs": list(logprobs)}


def message(*content):
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": list(content)}


def response(*output, status="completed", **more):
    return {"id": "resp_1", "object": "response", "status": status, "model": "m", "output": list(output), **more}


def batch(body, name="a"):
    return {"id": "batch_req_1", "custom_id": name, "response": {"status_code": 200, "body": body}, "error": None}


def only(*paths, **options):
    reader = read_answers(list(paths), strict=True, **options)
    (record,) = reader
    return record, reader.notes


@pytest.mark.parametrize("wrap", [lambda body: body, batch, lambda body: {"custom_id": "a", "response": body}])
def test_text_log_probs_and_entropies_are_read_wherever_the_reply_is(write, wrap):
    reply = response({"type": "reasoning", "summary": []}, message(text("Paris", ROWS)), temperature=1.0)
    record, _ = only(write(wrap(reply)))
    answer = record.greedy
    assert (answer.text, answer.logprobs, answer.finish, answer.entropy_top_k) == ("Paris", (-0.5,), "stop", 2)
    assert record.model == "m"


@pytest.mark.parametrize(("temperature", "role"), [(0, "greedy"), (0.7, "samples")])
def test_the_request_says_whether_it_is_sampled(write, temperature, role):
    request = {
        "input": [{"role": "user", "content": "Capital?"}],
        "instructions": "Be brief.",
        "temperature": temperature,
    }
    record, _ = only(write({"custom_id": "a", "request": request, "response": response(message(text("Paris")))}))
    assert record.question == "Capital?"
    assert (record.greedy is not None, len(record.samples)) == ((True, 0) if role == "greedy" else (False, 1))


def test_a_temperature_that_the_server_repeats_does_not_make_a_single_answer_a_sample(write):
    assert only(write(response(message(text("Paris")), temperature=1.0)))[0].greedy.text == "Paris"


def test_its_batch_input_brings_the_question(write):
    body = {"model": "m", "input": "Capital?", "temperature": 0}
    given = write({"custom_id": "a", "method": "POST", "url": "/v1/responses", "body": body}, name="input.jsonl")
    record, _ = only(given, write(batch(response(message(text("Paris"))))))
    assert (record.question, record.greedy.text) == ("Capital?", "Paris")


def test_calls_refusals_and_ends_are_what_they_are(write):
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"b": 1, "a": 2}'}
    short = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    replies = {
        "call": response(call),
        "refused": response(message({"type": "refusal", "refusal": "No."})),
        "short": response(message(text("Par")), **short),
    }
    reader = read_answers(write(*(batch(reply, name) for name, reply in replies.items())), strict=True)
    found = {record.id: (record.greedy.text, record.greedy.finish) for record in reader}
    assert found == {
        "call": ('f({"a": 2, "b": 1})', "tool_calls"),
        "refused": ("No.", "refusal"),
        "short": ("Par", "length"),
    }


def test_a_reply_whose_parts_do_not_all_have_log_probs_has_none(write):
    record, notes = only(write(response(message(text("Paris", ROWS), text(" is it.")))))
    assert (record.greedy.text, record.greedy.logprobs) == ("Paris is it.", None)
    assert notes == [f"1 answer: {NOT_OF_THE_TEXT}"]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (response(status="failed", error={"code": "server_error", "message": "Try again."}), r"\(server_error\): Try"),
        (response(status="queued"), "its status is 'queued'"),
        (response(status=3), "status must be a text"),
        ({"object": "response", "output": None}, "output must be a list"),
    ],
)
def test_a_reply_without_an_answer_says_why(write, reply, words):
    with pytest.raises(TableError, match=words):
        only(write(reply))


def test_both_names_may_be_given(write):
    path = write(response(message(text("Paris"))))
    assert only(path, kind="openai-responses")[0].greedy.text == "Paris"
    with pytest.raises(TableError, match="choices must be a list"):
        only(path, kind="openai")
