"""Real files of many providers, where they are at hand: each is read right, or refused with true words."""

import os
from pathlib import Path

import pytest

from vecuq.answers import read_answers

_SHARED = Path(os.environ.get("VECUQ_SHARED", Path(__file__).parents[3] / "shared"))
FOLDER = _SHARED / "data" / "answers"

# What each file holds: the number of questions, and the first answer with the sum of its log-probabilities.
READ = {
    "openai_chat__OpenAIRes.json": (1, "Hello! How can I assist you today?", -0.5909270901781838),
    "openai_batch__kevin20012_kmmlu.jsonl": (200, None, None),
    "openai_responses_logprobs__pydantic-ai.json": (1, "The capital of Minas Gerais is Belo Horizonte.", -9.7e-05),
    "batch_responses.jsonl": (1, "Paris", -0.1),
    "batch_err.jsonl": (1, "Paris", -0.1),
    "litellm.jsonl": (1, "Paris", -0.1),
    "parts.jsonl": (1, "Paris", -0.1),
    "prompts2n2.jsonl": (2, "Paris", None),
    "reasoning.jsonl": (1, "Paris", -0.1),
    "refusal.jsonl": (1, "I can't help with that.", None),
    "toolcall.jsonl": (1, 'get_weather({"city": "Paris"})', None),
    "tgi_generate__HF.json": (1, "for /api/v1/projects/1", -13.278381336),
    "sglang.jsonl": (1, "Paris", -0.12),
    "llamacpp.jsonl": (1, "Paris", -0.1),
    "ollama.jsonl": (1, "Paris", -0.1),
    "anthropic_batch.jsonl": (1, "Paris", None),
}
PROBLEMS = {"batch_err.jsonl": ["the server returned an error (400): too long."]}


@pytest.mark.parametrize("name", READ)
def test_a_real_file_is_read_right(name):
    path = FOLDER / name
    if not path.exists():
        pytest.skip("the shared files of answers are not here; set VECUQ_SHARED to their folder")
    reader = read_answers(path)
    records = list(reader)
    n_questions, text, total = READ[name]
    first = records[0].greedy or records[0].samples[0]
    assert len(records) == n_questions
    assert text is None or first.text == text
    assert first.total_logprob == (None if total is None else pytest.approx(total))
    assert [problem.split(": ", 1)[1] for problem in reader.problems] == PROBLEMS.get(name, [])
