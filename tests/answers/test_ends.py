"""Where an answer ends: the tokens that ended it, and the padding of a batch."""

import json
import math

import pytest

from vecuq.answers import read_answers
from vecuq.answers.alignment import aligned
from vecuq.measures.text import measure_answer


def only(path, **options):
    (record,) = read_answers(path, strict=True, **options)
    return record


@pytest.mark.parametrize(
    ("text", "tokens", "finish", "expected"),
    [
        ("Paris", ["Paris", "<|im_end|>"], "stop", 1),
        (" Paris", [" Paris", ""], "stop", 1),
        ("It is Paris", ["It", "is", "Paris", "</s>"], "stop", 1),
        ("It is", ["\u2581It", "\u2581is", "</s>"], "stop", 1),
        ("Paris", ["Paris"], "stop", 0),
        ("Paris\n", ["Paris", "\n"], "stop", 0),
        ("Paris", ["Paris", "\n"], "stop", 1),
        ("Paris", ["Paris", "\n", "Q", ":"], "stop", 3),
        ("Par", ["Par", "is"], "length", None),
        ("Rome", ["Par", "is"], "stop", None),
        ("caf\u00e9", ["caf\u00c3\u00a9", "</s>"], "stop", 1),
        ("Paris", ["Paris", "<|im_end|>"], None, 1),
        ("", ["</s>"], "stop", 1),
    ],
)
def test_the_tokens_beyond_the_text_ended_it(text, tokens, finish, expected):
    found = aligned(text, tokens, finish=finish)
    assert (None if found is None else found.n_end) == expected


def server_choice(text, logprob):
    tokens = [(text, logprob), ("<|im_end|>", -0.05)]
    content = [{"token": token, "logprob": value, "top_logprobs": []} for token, value in tokens]
    return {"message": {"content": text}, "logprobs": {"content": content}, "finish_reason": "stop"}


def test_a_server_s_end_of_sequence_is_no_token_of_the_text(write):
    row = {"id": "q", "temperature": 1, "choices": [server_choice("Paris", -0.1), server_choice("Lyon", -2.0)]}
    record = only(write(row))
    assert [sample.n_end for sample in record.samples] == [1, 1]
    found = measure_answer(record, ["sequence_entropy_normalised"]).values
    assert found["sequence_entropy_normalised"] == pytest.approx((0.15 + 2.05) / 2)


def test_the_older_completions_keep_their_end_out_of_the_text_too(write):
    told = {"tokens": [" Paris", "</s>"], "token_logprobs": [-0.1, -0.2]}
    row = {"id": "q", "choices": [{"text": " Paris", "logprobs": told, "finish_reason": "stop"}]}
    assert only(write(row)).greedy.text_logprobs == (-0.1,)


def vllm_line(text, tokens, **more):
    steps = [{str(k): {"logprob": -0.1, "decoded_token": token}} for k, token in enumerate(tokens)]
    output = {"text": text, "token_ids": list(range(len(tokens))), "logprobs": steps, "finish_reason": "stop", **more}
    return {"id": "q", "outputs": [output]}


@pytest.mark.parametrize(
    ("tokens", "more", "expected"),
    [
        (["It", "is", "Paris", "</s>"], {}, 1),
        (["It", "is", "Paris", "end"], {"stop_reason": None}, 1),
        (["It", "is", "Paris", "Q", ":"], {"stop_reason": "Q:"}, 2),
        (["It", " is", " Paris"], {"stop_reason": None}, 0),
    ],
)
def test_tokens_of_vllm_after_the_text_ended_it(write, tokens, more, expected):
    assert only(write(vllm_line("It is Paris", tokens, **more))).greedy.n_end == expected


LINE = {"id": 1, "generated_texts": ["It is Paris", "Lyon"], "do_sample": True}
PIECES = [["\u2581It", "\u2581is", "\u2581Paris", "</s>"], ["\u2581Lyon", "</s>", "<pad>", "<pad>"]]
IDS = [[5, 6, 7, 2], [8, 2, 0, 0]]


def scores(padding):
    return [[-0.1, -0.2, -0.3, -0.05], [-1.0, -0.05, *padding]]


@pytest.mark.parametrize("padding", [(0.0, 0.0), (-3.5, -7.25), (None, None), (-math.inf, -math.inf)])
@pytest.mark.parametrize(
    "told",
    [
        {"tokens": PIECES},
        {"tokens": [[piece.replace("<pad>", "</s>") for piece in row] for row in PIECES]},
        {"token_ids": IDS, "eos_token_id": 2, "pad_token_id": 0},
        {"token_ids": IDS, "generation_config": {"eos_token_id": [2, 3]}},
        {"sequences": [[9, 9, 9, *row] for row in IDS], "eos_token_id": 2},
        {"tokens": IDS, "eos_token_id": 2},
    ],
    ids=["pad", "eos as pad", "ids", "config", "with the prompt", "ids as tokens"],
)
def test_a_padded_batch_is_cut_where_its_tokens_or_ids_end(write, padding, told):
    entropies = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0, 0]]
    row = {**LINE, **told, "transition_scores": scores(padding), "entropies": entropies}
    record = only(write(json.dumps(row)))
    assert [sample.logprobs for sample in record.samples] == [(-0.1, -0.2, -0.3, -0.05), (-1.0, -0.05)]
    assert [sample.n_end for sample in record.samples] == [1, 1]
    assert record.samples[1].entropies == (0.5, 0.1)
    found = measure_answer(record, ["sequence_entropy_normalised"]).values
    assert found["sequence_entropy_normalised"] == pytest.approx((0.65 / 3 + 1.05) / 2)


def test_zeros_at_the_end_are_padding_only_in_a_matrix_of_which_nothing_else_is_known(write):
    record = only(write({**LINE, "transition_scores": scores((0.0, 0.0))}))
    assert record.samples[1].logprobs == (-1.0, -0.05)
    alone = only(write({"id": 1, "generated_text": "Lyon", "transition_scores": [-1.0, 0.0]}))
    assert alone.greedy.logprobs == (-1.0, 0.0)
    pieces = [PIECES[0], ["\u2581Ly", "on", "!", "</s>"]]
    known = only(write({**LINE, "tokens": pieces, "transition_scores": scores((0.0, 0.0))}))
    assert known.samples[1].logprobs == (-1.0, -0.05, 0.0, 0.0)


def test_pieces_of_sentencepiece_become_the_text_that_they_spell(write):
    record = only(write({**LINE, "tokens": PIECES, "transition_scores": scores((0.0, 0.0))}))
    assert record.samples[0].tokens == (" It", " is", " Paris", "</s>")


@pytest.mark.parametrize("told", [None, True])
def test_entropies_count_as_renormalised_only_if_the_dump_says_so(write, told):
    row = {"id": 1, "text": "Paris", "entropies": [0.4], "entropy_top_k": 50, "entropy_renormalised": told}
    greedy = only(write(row), renormalise=True).greedy
    assert (greedy.entropy_top_k, greedy.entropy_renormalised) == (50, told is True)
