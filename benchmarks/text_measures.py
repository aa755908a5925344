"""Claim: ten thousand answers with ten samples each are measured in 12 s on two cores, in flat memory.

Answers of about twenty words, with log-probs and entropies; the eighteen measures that need nothing else, texts
compared by ROUGE-L, and all measures as `vecuq measure` takes them without options. A million questions are read from
one file of our own lines, and joined from two files of OpenAI-style replies. The peer is the package rouge-score on the
pairs of texts that one such answer brings.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

import numpy as np

from benchmarks.measure import Claim, best_of, in_child
from vecuq import workflows
from vecuq.answers import read_answers
from vecuq.compare import rouge_l
from vecuq.measures.text import TextSettings

N_ANSWERS = {False: 10_000, True: 2_000}
N_SAMPLES, N_WORDS, N_KNOWN = 10, 20, 2_000
N_PAIRED = 50
N_QUESTIONS = {False: 1_000_000, True: 100_000}


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


def measure_job(answers: str, out: str, jobs: int, similarity: str | None = None) -> Callable[[], dict[str, float]]:
    """Prepare ``vecuq measure`` with the eighteen measures by one comparison, or without options."""
    settings = None if similarity is None else TextSettings(similarity=similarity, lexical="rouge_l")
    wanted = None if settings is None else workflows.WantedOfAnswers(["classic"], settings)

    def measure() -> dict[str, float]:
        rows = workflows.measure_answers([answers], out, wanted, n_jobs=jobs).n_rows
        used = getrusage(RUSAGE_CHILDREN)  # the worker processes, all of which have ended
        return {"rows": rows, "workers_cpu": used.ru_utime + used.ru_stime, "worker_peak": used.ru_maxrss / 2**20}

    return measure


def read_job(answers: str, samples: str | None) -> Callable[[], int]:
    """Prepare reading, without measuring."""
    return lambda: sum(1 for _ in read_answers(answers, samples=samples or ()))


def reply_lines(n_questions: int, n_choices: int) -> Iterator[str]:
    """Yield short OpenAI-style replies, one per question."""
    for number in range(n_questions):
        choices = [{"message": {"content": f"It is {(number * place) % 97}."}} for place in range(1, n_choices + 1)]
        asked = [{"role": "user", "content": f"Question {number}?"}]
        yield json.dumps({"custom_id": f"question-{number}", "messages": asked, "choices": choices})


def own_lines(n_questions: int) -> Iterator[str]:
    """Yield short records of our own."""
    for number in range(n_questions):
        said = [{"text": f"It is {(number * place) % 97}.", "logprob": -1.5} for place in range(1, 5)]
        record = {"vecuq_answers": 1, "id": f"question-{number}", "question": f"Question {number}?"}
        yield json.dumps({**record, "greedy": said[0], "samples": said[1:]})


def million(folder: Path, n: int) -> list[Claim]:
    """Read very many questions on both ways."""
    files = {"own": own_lines(n), "greedy": reply_lines(n, 1), "samples": reply_lines(n, 3)}
    for name, made in files.items():
        with (folder / f"{name}.jsonl").open("w") as file:
            file.writelines(line + "\n" for line in made)
    ways = {"one file of our own lines": ("own", None), "two files of OpenAI-style replies": ("greedy", "samples")}
    claims = []
    for way, (answers, samples) in ways.items():
        paths = [None if name is None else str(folder / f"{name}.jsonl") for name in (answers, samples)]
        done = in_child("benchmarks.text_measures:read_job", *paths)
        told = f"{done['wall']:.3g} s, {done['cpu']:.3g} s of CPU, {n / done['wall']:,.0f} questions/s"
        name = f"peak memory of reading {n:,} questions with three samples, {way}"
        claims.append(Claim(name, told, "-", done["peak"], " GiB", goal=1.0, at_least=False))
    return claims


def measured(answers: str, out: str, n: int, *, similarity: str | None) -> Claim:
    """Measure a file with two processes, the best of two runs."""
    runs = [in_child("benchmarks.text_measures:measure_job", answers, out, 2, similarity) for _ in range(2)]
    best = min(runs, key=lambda run: run["wall"])
    wall, workers = best["wall"], best["result"]
    cpu, peak = best["cpu"] + workers["workers_cpu"], max(best["peak"], workers["worker_peak"])
    told = f"{wall:.3g} s, {cpu:.3g} s of CPU, {n / wall:,.0f} answers/s, {peak:.3f} GiB in the largest process"
    which = "all measures without options" if similarity is None else f"18 measures by {similarity}"
    name = f"vecuq measure, {n:,} answers x {N_SAMPLES} samples, two processes, {which}"
    goal = None if similarity is None else 12.0 * n / N_ANSWERS[False]
    return Claim(name, told, "-", wall, " s", goal=goal, at_least=False)


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
    """Measure a file on two cores, then files of two sizes in one process, and read very many questions."""
    n = N_ANSWERS[quick]
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for size in (n // 4, n):
            files[size] = str(Path(folder) / f"{size}.jsonl")
            Path(files[size]).write_text("\n".join(lines(size)) + "\n")
        out, job = str(Path(folder) / "scores.parquet"), "benchmarks.text_measures:measure_job"
        claims = [measured(files[n], out, n, similarity=similarity) for similarity in ("rouge_l", None)]
        peak = {size: in_child(job, files[size], out, 1, "rouge_l")["peak"] for size in files}
        claims += million(Path(folder), N_QUESTIONS[quick])
    told = ", ".join(f"{size:,} answers: {peak[size]:.3f} GiB" for size in peak)
    return [
        *claims,
        Claim("peak memory, four times the answers", told, "-", peak[n] / peak[n // 4], goal=1.2, at_least=False),
        *against_rouge_score(),
    ]
