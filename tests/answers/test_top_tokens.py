"""What the most likely tokens of a reply say: from the raw log-probs to the measures, computed by hand beside them."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.answers import AnswerRecord, read_answers
from vecuq.answers.tokens import LEAST_LOGPROB, known_of_top
from vecuq.measures.text import measure_answer

TOPS = [[-0.1, -2.5, -4.0], [-0.7, -0.9, -3.0], [-0.01, -5.0, -9.0]]


def reply(tops):
    steps = [
        {
            "token": f" w{number}",
            "logprob": top[0],
            "top_logprobs": [{"token": f"t{rank}", "logprob": value} for rank, value in enumerate(top)],
        }
        for number, top in enumerate(tops)
    ]
    text = "".join(step["token"] for step in steps)
    choice = {"message": {"content": text}, "logprobs": {"content": steps}, "finish_reason": "length"}
    return {"custom_id": "q", "temperature": 0, "choices": [choice]}


def written(folder, tops):
    path = folder / "replies.jsonl"
    path.write_text(json.dumps(reply(tops)) + "\n")
    return path


def test_a_reply_with_top_log_probs_has_the_values_of_uqlm_and_of_self_certainty(tmp_path):
    (record,) = read_answers(written(tmp_path, TOPS))
    found = measure_answer(record).values
    p = np.exp(TOPS)
    assert found["min_token_probability"] == pytest.approx(1 - p[:, 0].min())  # uqlm: min_probability
    assert found["token_margin"] == pytest.approx(1 - (p[:, 0] - p[:, 1]).mean(), abs=1e-6)  # probability_margin
    entropies = -(p * np.log(p)).sum(axis=1)
    negentropies = 1 - entropies / np.log(3)
    assert found["top_k_negentropy"] == pytest.approx(1 - negentropies.min(), abs=1e-6)  # min_token_negentropy
    assert found["max_token_entropy"] == pytest.approx(entropies.max(), abs=1e-6)
    q = p / p.sum(axis=1, keepdims=True)
    assert found["self_certainty"] == pytest.approx(np.mean(np.log(3 * q)), abs=1e-6)


def test_whether_entropies_are_renormalised_changes_neither_margins_nor_certainties(tmp_path):
    plain, renormalised = (
        next(iter(read_answers(written(tmp_path, TOPS), renormalise=choice))).greedy for choice in (False, True)
    )
    assert plain.entropies != renormalised.entropies
    assert (plain.margins, plain.certainties) == (renormalised.margins, renormalised.certainties)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.floats(-2000, 0.009), min_size=2, max_size=5), min_size=1, max_size=5))
def test_whatever_log_probs_come_the_record_is_valid(tops):
    known = known_of_top(tops, len(tops), renormalise=False)
    record = AnswerRecord(**{"id": "q", "greedy": {"text": "x", **known}})
    assert all(0 <= one <= 1 for one in record.greedy.margins)
    assert all(0 <= one < math.inf for one in record.greedy.certainties)


def test_a_log_prob_that_stands_for_any_tiny_one_leaves_no_certainties():
    known = known_of_top([[-0.1, LEAST_LOGPROB], [-0.2, -3.0]], 2, renormalise=False)
    assert "certainties" not in known
    assert known["margins"][0] == pytest.approx(math.exp(-0.1), abs=1e-6)


def test_one_token_a_step_or_a_step_too_few_says_nothing():
    assert known_of_top([[-0.1], [-0.1, -3.0]], 2, renormalise=False) == {}
    assert known_of_top([[-0.1, -3.0]], 2, renormalise=False) == {}


def test_what_a_model_says_of_its_answer_is_kept_when_files_are_joined(tmp_path):
    stated = {"p_true": 0.75, "confidence": 0.9, "confidence_words": "likely"}
    one = AnswerRecord(**{"id": "q", "greedy": {"text": "Paris"}, **stated})
    other = AnswerRecord(**{"id": "q", "samples": [{"text": "Paris"}, {"text": "Lyon"}]})
    for name, record in (("greedy", one), ("samples", other)):
        (tmp_path / f"{name}.jsonl").write_text(record.to_line() + "\n")
    (joined,) = read_answers(tmp_path / "greedy.jsonl", samples=tmp_path / "samples.jsonl")
    assert (joined.p_true, joined.confidence, joined.confidence_words) == (0.75, 0.9, "likely")
    found = measure_answer(joined, ["p_true", "verbalised_confidence", "linguistic_confidence"]).values
    assert found == pytest.approx({"p_true": 0.25, "verbalised_confidence": 0.1, "linguistic_confidence": 0.3})


def test_margins_and_certainties_of_hidden_tokens_are_cut_as_entropies_are(tmp_path):
    whole = reply(TOPS)
    whole["choices"][0]["message"] = {"content": " w2", "reasoning_content": " w0 w1"}
    (tmp_path / "replies.jsonl").write_text(json.dumps(whole) + "\n")
    (record,) = read_answers(tmp_path / "replies.jsonl")
    known = known_of_top(TOPS[2:], 1, renormalise=False)
    assert record.greedy.tokens == (" w2",)
    for name in ("entropies", "margins", "certainties"):
        assert getattr(record.greedy, name) == known[name]
