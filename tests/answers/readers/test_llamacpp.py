"""Replies of llama.cpp's server."""

import math

import pytest

from vecuq.errors import TableError


def row(token, logprob, **more):
    return {"id": 7, "token": token, "bytes": list(token.encode()), "logprob": logprob, "top_logprobs": [], **more}


def older(token, *probs):
    return {"content": token, "probs": [{"tok_str": name, "prob": prob} for name, prob in probs]}


def reply(content, steps, **more):
    return {"content": content, "stop": True, "stop_type": "eos", "completion_probabilities": steps, **more}


def test_log_probs_and_the_empty_end_token(only):
    settings = {"generation_settings": {"temperature": 0.0}, "prompt": "Capital?", "model": "m.gguf"}
    record = only(reply(" Paris", [row(" Paris", -0.5), row("", -0.25)], **settings))
    assert (record.question, record.model, record.greedy.finish) == ("Capital?", "m.gguf", "stop")
    assert (record.greedy.logprobs, record.greedy.n_end) == ((-0.5, -0.25), 1)


def test_a_temperature_in_the_settings_makes_a_sample(only):
    record = only(reply("Paris", [], generation_settings={"temperature": 0.8}))
    assert (record.greedy, record.samples[0].text) == (None, "Paris")


def test_parts_of_a_character_are_matched_by_their_bytes(only):
    first, second = "é".encode()[:1], "é".encode()[1:]
    steps = [row("�", -0.5, bytes=list(first)), row("�", -0.25, bytes=list(second)), row("t", -0.125)]
    assert only(reply("ét", steps)).greedy.logprobs == (-0.5, -0.25, -0.125)


def test_probabilities_of_older_servers_become_log_probs(read):
    steps = [older(" Paris", (" Paris", 0.5), (" Rome", 0.25)), older("", ("", 1.0), ("x", 0.0))]
    (record,), notes = read(reply(" Paris", steps, stop_type=None, stopped_eos=True))
    assert record.greedy.logprobs == pytest.approx((math.log(0.5), 0.0))
    assert record.greedy.entropies == pytest.approx((0.5 * math.log(2) + 0.25 * math.log(4), 0.0), abs=1e-6)
    assert (record.greedy.n_end, record.greedy.finish) == (1, "stop")
    assert "not those of the model" in notes
    assert "not those of the model" not in read(reply(" Paris", steps, generation_settings={"temperature": 0}))[1]


def test_a_token_that_older_servers_do_not_list_is_an_error(only):
    with pytest.raises(TableError, match="larger n_probs"):
        only(reply("Paris", [older("Paris", ("Rome", 0.5))]))


@pytest.mark.parametrize("prob", [-0.1, 1.5, "0.5", None, True])
def test_what_is_no_probability_is_an_error(only, prob):
    with pytest.raises(TableError, match="between 0 and 1"):
        only(reply("Paris", [older("Paris", ("Paris", prob))]))


def test_probabilities_after_sampling_are_left_out(read):
    steps = [{"id": 7, "token": "Paris", "prob": 1.0, "top_probs": [{"token": "Paris", "prob": 1.0}]}]
    (record,), notes = read(reply("Paris", steps))
    assert (record.greedy.text, record.greedy.logprobs) == ("Paris", None)
    assert "post_sampling_probs" in notes


def test_a_piece_of_a_stream_is_refused_with_what_to_do(only):
    with pytest.raises(TableError, match='"stream": false'):
        only({"content": " Par", "stop": False, "tokens_predicted": 1})
