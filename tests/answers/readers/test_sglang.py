"""Replies of SGLang's /generate."""

import math

import pytest

from vecuq.errors import TableError


def reply(text, tokens, reason=None, **info):
    finish = {"type": "stop", "matched": 2} if reason is None else reason
    return {"text": text, "meta_info": {"id": "0f", "finish_reason": finish, "output_token_logprobs": tokens, **info}}


def test_tokens_without_text_are_counted_by_their_ids(only):
    answer = only(reply(" Paris", [[-0.5, 11, None], [-0.25, 2, None]])).greedy
    assert (answer.text, answer.tokens, answer.logprobs, answer.n_end) == ("Paris", None, (-0.5, -0.25), 1)


def test_entries_of_two_numbers_are_read(only):
    answer = only(reply("Paris", [[-0.5, 11], [-0.25, 12]], {"type": "length", "length": 2})).greedy
    assert (answer.logprobs, answer.n_end, answer.finish) == ((-0.5, -0.25), 0, "length")


def test_a_matched_id_that_is_not_the_last_token_ends_nothing(only):
    assert only(reply("Paris", [[-0.5, 2, None], [-0.25, 12, None]])).greedy.n_end == 0


def test_the_tokens_of_a_stop_string_are_found_by_their_text(only):
    tokens = [[-0.5, 11, " Paris"], [-0.25, 12, "\n"], [-0.125, 13, "Q:"]]
    answer = only(reply(" Paris", tokens, {"type": "stop", "matched": "\nQ:"})).greedy
    assert (answer.text_logprobs, answer.n_end) == ((-0.5,), 2)


def test_a_stop_string_without_the_text_of_tokens_leaves_no_log_probs(read):
    (record,), notes = read(reply("Paris", [[-0.5, 11, None], [-0.25, 12, None]], {"type": "stop", "matched": "Q"}))
    assert (record.greedy.text, record.greedy.logprobs) == ("Paris", None)
    assert "return_text_in_logprobs" in notes


def test_top_log_probs_give_entropies_where_every_step_has_two(only):
    top = [[math.log(0.5), 11, None], [math.log(0.25), 12, None]]
    tokens = [[math.log(0.5), 11, None]]
    answer = only(reply("a", tokens, {"type": "length"}, output_top_logprobs=[top])).greedy
    assert answer.entropies == pytest.approx((0.5 * math.log(2) + 0.25 * math.log(4),), abs=1e-6)
    assert only(reply("a", tokens, {"type": "length"}, output_top_logprobs=[top[:1]])).greedy.entropies is None


def test_a_prompt_and_a_temperature_beside_the_reply_count(only):
    record = only({**reply("Paris", []), "prompt": "Capital?", "sampling_params": {"temperature": 0.8}})
    assert (record.question, [one.text for one in record.samples]) == ("Capital?", ["Paris"])


def test_a_request_that_the_server_gave_up_has_no_answer(only):
    with pytest.raises(TableError, match="gave this request up"):
        only(reply("", [], {"type": "abort", "message": "x"}))


def test_a_token_that_is_no_list_is_an_error(only):
    with pytest.raises(TableError, match="a token must be a list"):
        only(reply("Paris", [-0.5]))
