"""Messages of Anthropic, and results of its batches."""

import pytest

from vecuq.answers import read_answers
from vecuq.errors import TableError

TEXT = {"type": "text", "text": "Paris"}


def message(*content, **more):
    return {"id": "msg_1", "type": "message", "role": "assistant", "content": list(content), "model": "m", **more}


def test_a_message_is_its_text_and_says_that_it_has_no_log_probs(read):
    (record,), notes = read(message(TEXT, {"type": "text", "text": " it is"}, stop_reason="max_tokens"))
    assert (record.id, record.greedy.text, record.greedy.finish) == ("1", "Paris it is", "length")
    assert record.greedy.logprobs is None
    assert "Anthropic returns no log-probs" in notes


def test_a_question_with_samples_counts_once_in_the_note(read):
    _, notes = read({"question": "Capital?", "response": message(TEXT), "samples": [message(TEXT), message(TEXT)]})
    assert notes.startswith("1 answer: Anthropic returns no log-probs")


def test_reasoning_is_no_text(only):
    thought = {"type": "thinking", "thinking": "Lyon? No.", "signature": "s"}
    assert only(message(thought, {"type": "redacted_thinking", "data": "x"}, TEXT)).greedy.text == "Paris"
    with pytest.raises(TableError, match="reasoning alone"):
        only(message(thought, stop_reason="max_tokens"))


def test_a_tool_call_is_its_name_and_its_input(only):
    call = {"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Paris"}}
    answer = only(message(call, stop_reason="tool_use")).greedy
    assert (answer.text, answer.finish) == ('weather({"city": "Paris"})', "tool_calls")


@pytest.mark.parametrize(
    ("content", "reason", "why"),
    [([], "refusal", "the model refused"), ([{"type": "server_tool_use"}], "pause_turn", "no text")],
)
def test_a_message_without_text_is_no_empty_answer(only, content, reason, why):
    with pytest.raises(TableError, match=f"has no text: .*{why}"):
        only(message(*content, stop_reason=reason))


def test_an_empty_message_that_just_ended_is_an_empty_answer(only):
    for content in ([], [{"type": "text", "text": ""}]):
        assert only(message(*content, stop_reason="end_turn")).greedy.text == ""


def test_samples_of_a_batch_are_joined_by_custom_id(only, write):
    rows = [{"custom_id": "a", "result": {"type": "succeeded", "message": message(TEXT)}} for _ in range(2)]
    (record,) = read_answers(write(*rows), strict=True)
    assert (record.id, record.greedy, [one.text for one in record.samples]) == ("a", None, ["Paris", "Paris"])


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ({"type": "expired"}, "was expired; the batch has no answer to it."),
        ({"type": "canceled"}, "was canceled"),
        (
            {"type": "errored", "error": {"type": "error", "error": {"type": "api_error"}}},
            r"was errored.*\(api_error\)",
        ),
    ],
)
def test_a_request_that_failed_is_named(only, result, why):
    with pytest.raises(TableError, match=why):
        only({"custom_id": "a", "result": result})


def test_a_request_beside_the_message_brings_question_and_temperature(only):
    asked = [{"role": "user", "content": [{"type": "text", "text": "Capital?"}]}]
    request = {"messages": asked, "temperature": 0, "system": "Be brief."}
    record = only({"id": 4, "request": request, "response": message(TEXT)})
    assert (record.id, record.question, record.greedy.text, record.model) == ("4", "Capital?", "Paris", "m")


def test_the_input_of_a_batch_brings_questions_and_temperatures(write):
    params = {"model": "c", "messages": [{"role": "user", "content": "Capital?"}], "temperature": 0}
    message = {"type": "message", "content": [{"type": "text", "text": "Paris"}], "stop_reason": "end_turn"}
    asked = write({"custom_id": "a", "params": params}, {"custom_id": "b", "params": params}, name="input.jsonl")
    results = write({"custom_id": "a", "result": {"type": "succeeded", "message": message}}, name="results.jsonl")
    reader = read_answers([results, asked], strict=True)
    assert [(one.id, one.question, one.greedy.text) for one in reader] == [("a", "Capital?", "Paris")]
    assert "1 question without an answer" in " ".join(reader.notes)
