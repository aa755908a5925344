import math

import pytest

from vecuq.answers.asking import Endpoint, Plan, Question, RefusedQuestionError
from vecuq.errors import SettingError, VecuqError

ASKED = Question("q1", "why")
PLAN = Plan(samples=3, temperature=0.7, max_tokens=9, stop=("\n",), system="Be brief.")


def ready(server, **settings):
    return Endpoint(server.url, "tiny", **settings)


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
    server.most_choices, notes = 1, []
    endpoint = ready(server, on_retry=notes.append)
    _, samples = endpoint.answer(ASKED, PLAN)
    assert len({sample.text for sample in samples}) == 3
    endpoint.answer(ASKED, PLAN)
    assert sum(body.get("n", 1) > 1 for _, _, body in server.requests) == 1
    (note,) = notes
    assert "every sample takes a request of its own" in note


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


@pytest.mark.parametrize(
    ("code", "content", "told"),
    [
        (401, {"error": "no key"}, "Check `api_key`"),
        (404, {"error": "no such model"}, "no such model"),
        (200, b"<html>", "JSON object"),
        (200, b"[" * 100_000, "JSON object"),
        (200, {"choices": []}, "no choices"),
        (200, {"choices": [{"message": {"content": 5}}]}, "must be a text"),
        (200, {"choices": [{"text": "a", "logprobs": {"content": [{"token": "a", "logprob": 3}]}}]}, "at most 0"),
        (200, {"choices": [{"text": "a", "logprobs": {"content": [{"token": 1, "logprob": -3}]}}]}, "must be a text"),
    ],
)
def test_nonsense_from_a_server_is_one_clear_error(server, code, content, told):
    server.script = [(code, content)]
    with pytest.raises(VecuqError, match=told) as caught:
        ready(server).answer(ASKED, PLAN)
    assert len(str(caught.value)) < 500


def test_renormalised_entropies_are_those_of_the_told_tokens_made_to_sum_to_one(server):
    greedy, samples = ready(server, renormalise=True).answer(ASKED, PLAN)
    told = [math.exp(-0.5), math.exp(-1.5)]
    shares = [value / sum(told) for value in told]
    expected = -sum(share * math.log(share) for share in shares)
    for answer in (greedy, *samples):
        assert answer.entropies == pytest.approx((expected, expected), abs=1e-6)
        assert answer.entropy_renormalised


@pytest.mark.parametrize("top_logprobs", [0, 1])
def test_there_is_nothing_to_renormalise_in_less_than_two_tokens(top_logprobs):
    with pytest.raises(SettingError, match="at least 2"):
        Endpoint("http://localhost/v1", "tiny", renormalise=True, top_logprobs=top_logprobs)


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("end", ["<|im_end|>", "</s>", "\n", ""])
def test_the_end_of_the_sequence_belongs_to_no_text(server, raw, end):
    """As vLLM's server tells it, with the model's own end or the stop text as last token."""
    server.end_tokens = (end,)
    greedy, samples = ready(server).answer(ASKED, Plan(samples=2, raw=raw))
    for answer in (greedy, *samples):
        assert (len(answer.tokens), answer.n_end) == (3, 1)
        assert answer.text_logprobs == (-0.5, -0.5)
        assert answer.total_logprob == -1.5


@pytest.mark.parametrize("code", [400, 413, 422])
def test_a_question_that_the_server_does_not_take_is_told_from_a_server_that_takes_none(server, code):
    server.script = [(code, {"error": {"message": "5,000 tokens are too many", "type": "x"}})]
    with pytest.raises(
        RefusedQuestionError, match=r"Question 'q1' was refused.*\(HTTP 4..: 5,000 tokens are too many\)"
    ):
        ready(server).answer(ASKED, PLAN)
    server.script = [(404, {"error": "no such model"})]
    with pytest.raises(VecuqError, match="no such model") as caught:
        ready(server).answer(ASKED, PLAN)
    assert not isinstance(caught.value, RefusedQuestionError)


def test_a_refused_question_does_not_make_the_others_cost_one_request_per_sample(server):
    endpoint = ready(server)
    fine = (200, server.answer("chat/completions", {"messages": [{"content": "x"}]}))
    server.script = [fine, (400, {"error": "no"}), (400, {"error": "no"})]
    with pytest.raises(RefusedQuestionError):
        endpoint.answer(ASKED, PLAN)
    server.requests.clear()
    endpoint.answer(ASKED, PLAN)
    assert len(server.requests) == 2


def test_a_server_that_leaves_out_log_probs_is_noted_once(server):
    notes = []
    server.tells_logprobs = False
    endpoint = ready(server, on_retry=notes.append)
    endpoint.answer(ASKED, PLAN)
    endpoint.answer(ASKED, PLAN)
    (note,) = notes
    assert "returns no log-probs, although they were requested" in note
    assert "top_logprobs=0" in note


def test_a_server_that_leaves_out_the_most_likely_tokens_is_noted_once(server):
    notes = []
    choice = {"message": {"content": "a"}, "logprobs": {"content": [{"token": "a", "logprob": -0.5}]}}
    server.script = [(200, {"choices": [choice]})] * 2
    endpoint = ready(server, on_retry=notes.append)
    for _ in range(2):
        endpoint.answer(ASKED, Plan(samples=0))
    (note,) = notes
    assert "there are no entropies" in note
    assert "`top_logprobs`" in note


def test_azure_gets_the_key_in_its_header_and_the_version_in_the_address(server):
    ready(server, api_key="secret", key_header="api-key", api_version="2024-10-21").answer(ASKED, Plan(samples=0))
    path, headers, _ = server.requests[0]
    assert path == "/v1/chat/completions?api-version=2024-10-21"
    assert {name.lower(): value for name, value in headers.items()}["api-key"] == "secret"
    assert "Authorization" not in headers


def test_answers_that_reasoning_has_used_up_are_noted_once(server):
    notes = []
    server.script = [(200, {"choices": [{"message": {"content": ""}, "finish_reason": "length"}]})] * 2
    endpoint = ready(server, on_retry=notes.append)
    for _ in range(2):
        endpoint.answer(ASKED, Plan(samples=0))
    (note,) = notes
    assert "empty answers that end at `max_tokens`" in note


def test_log_probs_that_do_not_belong_to_the_text_are_left_out_with_one_note(server):
    thoughts = [{"token": one, "logprob": -0.5, "top_logprobs": []} for one in ("Hm", " so")]
    choice = {"message": {"content": "Paris"}, "logprobs": {"content": thoughts}, "finish_reason": "stop"}
    server.answer = lambda path, body: {"choices": [choice] * body.get("n", 1)}
    notes = []
    endpoint = Endpoint(server.url, "tiny", on_retry=notes.append)
    for name in ("a", "b"):
        greedy, samples = endpoint.answer(Question(name, "why"), Plan(samples=2))
        assert [one.logprobs for one in (greedy, *samples)] == [None] * 3
    assert len(notes) == 1
    assert "do not belong to its text" in notes[0]
