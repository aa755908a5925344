"""Rank answers of a language model that lie in a file: for logs of any provider, with several samples per question.

The file may hold replies as OpenAI, Anthropic, Ollama, vLLM and others return them (docs/answers.md). Here it holds
texts alone, so measures that need log-probabilities are left out.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from vecuq import VecUQ
from vecuq.answers import read_answers
from vecuq.measures.text import measure_answer

rng = np.random.default_rng(0)
CITIES = ["Lyon", "Nice", "Lille", "Brest"]


def line(number: int, doubt: float) -> str:
    """Return a question with an answer and eight samples, which agree the less, the larger the doubt."""
    texts = ["Paris" if rng.random() > doubt else str(rng.choice(CITIES)) for _ in range(8)]
    answers = {"greedy": {"text": "Paris"}, "samples": [{"text": text} for text in texts]}
    return json.dumps({"vecuq_answers": 1, "id": str(number), "question": f"Question {number}?", **answers})


def measured(path: Path) -> pa.Table:
    """Return one row of measures per answer."""
    names = ["consistency", "semantic_entropy_empirical", "degree_matrix"]
    return pa.Table.from_pylist([measure_answer(one, names).values for one in read_answers(path)])


with tempfile.TemporaryDirectory() as folder:
    usual, new = Path(folder, "usual.jsonl"), Path(folder, "new.jsonl")
    usual.write_text("\n".join(line(k, doubt / 2) for k, doubt in enumerate(rng.random(400))))
    new.write_text("\n".join(line(k, doubt) for k, doubt in enumerate([0.05] * 5 + [0.95] * 5)))
    model = VecUQ(flip=()).fit(measured(usual))
    rows = measured(new)

uncertainty = model.uncertainty(rows)
for score, p, why in zip(uncertainty, model.p_values(rows), model.why(rows), strict=True):
    print(f"uncertainty {score:.3f}  p-value {p:.3f}  {why}")
