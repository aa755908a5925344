"""What holds for the tokens of one server holds for those of every other."""

import pytest

from vecuq.answers import record_of
from vecuq.answers.alignment import NOT_OF_THE_TEXT
from vecuq.answers.readers.rows import FROM_TOP

TOP = [{"token": "Paris", "logprob": -0.25}, {"token": "Rome", "logprob": -2.0}]
ROW = {"token": "Paris", "logprob": -9999.0, "top_logprobs": TOP}
PART = {"type": "output_text", "text": "Paris", "logprobs": [ROW]}
CHOSEN = {"token": "Paris", "logProbability": -9999.0}
LIKELY = [{"token": one["token"], "logProbability": one["logprob"]} for one in TOP]
OLDER = {
    "tokens": ["Paris"],
    "token_logprobs": [-9999.0],
    "top_logprobs": [{one["token"]: one["logprob"] for one in TOP}],
}
REPLIES = {
    "chat": {"choices": [{"message": {"content": "Paris"}, "logprobs": {"content": [ROW]}}]},
    "completion": {"choices": [{"text": "Paris", "logprobs": OLDER}]},
    "responses": {"object": "response", "output": [{"type": "message", "content": [PART]}]},
    "ollama": {"message": {"content": "Paris"}, "done": True, "logprobs": [ROW]},
    "llamacpp": {"content": "Paris", "stop_type": "eos", "completion_probabilities": [ROW]},
    "gemini": {
        "candidates": [
            {
                "content": {"parts": [{"text": "Paris"}]},
                "finishReason": "STOP",
                "logprobsResult": {"chosenCandidates": [CHOSEN], "topCandidates": [{"candidates": LIKELY}]},
            }
        ]
    },
    "tgi": {
        "generated_text": "Paris",
        "details": {
            "tokens": [{"text": "Paris", "logprob": -9999.0, "special": False}],
            "top_tokens": [[{"text": one["token"], "logprob": one["logprob"]} for one in TOP]],
        },
    },
    "sglang": {
        "text": "Paris",
        "meta_info": {
            "finish_reason": {"type": "stop"},
            "output_token_logprobs": [[-9999.0, 1, "Paris"]],
            "output_top_logprobs": [[[one["logprob"], 1, one["token"]] for one in TOP]],
        },
    },
    "uqlm": {"prompt": "q", "response": "Paris", "sampled_responses": [], "logprobs": [ROW]},
    "huggingface": {"generated_text": "Paris", "logprobs": [ROW]},
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_log_prob_of_minus_9999_is_corrected_from_the_most_likely_tokens(name):
    record = record_of(REPLIES[name])
    assert record.greedy.logprobs == (-0.25,)
    assert FROM_TOP in record.meta["notes"]


def altered(value):
    """Return a reply with another text, whose tokens are as before."""
    if isinstance(value, dict):
        texts = ("content", "text", "generated_text", "response")
        is_token = "logprob" in value
        return {
            name: "Lyon" if name in texts and one == "Paris" and not is_token else altered(one)
            for name, one in value.items()
        }
    return [altered(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", REPLIES)
def test_log_probs_of_another_text_are_left_out(name):
    record = record_of(altered(REPLIES[name]))
    assert (record.greedy.text, record.greedy.logprobs, record.greedy.entropies) == ("Lyon", None, None)
    assert record.meta["notes"] == [NOT_OF_THE_TEXT]


def test_the_marks_of_tokenizers_become_blanks_unless_the_text_has_these_letters():
    def tokens(text, *pieces):
        rows = [{"token": one, "logprob": -0.5} for one in pieces]
        return record_of({"message": {"content": text}, "done": True, "logprobs": rows}).greedy.tokens

    assert tokens("It is", "\u2581It", "\u2581is") == (" It", " is")
    assert tokens("\u0120gantija", "\u0120", "gantija") == ("\u0120", "gantija")
