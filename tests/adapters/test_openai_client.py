"""The OpenAI client with a judge behind it, with the real package and a server in memory."""

import json

import pytest

from vecuq import load
from vecuq.adapters import JudgedClient
from vecuq.errors import CalibrationWarning

openai = pytest.importorskip("openai", reason="the package openai is not installed; `make test-adapters` does")
httpx = pytest.importorskip("httpx")


def client_of(texts, seen):
    """Return a client whose server answers ``n`` times with the next of some texts."""
    given = iter(texts)

    def serve(request):
        body = json.loads(request.content)
        seen.append(body)
        choices = [
            {"index": k, "message": {"role": "assistant", "content": next(given)}, "finish_reason": "stop"}
            for k in range(body.get("n", 1))
        ]
        reply = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}
        return httpx.Response(200, json=reply)

    return openai.OpenAI(
        api_key="none", base_url="http://test/v1", http_client=httpx.Client(transport=httpx.MockTransport(serve))
    )


MESSAGES = [{"role": "user", "content": "What is the capital of France?"}]


def test_a_reply_comes_with_the_verdict_of_the_judge_on_it_and_its_samples(judge):
    seen = []
    client = JudgedClient(client_of(["Paris", *["Lyon"] * 8], seen), judge, samples=8)
    reply, verdict = client.create(model="m", messages=MESSAGES, temperature=0)
    expected = judge("Paris", samples=["Lyon"] * 8, question="What is the capital of France?")
    assert reply.choices[0].message.content == "Paris"
    assert (verdict.uncertainty, verdict.accept) == (expected.uncertainty, False)
    assert [(body["temperature"], body.get("n")) for body in seen] == [(0, None), (1.0, 8)]


def test_agreement_is_accepted(judge):
    client = JudgedClient(client_of(["Paris"] * 9, []), judge, samples=8)
    assert client.create(model="m", messages=MESSAGES).verdict.accept


def test_without_samples_one_request_is_sent_and_what_is_missing_is_said(judge):
    seen = []
    client = JudgedClient(client_of(["Paris"], seen), load(judge.to_bytes()))
    with pytest.warns(CalibrationWarning, match="another number of samples"):
        verdict = client.create(model="m", messages=MESSAGES).verdict
    assert (len(seen), verdict.accept) == (1, False)
    lacks = "0 came; the certificate is about answers with 8"
    assert verdict.missing == {"consistency": "no samples", "samples": lacks}
