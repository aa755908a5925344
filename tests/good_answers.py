"""Good answers to begin with: a line or more of every format that is read, and sampled answers with labels."""

import json
from pathlib import Path

import numpy as np

# The names of ids, where they are no "id".
IDS = {
    "openai": "custom_id",
    "openai-responses": "custom_id",
    "lm-eval": "doc_id",
    "anthropic": "custom_id",
    "gemini": "key",
}
LINES = {}
for _text in Path(__file__).with_suffix(".jsonl").read_text("utf-8").splitlines():
    _one = json.loads(_text)
    LINES.setdefault(_one["kind"], []).append(_one["line"])


def good_line(kind, name, place=0):
    """A line that the reader of ``kind`` takes, under an id and with a question of its own."""
    # Lines without an id belong to whoever has the same question.
    line = json.dumps(LINES[kind][place % len(LINES[kind])]).replace('"q"', json.dumps(f"q of {name}"))
    return {IDS.get(kind, "id"): name, **json.loads(line)}


def sampled_answers(n_rows, seed):
    """Answers with samples that agree more or less, and whether each is wrong."""
    rng = np.random.default_rng(seed)
    doubts = rng.random(n_rows)
    answers = [sampled(doubt, rng) for doubt in doubts]
    return answers, rng.random(n_rows) < doubts**2 / 2


def sampled(doubt, rng):
    """One answer with four samples; the larger the doubt, the more of them are others."""
    logprobs = np.log1p(-doubt * rng.random(3) * 0.9).tolist()
    said = ["Goethe wrote it" if rng.random() > doubt else f"Schiller {rng.integers(9)}" for _ in range(4)]
    samples = [{"text": text, "logprobs": logprobs} for text in said]
    return {"text": "Goethe wrote it", "logprobs": logprobs, "samples": samples}
