"""The callback with the real LiteLLM, whose mock replies need no network."""

import asyncio
import time

import pytest

litellm = pytest.importorskip("litellm", reason="LiteLLM is not installed; `make test-adapters` does")

# The judge was fitted on answers with samples, and a callback sees none.
pytestmark = pytest.mark.filterwarnings("ignore:.*another number of samples")
MESSAGES = [{"role": "user", "content": "What is the capital of France?"}]


@pytest.fixture(scope="module")
def logged(judge):
    """What the logger handed on; LiteLLM keeps the first logger of a class for good."""
    from vecuq.adapters import JudgeLogger

    found = []
    litellm.callbacks = [JudgeLogger(judge, lambda verdict, call: found.append((verdict, call["messages"])))]
    return found


@pytest.fixture
def verdicts(logged):
    logged.clear()
    return logged


def wait_for(found):
    """LiteLLM calls back in a thread of its own."""
    until = time.monotonic() + 20
    while not found and time.monotonic() < until:
        time.sleep(0.02)
    return found


def test_every_reply_is_judged(verdicts, judge):
    litellm.completion(model="openai/m", messages=MESSAGES, mock_response="Paris")
    ((verdict, messages),) = wait_for(verdicts)
    assert messages == MESSAGES
    assert verdict.missing == judge("Paris", question=MESSAGES[0]["content"]).missing


def test_replies_of_asynchronous_calls_are_judged_too(verdicts):
    async def ask():
        await litellm.acompletion(model="openai/m", messages=MESSAGES, mock_response="Paris")
        for _ in range(200):
            if verdicts:
                return
            await asyncio.sleep(0.05)

    asyncio.run(ask())
    assert len(verdicts) == 1
