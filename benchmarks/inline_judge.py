"""Claim: one decision on a reply in memory takes less than a millisecond beyond comparing texts.

Run with ``python -m benchmarks inline_judge``. A pipeline of five measures is fitted to 1,200 synthetic answers with
labels. Then recorded replies of four providers are judged, each with four samples, one at a time. Comparing texts is
what the comparison itself takes, counted apart; everything else is reading the reply, measuring, ranking, the gate and
the verdict. ``why`` is computed on request, and timed apart. Seconds are those of the processor.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Claim
from vecuq.compare import PairCache
from vecuq.pipeline import AnswerPipeline

REPLIES = Path(__file__).parents[1] / "tests" / "pipeline" / "replies"
PROVIDERS = {
    "openai_chat": "OpenAI chat, log-probs",
    "anthropic": "Anthropic, texts",
    "ollama": "Ollama, texts",
    "texts": "plain texts",
}
MEASURES = ["msp", "perplexity", "cocoa_msp", "consistency", "degree_matrix"]
CALLS, ROUNDS = 200, 7


class Comparing:
    """Counts the seconds that comparing texts takes, wherever it happens."""

    def __init__(self) -> None:
        self.seconds, self._table = 0.0, PairCache.table

    def __enter__(self) -> Comparing:
        def timed(cache: PairCache, *given: Any) -> Any:
            start = time.thread_time()
            found = self._table(cache, *given)
            self.seconds += time.thread_time() - start
            return found

        PairCache.table = timed  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        PairCache.table = self._table  # type: ignore[method-assign]


def per_call(work: Callable[[], Any], calls: int) -> tuple[float, float]:
    """Return milliseconds of one call, and of comparing texts in it, in the best round."""
    rounds = []
    for _ in range(ROUNDS):
        with Comparing() as comparing:
            start = time.thread_time()
            for _ in range(calls):
                work()
            rounds.append((time.thread_time() - start, comparing.seconds))
    best = min(rounds, key=lambda one: one[0] - one[1])
    return best[0] / calls * 1e3, best[1] / calls * 1e3


def sampled_answers(n_rows: int, seed: int) -> tuple[list[dict[str, Any]], Any]:
    """Return answers with samples that agree more or less, and whether each is wrong."""
    rng = np.random.default_rng(seed)
    doubts = rng.random(n_rows)
    answers = []
    for doubt in doubts:
        logprobs = np.log1p(-doubt * rng.random(3) * 0.9).tolist()
        said = ["Goethe wrote it" if rng.random() > doubt else f"Schiller {rng.integers(9)}" for _ in range(4)]
        samples = [{"text": text, "logprobs": logprobs} for text in said]
        answers.append({"text": "Goethe wrote it", "logprobs": logprobs, "samples": samples})
    return answers, rng.random(n_rows) < doubts**2 / 2


def run(quick: bool = False) -> list[Claim]:
    """Judge the replies of each provider."""
    answers, wrong = sampled_answers(1_200, 0)
    judge = AnswerPipeline(measures=MEASURES, accuracy=0.8).fit(answers, np.asarray(wrong))
    calls, claims = CALLS // 4 if quick else CALLS, []
    for provider, name in PROVIDERS.items():
        found = json.loads((REPLIES / f"{provider}.json").read_text("utf-8"))
        judge(found["reply"], found["samples"])  # what an answer lacks is worked out once
        whole, comparing = per_call(lambda found=found: judge(found["reply"], found["samples"]), calls)
        verdict = judge(found["reply"], found["samples"])
        why = per_call(verdict.explain, 10)[0]
        apart = f"comparing {comparing:.3f} ms; why {why:.2f} ms more"
        ours = f"{whole - comparing:.3f} ms"
        claims.append(Claim(f"judge: {name}", ours, apart, whole - comparing, " ms", goal=1.0, at_least=False))
    return claims
