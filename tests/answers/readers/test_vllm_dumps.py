"""vLLM's RequestOutput as people dump it."""


def test_the_log_probs_of_the_prompt_are_not_those_of_the_answer(only):
    step = {"5": {"logprob": -0.5, "rank": 1, "decoded_token": " Paris"}}
    record = only(
        {
            "request_id": "0",
            "prompt": "Capital?",
            "prompt_token_ids": [1, 9],
            "prompt_logprobs": [None, {"9": {"logprob": -7.0, "rank": 3, "decoded_token": "?"}}],
            "outputs": [
                {
                    "index": 0,
                    "text": " Paris",
                    "token_ids": [5],
                    "cumulative_logprob": -0.5,
                    "logprobs": [step],
                    "finish_reason": "length",
                    "stop_reason": None,
                }
            ],
            "finished": True,
            "metrics": None,
        }
    )
    assert (record.question, record.greedy.text, record.greedy.logprobs) == ("Capital?", "Paris", (-0.5,))


def test_the_server_s_prompt_log_probs_are_not_counted_in(only):
    chosen = {"token": "Paris", "logprob": -0.5, "bytes": None, "top_logprobs": []}
    choice = {"message": {"content": "Paris"}, "logprobs": {"content": [chosen]}, "finish_reason": "stop"}
    row = {"choices": [choice], "prompt_logprobs": [None, {"9": {"logprob": -7.0, "decoded_token": "?"}}]}
    assert only(row).greedy.logprobs == (-0.5,)


def test_outputs_that_are_plain_texts_are_texts_beside_a_prompt(only):
    record = only({"prompt": "Capital?", "outputs": ["Paris", "Lyon"]})
    assert [one.text for one in record.samples] == ["Paris", "Lyon"]
