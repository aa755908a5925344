import math

import pytest

from vecuq.ask import Endpoint, Plan, Question
from vecuq.errors import SettingError, VecuqError

ASKED = Question("q1", "why")
PLAN = Plan(samples=3, temperature=0.7, max_tokens=9, stop=("\n",), system="Be brief.")


def ready(server, **settings):
    endpoint = Endpoint(server.url, "tiny", **settings)
    endpoint._pause = lambda seconds: None
    return endpoint


def test_one_greedy_answer_and_all_samples_take_two_requests(server):
    greedy, samples = ready(server).answer(ASKED, PLAN)
    assert greedy.text == "why 0"
    assert len({sample.text for sample in samples}) == 3
    (_, _, first), (_, _, second) = server.requests
    assert first["temperature"] == 0
    assert (second["temperature"], second["n"]) == (0.7, 3)
    assert first["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "why"}]
    assert (first["max_tokens"], first["stop"], first["top_logprobs"]) == (9, ["\n"], 20)


def test_a_server_that_gives_one_choice_at_a_time_is_asked_once_per_sample(server):
    server.most_choices = 1
    endpoint = ready(server)
    _, samples = endpoint.answer(ASKED, PLAN)
    assert len({sample.text for sample in samples}) == 3
    endpoint.answer(ASKED, PLAN)
    assert sum(body.get("n", 1) > 1 for _, _, body in server.requests) == 1


def test_entropies_run_over_the_tokens_that_the_server_tells(server):
    greedy, _ = ready(server).answer(ASKED, PLAN)
    assert greedy.entropy_top_k == 2
    expected = 0.5 * math.exp(-0.5) + 1.5 * math.exp(-1.5)
    assert greedy.entropies == pytest.approx((expected, expected), abs=1e-6)


def test_a_raw_prompt_goes_to_the_older_completions(server):
    greedy, _ = ready(server).answer(ASKED, Plan(samples=0, template="Q: {question}\nA:", raw=True))
    path, _, body = server.requests[0]
    assert path == "/v1/completions"
    assert body["prompt"] == "Q: why\nA:"
    assert (greedy.logprobs, greedy.entropy_top_k) == ((-0.5,) * 4, 2)


def test_a_server_without_log_probs_gives_texts_alone(server):
    server.tells_logprobs = False
    greedy, _ = ready(server, top_logprobs=0).answer(ASKED, PLAN)
    assert (greedy.text, greedy.logprobs, greedy.total_logprob) == ("why 0", None, None)
    assert "logprobs" not in server.requests[0][2]


def test_the_same_seed_asks_for_the_same_samples(server):
    assert ready(server).answer(ASKED, PLAN) == ready(server).answer(ASKED, PLAN)
    assert ready(server).answer(ASKED, PLAN) != ready(server).answer(Question("q2", "why"), PLAN)


def test_the_key_is_sent_and_does_not_follow_a_redirect(server):
    ready(server, api_key="secret").answer(ASKED, Plan(samples=0))
    assert server.requests[0][1]["Authorization"] == "Bearer secret"
    server.script = [(302, {})]
    with pytest.raises(VecuqError, match="HTTP 302"):
        ready(server, api_key="secret").answer(ASKED, PLAN)


def test_a_busy_server_is_asked_again(server):
    server.script = [(429, {"error": "slow down"}), (503, {})]
    greedy, _ = ready(server).answer(ASKED, PLAN)
    assert greedy.text == "why 0"


def test_a_server_that_stays_busy_is_given_up_with_a_hint_to_go_on_later(server):
    server.script = [(503, {"error": "loading"})] * 3
    with pytest.raises(VecuqError, match=r"loading.*Tried 3 times; run the same command again"):
        ready(server, tries=3).answer(ASKED, PLAN)


@pytest.mark.parametrize(
    ("code", "content", "told"),
    [
        (401, {"error": "no key"}, "--api-key-env"),
        (404, {"error": "no such model"}, "no such model"),
        (200, b"<html>", "JSON object"),
        (200, b"[" * 100_000, "JSON object"),
        (200, {"choices": []}, "no choices"),
        (200, {"choices": [{"message": {"content": 5}}]}, "must be a text"),
        (200, {"choices": [{"text": "a", "logprobs": {"content": [{"token": "a", "logprob": 3}]}}]}, "at most 0"),
        (200, {"choices": [{"text": "a", "logprobs": {"content": [{"token": 1, "logprob": -3}]}}]}, "valid string"),
    ],
)
def test_nonsense_from_a_server_is_one_clear_error(server, code, content, told):
    server.script = [(code, content)]
    with pytest.raises(VecuqError, match=told) as caught:
        ready(server).answer(ASKED, PLAN)
    assert len(str(caught.value)) < 500


def test_nobody_there_is_said_at_once(server):
    server.server_close()
    with pytest.raises(VecuqError, match=r"cannot be reached.*Is the server running"):
        Endpoint(server.url, "tiny").answer(ASKED, PLAN)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "localhost:8080", "http://"])
def test_only_http_addresses_are_endpoints(url):
    with pytest.raises(SettingError, match="http://"):
        Endpoint(url, "tiny")
