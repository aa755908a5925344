"""Claim: ten thousand answers with ten samples each are measured in under a minute on two cores, in flat memory.

Answers of about twenty words, with log-probs and entropies, the eighteen measures `classic`, texts compared by ROUGE-L.
The peer is the package rouge-score on the pairs of texts that one such answer brings.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Claim, best_of, in_child
from vecuq import workflows
from vecuq.compare import rouge_l

N_ANSWERS = {False: 10_000, True: 2_000}
N_SAMPLES, N_WORDS, N_KNOWN = 10, 20, 2_000
N_PAIRED = 50


def texts_of(rng: np.random.Generator) -> list[str]:
    """Return an answer and its samples: the same words, a third of them changed in every sample."""
    words = np.array([f"word{k}" for k in range(N_KNOWN)])
    said = rng.choice(words, N_WORDS)
    changed = rng.random((1 + N_SAMPLES, N_WORDS)) < 1 / 3
    return [" ".join(np.where(row, rng.choice(words, N_WORDS), said)) for row in changed]


def answer_of(text: str, rng: np.random.Generator) -> dict[str, Any]:
    """Return one answer as a record holds it."""
    tokens = [piece + " " for piece in text.split()]
    spread = rng.exponential(0.4, size=(2, len(tokens))).round(5)
    return {"text": text, "tokens": tokens, "logprobs": (-spread[0]).tolist(), "entropies": spread[1].tolist()}


def lines(n_answers: int) -> Iterator[str]:
    """Yield the records of a file."""
    rng = np.random.default_rng(0)
    for number in range(n_answers):
        greedy, *samples = (answer_of(text, rng) for text in texts_of(rng))
        yield json.dumps(
            {
                "vecuq_answers": 1,
                "id": str(number),
                "question": f"Question {number}?",
                "greedy": greedy,
                "samples": samples,
            }
        )


def measure_job(answers: str, out: str, jobs: int) -> Callable[[], int]:
    """Prepare ``vecuq measure``."""
    return lambda: workflows.measure_answers([answers], out, workflows.WantedOfAnswers(["classic"]), n_jobs=jobs).n_rows


def against_rouge_score() -> list[Claim]:
    """Compare all pairs of texts of some answers with both."""
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        print(f"rouge-score left out: {error}")
        return []
    rng, scorer = np.random.default_rng(1), RougeScorer(["rougeL"], use_stemmer=True)
    pairs = [pair for _ in range(N_PAIRED) for pair in combinations(texts_of(rng), 2)]
    calls = {
        "ours": lambda: [rouge_l(*pair) for pair in pairs],
        "peer": lambda: [scorer.score(*pair)["rougeL"].fmeasure for pair in pairs],
    }
    best = best_of(calls, {"ours": 5, "peer": 3})
    error = float(np.abs(np.subtract(best["ours"].result, best["peer"].result)).max())
    told = [f"{len(pairs) / best[name].cpu:,.0f} pairs/s" for name in ("ours", "peer")]
    ratio = best["peer"].cpu / best["ours"].cpu
    return [Claim(f"ROUGE-L of pairs of texts, against rouge-score (differ by {error:.0e})", *told, ratio)]


def run(quick: bool = False) -> list[Claim]:
    """Measure a file on two cores, then files of two sizes in one process."""
    n = N_ANSWERS[quick]
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for size in (n // 4, n):
            files[size] = str(Path(folder) / f"{size}.jsonl")
            Path(files[size]).write_text("\n".join(lines(size)) + "\n")
        out, job = str(Path(folder) / "scores.parquet"), "benchmarks.text_measures:measure_job"
        wall = min(in_child(job, files[n], out, 2)["wall"] for _ in range(2))
        peak = {size: in_child(job, files[size], out, 1)["peak"] for size in files}
    told = ", ".join(f"{size:,} answers: {peak[size]:.3f} GiB" for size in peak)
    goal = 60.0 * n / N_ANSWERS[False]
    name = f"vecuq measure, {n:,} answers x {N_SAMPLES} samples, two processes"
    return [
        Claim(name, f"{wall:.3g} s, {n / wall:,.0f} answers/s", "-", wall, " s", goal=goal, at_least=False),
        Claim("peak memory, four times the answers", told, "-", peak[n] / peak[n // 4], goal=1.2, at_least=False),
        *against_rouge_score(),
    ]
