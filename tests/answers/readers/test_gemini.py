"""Replies of Gemini."""

import math

import pytest

from vecuq.answers import read_answers, record_of
from vecuq.errors import TableError


def candidate(text, *steps, **more):
    chosen = [{"token": token, "tokenId": 1, "logProbability": value} for token, value in steps]
    result = {"logprobsResult": {"chosenCandidates": chosen}} if chosen else {}
    return {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", **result, **more}


def snake(value):
    """Spell the names as the Python package does."""
    if isinstance(value, list):
        return [snake(one) for one in value]
    if not isinstance(value, dict):
        return value
    spelt = {name: "".join(f"_{one.lower()}" if one.isupper() else one for one in name) for name in value}
    return {spelt[name]: snake(one) for name, one in value.items()}


def test_tokens_and_their_entropies_in_either_spelling(only):
    top = [{"token": "Paris", "logProbability": math.log(0.5)}, {"token": "Rome", "logProbability": math.log(0.25)}]
    row = {"candidates": [candidate("Paris\n", ("Paris", math.log(0.5)))], "modelVersion": "g", "responseId": "r"}
    row["candidates"][0]["logprobsResult"]["topCandidates"] = [{"candidates": top}]
    record = only(row)
    assert (record.greedy.text, record.greedy.finish, record.model) == ("Paris", "stop", "g")
    assert record.greedy.logprobs == (math.log(0.5),)
    assert record.greedy.entropies == pytest.approx((0.5 * math.log(2) + 0.25 * math.log(4),), abs=1e-6)
    assert only(snake(row)).greedy == record.greedy


def test_several_candidates_are_samples(only):
    record = only({"candidates": [candidate("Paris", ("Paris", -0.5)), candidate("Lyon", ("Lyon", -2.0))]})
    assert [(one.text, one.logprobs) for one in record.samples] == [("Paris", (-0.5,)), ("Lyon", (-2.0,))]


def test_thoughts_are_no_text_and_their_tokens_are_left_out(read):
    row = candidate("Paris", ("Hm", -3.0), (".", -3.0), ("Paris", -0.5))
    row["content"]["parts"].insert(0, {"text": "Hm.", "thought": True})
    (record,), notes = read({"candidates": [row]})
    assert (record.greedy.text, record.greedy.logprobs) == ("Paris", (-0.5,))
    assert "reasoning" in notes


def test_log_probs_of_another_text_are_left_out(read):
    (record,), notes = read({"candidates": [candidate("It is 42", ("4", -0.5), ("1", -1.5))]})
    assert record.greedy.logprobs is None
    assert "left out" in notes


def test_the_mean_log_prob_and_the_number_of_tokens_give_the_total(read):
    row = {"candidates": [candidate("Paris", avgLogprobs=-0.25)], "usageMetadata": {"candidatesTokenCount": 4}}
    (record,), notes = read(row)
    assert (record.greedy.total_logprob, record.greedy.logprobs) == (-1.0, None)
    assert "the mean log-prob" in notes
    row["usageMetadata"]["thoughtsTokenCount"] = 9
    assert read(row)[0][0].greedy.total_logprob is None


def test_lines_of_a_batch_have_their_key_and_their_question(only):
    request = {"contents": [{"parts": [{"text": "Capital?"}]}], "generationConfig": {"temperature": 0}}
    record = only({"key": "a", "request": request, "response": {"candidates": [candidate("Paris")]}})
    assert (record.id, record.question, record.greedy.text) == ("a", "Capital?", "Paris")


def test_a_refused_prompt_says_why(only):
    with pytest.raises(TableError, match=r"the prompt was refused \(SAFETY\)"):
        only({"promptFeedback": {"blockReason": "SAFETY"}})


def test_a_candidate_without_text_is_left_out_and_named(read):
    blocked = {"content": {}, "finishReason": "SAFETY"}
    (record,), notes = read({"id": "a", "candidates": [candidate("Paris"), blocked]})
    assert record.greedy.text == "Paris"
    assert "left out: generation ended with safety" in notes
    with pytest.raises(TableError, match="generation ended with safety"):
        read({"candidates": [blocked]})


def test_a_function_call_is_its_name_and_arguments(only):
    call = {"functionCall": {"name": "weather", "args": {"city": "Paris"}}}
    answer = only({"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]}).greedy
    assert (answer.text, answer.finish) == ('weather({"city": "Paris"})', "tool_calls")


def test_a_piece_of_a_stream_in_memory_is_refused_with_what_to_do():
    with pytest.raises(TableError, match=r"a piece of a streamed answer .* give all pieces in one file"):
        record_of({"responseId": "r", "candidates": [{"content": {"parts": [{"text": "Par"}]}, "index": 0}]})


def test_a_mean_log_prob_is_no_total_where_the_model_thought(only):
    counted = candidate("Paris", avgLogprobs=-0.25, tokenCount=4)
    assert only({"candidates": [counted]}).greedy.logprob == -1.0
    usage = {"candidatesTokenCount": 4, "thoughtsTokenCount": 9}
    assert only({"candidates": [counted], "usageMetadata": usage}).greedy.logprob is None
    shown = {**counted, "content": {"parts": [{"text": "Hm", "thought": True}, {"text": "Paris"}]}}
    assert only({"candidates": [shown]}).greedy.logprob is None


def test_the_input_of_a_batch_brings_its_questions(write):
    request = {"contents": [{"parts": [{"text": "Capital?"}], "role": "user"}]}
    asked = write({"key": "a", "request": request}, name="input.jsonl")
    replies = write({"key": "a", "response": {"candidates": [candidate("Paris")]}}, name="replies.jsonl")
    (record,) = read_answers([replies, asked], strict=True)
    assert (record.id, record.question, record.greedy.text) == ("a", "Capital?", "Paris")
