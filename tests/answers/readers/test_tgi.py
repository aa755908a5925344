"""Replies of text-generation-inference."""

import math

import pytest

from vecuq.errors import TableError


def token(text, logprob, special=False):
    return {"id": 7, "text": text, "logprob": logprob, "special": special}


def reply(text, tokens, **details):
    return {"generated_text": text, "details": {"finish_reason": "eos_token", "tokens": tokens, **details}}


def test_the_special_token_at_the_end_is_no_part_of_the_text(only):
    tokens = [token(" It", -0.5), token(" is", -0.25), token("<odd mark>", -0.1, special=True)]
    answer = only(reply(" It is", tokens)).greedy
    assert (answer.text, answer.logprobs, answer.n_end, answer.finish) == ("It is", (-0.5, -0.25, -0.1), 1, "stop")
    assert answer.text_logprobs == (-0.5, -0.25)


def test_a_special_token_within_the_text_is_not_counted_in(read):
    tokens = [token("It", -0.5), token("<tool>", -9.0, special=True), token(" is", -0.25)]
    (record,), notes = read(reply("It is", tokens))
    assert record.greedy.logprobs == (-0.5, -0.25)
    assert "Special tokens" in notes


def test_top_tokens_give_entropies(only):
    top = [{"id": 1, "text": "a", "logprob": math.log(0.5)}, {"id": 2, "text": "b", "logprob": math.log(0.25)}]
    answer = only(reply("a", [token("a", math.log(0.5))], top_tokens=[top])).greedy
    assert answer.entropies == pytest.approx((0.5 * math.log(2) + 0.25 * math.log(4),), abs=1e-6)
    assert answer.entropy_top_k == 2


def test_further_sequences_are_samples_of_the_same_question(only):
    other = {"generated_text": "Lyon", "finish_reason": "length", "tokens": [token("Lyon", -2.0)]}
    record = only(reply("Paris", [token("Paris", -0.5)], best_of_sequences=[other], seed=3))
    assert record.greedy is None
    assert [(one.text, one.logprobs, one.finish) for one in record.samples] == [
        ("Paris", (-0.5,), "stop"),
        ("Lyon", (-2.0,), "length"),
    ]


@pytest.mark.parametrize(("more", "is_greedy"), [({"seed": None}, True), ({"seed": 5}, False), ({}, True)])
def test_a_seed_says_that_the_answer_was_sampled(only, more, is_greedy):
    record = only(reply("Paris", [token("Paris", -0.5)], **more))
    assert (record.greedy is not None) is is_greedy


def test_a_text_that_begins_with_its_prompt_loses_it(read):
    (record,), notes = read(reply("Capital of France? Paris", [token(" Paris", -0.5)]))
    assert (record.greedy.text, record.greedy.logprobs) == ("Paris", (-0.5,))
    assert "return_full_text" in notes


def test_tokens_that_spell_another_text_are_left_out(read):
    (record,), notes = read(reply("Rome", [token("Paris", -0.5)]))
    assert (record.greedy.text, record.greedy.logprobs) == ("Rome", None)
    assert "left out" in notes


def test_the_list_that_a_pipeline_wraps_around_one_reply_is_opened(only):
    assert only([reply("Paris", [token("Paris", -0.5)])]).greedy.logprobs == (-0.5,)


def test_a_list_of_replies_is_a_list_of_questions(read):
    rows = [{**reply(text, [token(text, -0.5)]), "inputs": f"{text}?"} for text in ("Paris", "Rome")]
    records, _ = read(rows, name="replies.json")
    assert [(one.question, one.greedy.text) for one in records] == [("Paris?", "Paris"), ("Rome?", "Rome")]


def test_a_request_beside_the_reply_brings_question_and_temperature(only):
    request = {"inputs": "Capital?", "parameters": {"temperature": 0.7}}
    record = only({"id": "a", "request": request, "response": reply("Paris", [token("Paris", -0.5)], seed=None)})
    assert (record.id, record.question, record.greedy, record.samples[0].text) == ("a", "Capital?", None, "Paris")


def test_details_without_tokens_leave_the_text(only):
    answer = only(reply("Paris", [])).greedy
    assert (answer.text, answer.logprobs, answer.total_logprob) == ("Paris", None, None)


def test_a_token_without_a_log_prob_is_an_error(only):
    with pytest.raises(TableError, match="a log-prob must be a number"):
        only(reply("Paris", [token("Paris", None)]))
