"""The blocks of docs/adapters.md run as they stand, each with its real package."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from page_blocks import blocks_of

from vecuq import AnswerPipeline

ROOT = Path(__file__).parents[2]

BLOCKS = {block.code.split()[1]: block.code for block in blocks_of((ROOT / "docs" / "adapters.md").read_text("utf-8"))}
QUESTION = "What is the capital of France?"


@pytest.fixture(scope="module")
def judge():
    """A judge of answers with five samples, as many as the page draws."""
    rng = np.random.default_rng(0)
    doubts = rng.random(900)
    drawn = np.where(rng.random((900, 5)) > doubts[:, None], "Paris", "Lyon").tolist()
    answers = [{"question": QUESTION, "text": "Paris", "samples": samples} for samples in drawn]
    return AnswerPipeline(measures=["consistency"], accuracy=0.9).fit(answers, rng.random(900) < doubts**3 / 2)


def run(package, **names):
    """Run the block whose first import is this package."""
    exec(compile(BLOCKS[package], "docs/adapters.md", "exec"), names)  # noqa: S102 - our own text
    return names


def test_there_is_a_test_for_every_block():
    assert list(BLOCKS) == ["openai", "litellm", "mlflow", "vecuq.adapters"]


def test_a_client_of_openai_judges_what_it_returns(judge, tmp_path, monkeypatch):
    openai = pytest.importorskip("openai", reason="the package openai is not installed; `make test-adapters` does")
    httpx = pytest.importorskip("httpx")

    def serve(request):
        n = json.loads(request.content).get("n", 1)
        texts = ["Paris"] if n == 1 else ["Lyon"] * n
        choices = [{"index": k, "message": {"role": "assistant", "content": one}} for k, one in enumerate(texts)]
        return httpx.Response(200, json={"id": "chatcmpl-1", "object": "chat.completion", "choices": choices})

    real, transport = openai.OpenAI, httpx.MockTransport(serve)
    made = real(api_key="none", base_url="http://test/v1", http_client=httpx.Client(transport=transport))
    monkeypatch.setattr(openai, "OpenAI", lambda: made)
    monkeypatch.chdir(tmp_path)
    judge.save("bot.vecuq")
    reviewed = []
    run(
        "openai",
        messages=[{"role": "user", "content": QUESTION}],
        send_to_review=lambda reply, why: reviewed.append((reply.choices[0].message.content, why)),
    )
    assert [text for text, _ in reviewed] == ["Paris"]
    assert "consistency" in reviewed[0][1]


def test_the_logger_of_litellm_is_set(judge, monkeypatch):
    litellm = pytest.importorskip("litellm", reason="LiteLLM is not installed; `make test-adapters` does")
    from vecuq.adapters import JudgeLogger

    monkeypatch.setattr(litellm, "callbacks", [])
    run("litellm", judge=judge)
    assert [type(one) for one in litellm.callbacks] == [JudgeLogger]


@pytest.mark.filterwarnings("default")
def test_mlflow_logs_loads_and_evaluates(judge, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed; `make test-adapters` does")
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'store.db'}")
    mlflow.set_experiment("page")
    rows = [{"reply": "Paris", "samples": [city] * 5, "question": QUESTION} for city in ("Paris", "Lyon")]
    said = [{"text": row["reply"], "samples": row["samples"]} for row in rows]
    data = [{"inputs": {"question": QUESTION}, "outputs": one} for one in said]
    names = run("mlflow", judge=judge, frame=pandas.DataFrame(rows), data=data)
    found = names["model"].predict(names["frame"])
    assert set(found.columns) == {"uncertainty", "p_value", "p_wrong", "accept", "why"}


def test_a_verdict_is_emitted(judge):
    pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry is not installed; `make test-adapters` does")
    verdicts = []

    def judged(reply, samples):
        verdicts.append(judge(reply.text, samples=samples, question=QUESTION))
        return verdicts[-1]

    run("vecuq.adapters", judge=judged, reply=SimpleNamespace(id="r1", text="Paris"), samples=["Paris"] * 5)
    assert verdicts[0].accept
